/** Providers that know the invoices of an imported database, as the existing product had made them there. */
import { createHash, createHmac } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import {
  applyAction,
  type FakeCallback,
  type FakeShop,
  type SandboxInvoice,
} from '../../packages/sandbox/src/payments/invoice.ts';
import { FAKE_WIRES } from '../../packages/sandbox/src/payments/wires/all-wires.ts';
import { callbackRoute, registerCallbackRoutes } from '../../src/composition/callback-routes.ts';
import { createHttpServer } from '../../src/composition/http-server.ts';
import type { App } from '../../src/core/app.ts';
import { createMetrics } from '../../src/core/metrics.ts';
import { wheelStars } from '../../src/domain/engagement/wheel/stars-spin.ts';
import { processCallback } from '../../src/domain/payments/process-callback.ts';
import { giftStars } from '../../src/domain/storefront/gifts/gift-stars.ts';
import { guestPurchases } from '../../src/domain/storefront/purchases/purpose.ts';
import type { Imported } from './imported-databases.ts';
import { observeRefusal } from './refusal-recorder.ts';
import { testApp } from './test-app.ts';
import { workerSandbox } from './test-sandbox.ts';

/** Providers of the source, with the word of an invoice there that can still be paid. */
export const SOURCE_PROVIDERS = [
  ['yookassa', 'pending'],
  ['cryptobot', 'active'],
  ['heleket', 'check'],
  ['mulenpay', 'created'],
  ['pal24', 'NEW'],
  ['wata', 'Opened'],
  ['platega', 'PENDING'],
  ['cloudpayments', 'pending'],
  ['freekassa', 'pending'],
  ['kassa_ai', 'pending'],
  ['riopay', 'pending'],
  ['severpay', 'pending'],
] as const;

/** A payment as the import has stored it. */
export interface ImportedPayment {
  id: number;
  method: string;
  userId: number | null;
  orderId: string;
  externalId: string | null;
  amountKopeks: number;
  outcome: string;
  purpose: string;
  metadata: Record<string, unknown> & { import: Record<string, unknown> };
}

export interface ImportedInvoices {
  /** The imported service with all providers of the source. */
  app: App;
  payments(condition: string): Promise<ImportedPayment[]>;
  /** Lets the payer of an invoice pay, or the provider repeat that it was paid. @returns the status of the answer to each callback */
  report(payment: ImportedPayment): Promise<number[]>;
  close(): Promise<void>;
}

/** @param settings of the service besides */
export async function invoicesOf(
  { database, clock }: Imported,
  settings: Readonly<Record<string, string>> = {},
): Promise<ImportedInvoices> {
  const methods = SOURCE_PROVIDERS.map(([method]) => method);
  const { app } = await testApp({ database, clock, environment: { SANDBOX_PROVIDERS: methods.join(','), ...settings } });
  const { servers, secrets } = await workerSandbox();
  const { fastify: server } = await createHttpServer({
    // Only callbacks are called: registering all operations costs more than most tests.
    routes: [],
    observeRefusal,
    app,
    metrics: createMetrics(),
    callbackRoute: callbackRoute(app),
    extend: (instance) => registerCallbackRoutes(instance, app),
  });
  await server.ready();
  const known: SandboxInvoice[] = [];
  const providerOf = (method: string): FakeShop => ({
    ...{ secret: secrets.paymentSecret, now: () => clock.now(), payUrl: () => 'https://pay.example.com/' },
    create: () => Promise.reject(new Error('nobody makes an invoice')),
    act: async (id, action, refundKopeks, key) => {
      const invoice = known.find((one) => one.wire === method && one.id === id)!;
      const reversal = { id: crypto.randomUUID(), ...(key === undefined ? {} : { key }) };
      const change = { now: clock.now(), reversal, ...(refundKopeks === undefined ? {} : { refundKopeks }) };
      return applyAction(invoice, action, change) ? invoice : null;
    },
    find: async (matches) => known.find((invoice) => invoice.wire === method && matches(invoice)),
  });
  servers.payments.intercept((request, method) => FAKE_WIRES.get(method)!.answer(request, providerOf(method)));

  const report = async (payment: ImportedPayment): Promise<number[]> => {
    const invoice =
      known.find(({ id, wire }) => wire === payment.method && id === idAtProvider(payment)) ?? paidInvoice(payment, clock.now());
    if (!known.includes(invoice)) known.push(invoice);
    const wire = FAKE_WIRES.get(payment.method)!;
    const callbacks = wire.callbacks(invoice, 'pay', providerOf(payment.method));
    const statuses: number[] = [];
    for (const callback of payment.method === 'cryptobot'
      ? callbacks.map((made) => inCrypto(made, secrets.paymentSecret))
      : callbacks)
      statuses.push(await post(server, wire.webhookPath, callback));
    await processWaiting(app);
    return statuses;
  };

  return {
    app,
    report,
    payments: (condition) =>
      app.db.sql<ImportedPayment>(
        `SELECT id, method, user_id, order_id, external_id, amount_kopeks, outcome, purpose, metadata FROM payments WHERE ${condition} ORDER BY id`,
      ),
    close: async () => {
      servers.payments.intercept(null);
      await server.close();
    },
  };
}

