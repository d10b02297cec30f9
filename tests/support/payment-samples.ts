import { createHash } from 'node:crypto';
import type { App } from '../../src/core/app.ts';
import { seedPaymentMethods } from '../../src/domain/payments/payment-methods.ts';
import type { ProviderReversal } from '../../src/domain/payments/ports.ts';
import { processCallback } from '../../src/domain/payments/process-callback.ts';
import type { PaymentPurpose } from '../../src/domain/payments/purpose-payment.ts';
import { receiveProviderCallback } from '../../src/domain/payments/receive-callback.ts';
import { applyReversals } from '../../src/domain/payments/reversals.ts';
import type { Payment } from '../../src/domain/payments/types.ts';
import { recordedEvents } from './recorded-events.ts';

/** Seeds the methods and makes sure that the sandbox's is on. */
export const sandboxPaymentMethodIsListed = (app: App): Promise<void> => paymentMethodIsListed(app, 'sandbox');

/** Seeds the methods and makes sure that this one is on. */
export async function paymentMethodIsListed(app: App, methodId: string): Promise<void> {
  await seedPaymentMethods(app);
  await app.db.sql('UPDATE payment_method_configs SET is_enabled = true WHERE method_id = $1 RETURNING method_id', [methodId]);
}

export interface PaymentFacts {
  id: number;
  outcome: string;
  status: string;
  isPaid: boolean;
  transactionId: number | null;
  externalId: string | null;
  orderId: string;
}

export async function paymentFacts(app: App, id: number): Promise<PaymentFacts> {
  const [row] = await app.db.sql<PaymentFacts>(
    'SELECT id, outcome, status, is_paid, transaction_id, external_id, order_id FROM payments WHERE id = $1::int',
    [id],
  );
  return row!;
}

/** What the database contains about a user's money and about everything that a credit writes besides. */
export async function moneyFacts(app: App, userId: number) {
  const [row] = await app.db.sql<{
    balance: number;
    deposits: number;
    activities: number;
    jobs: number;
    flag: boolean;
  }>(
    `SELECT u.balance_kopeks AS balance, u.has_made_first_topup AS flag,
       (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id AND x.type = 'deposit') AS deposits,
       (SELECT count(*)::int FROM subscription_events s WHERE s.user_id = u.id AND s.event_type = 'balance_topup') AS activities,
       (SELECT count(*)::int FROM jobs.job j JOIN payments p ON p.id = (j.data ->> 'paymentId')::int
         WHERE j.name = 'payments.after-topup' AND p.user_id = u.id) AS jobs
     FROM users u WHERE u.id = $1::int`,
    [userId],
  );
  const feed = (await recordedEvents(app, 'payment.completed', userId)).length;
  const notifications = (await recordedEvents(app, 'balance.topup', userId)).length;
  return { ...row!, feed, notifications };
}

/** `moneyFacts` of a user with exactly one credited top-up. */
export const creditedOnce = (kopeks: number) => ({
  balance: kopeks,
  deposits: 1,
  feed: 1,
  notifications: 1,
  activities: 1,
  jobs: 1,
  flag: true,
});

/** The cases of a payment, oldest first. */
export function casesOf(app: App, paymentId: number): Promise<{ kind: string; amountKopeks: number | null; status: string }[]> {
  return app.db.sql('SELECT kind, amount_kopeks, status FROM payment_cases WHERE payment_id = $1::int ORDER BY id', [paymentId]);
}

/** Applies reversals as a report about the money of the payment would. */
export function reversePayment(app: App, payment: Payment, reversals: readonly ProviderReversal[]): Promise<void> {
  const { method, externalId, orderId, chargeId, merchantId, amountKopeks, currency } = payment;
  const report = { status: 'paid', outcome: 'paid' as const, paidAt: null, raw: null };
  const money = { externalId, orderId, chargeId, merchantId, amountKopeks, currency };
  return applyReversals(app, method, payment, { ...report, ...money, reversals });
}

let events = 0;

/** Posts a callback about a payment as the provider does. */
export function callback(app: App, externalId: string, options: { eventId?: string; signature?: string } = {}) {
  const id = options.eventId ?? `event-${++events}-${createHash('sha1').update(externalId).digest('hex').slice(0, 8)}`;
  return receiveProviderCallback(app, 'sandbox', {
    method: 'POST',
    subpath: '',
    headers: { 'x-signature': options.signature ?? 'genuine', 'x-api-key': 'secret', 'content-type': 'application/json' },
    rawBody: Buffer.from(JSON.stringify({ id, payment: externalId })),
    query: {},
    ip: '127.0.0.1',
  });
}

/** Ids of stored callbacks about a payment that have a job, oldest first. */
export async function callbackJobs(app: App, externalId: string): Promise<number[]> {
  const rows = await app.db.sql<{ id: number }>(
    `SELECT c.id FROM provider_callbacks c JOIN jobs.job j ON j.name = 'payments.callback' AND (j.data ->> 'callbackId')::int = c.id
     WHERE c.external_id = $1 ORDER BY c.id, j.created_on`,
    [externalId],
  );
  return rows.map((row) => row.id);
}

/** Runs the jobs of all stored callbacks about a payment once. */
export async function runCallbackJobs(app: App, externalId: string, purposes: readonly PaymentPurpose[] = []): Promise<void> {
  for (const callbackId of new Set(await callbackJobs(app, externalId))) await processCallback(app, { callbackId }, [], purposes);
}

export async function callbackResults(app: App, externalId: string): Promise<(string | null)[]> {
  const rows = await app.db.sql<{ result: string | null }>(
    'SELECT result FROM provider_callbacks WHERE external_id = $1 ORDER BY id',
    [externalId],
  );
  return rows.map((row) => row.result);
}