/** What the provider calls the invoice; of those whose providers use ours, ours. */
const idAtProvider = ({ externalId, orderId }: ImportedPayment) => externalId ?? orderId;

/** The fake of CloudPayments counts its charges from another number than its orders. */
const CHARGES_FROM = 5_000_000;

function numberAtProvider(payment: ImportedPayment): number {
  const id = idAtProvider(payment);
  if (!/^\d+$/.test(id)) return payment.id;
  return payment.method === 'cloudpayments' ? Number(id) - CHARGES_FROM : Number(id);
}

function paidInvoice(payment: ImportedPayment, now: Date): SandboxInvoice {
  const { method, orderId, amountKopeks, metadata } = payment;
  const { payload, order_id: formerOrder } = metadata.import;
  const id = idAtProvider(payment);
  return {
    ...{ id, wire: method, number: numberAtProvider(payment), amountKopeks, paidKopeks: amountKopeks },
    // Of the two providers whose orders the source has not named, the invoice names what they were made with.
    orderId: String(method === 'cryptobot' ? payload : (formerOrder ?? orderId)),
    ...{ status: 'paid', currency: 'RUB', reversals: [], description: 'Пополнение баланса', option: '2', returnUrl: null },
    metadata:
      method === 'platega' ? { payload: `platega:${orderId}` } : method === 'yookassa' ? { user_id: String(payment.userId) } : {},
    ...{ createdAt: now.toISOString(), paidAt: now.toISOString(), expiresAt: now.toISOString() },
  };
}

/** The existing product asks for crypto currency, of which the wire of ours knows nothing. */
function inCrypto({ body, headers }: FakeCallback, secret: string): FakeCallback {
  const { payload, ...update } = JSON.parse(body) as { payload: Record<string, unknown> };
  const { fiat: _fiat, ...invoice } = payload;
  const text = JSON.stringify({ ...update, payload: { ...invoice, currency_type: 'crypto', asset: 'USDT', amount: '2.21' } });
  const key = createHash('sha256').update(secret).digest();
  return {
    body: text,
    headers: { ...headers, 'crypto-pay-api-signature': createHmac('sha256', key).update(text).digest('hex') },
  };
}

async function post(server: FastifyInstance, path: string, { subpath, body, headers }: FakeCallback): Promise<number> {
  const url = subpath ? `${path}/${subpath}` : path;
  return (await server.inject({ method: 'POST', url, headers: { ...headers }, payload: body })).statusCode;
}

/** Runs the jobs of all callbacks that wait. */
export async function processWaiting(app: App): Promise<void> {
  const waiting = await app.db.sql<{ id: number }>('SELECT id FROM provider_callbacks WHERE processed_at IS NULL ORDER BY id');
  for (const { id } of waiting) await processCallback(app, { callbackId: id }, [wheelStars, giftStars], [guestPurchases]);
}
