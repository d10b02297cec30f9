import { randomUUID } from 'node:crypto';
import type { HttpClient } from '../../core/http/http-client.ts';
import {
  jsonObject,
  jsonReply,
  type LoopbackReply,
  type LoopbackRequest,
  type LoopbackServer,
  startLoopbackServer,
} from '../loopback-server.ts';
import type { SandboxStore } from '../store.ts';
import { StoredState } from '../stored-state.ts';
import { type CallbackKnobs, CallbackSender } from './callback-sender.ts';
import { INVOICE_ACTIONS, type InvoiceAction, isInvoiceAction, type SandboxInvoice } from './invoice.ts';
import { payPage } from './pay-page.ts';
import { readCreateBody, yookassaNotification, yookassaPayment } from './yookassa-wire.ts';

const STATE_KEY = 'payments';
const INVOICE_LIFE_MS = 24 * 60 * 60 * 1_000;

export interface PaymentSandboxOptions {
  store: SandboxStore;
  /** Posts the callbacks. */
  http: HttpClient;
  /** Bearer token of the sandbox's wire, YooKassa secret key, and key of the callback signatures. */
  secret: string;
  /** YooKassa shop id that is accepted. */
  shopId: string;
  /** The service clock. */
  now: () => Date;
  /** Where the service receives callbacks; called for each delivery. */
  callbackUrls: () => { sandbox: string; yookassa: string };
  port?: number;
}

export interface PaymentSandbox {
  server: LoopbackServer;
  knobs: CallbackKnobs;
  /** Newest first. */
  list(): Promise<(SandboxInvoice & { payUrl: string })[]>;
  /** Performs an action of the payer or the provider. @returns null for an unknown invoice or an action that its state does not allow */
  act(id: string, action: InvoiceAction): Promise<SandboxInvoice | null>;
  /** Delivers the queued callbacks, newest first. */
  flush(): Promise<void>;
  /** Resolves when no delivery is in progress. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

interface State {
  invoices: SandboxInvoice[];
}

/** A fake payment provider on loopback: its wire on `/invoices`, YooKassa's on `/v3/payments`, hosted pages on `/pay` (spec 00). */
export async function startPaymentSandbox(options: PaymentSandboxOptions): Promise<PaymentSandbox> {
  const state = new StoredState<State>(options.store, STATE_KEY, () => ({ invoices: [] }));
  const sender = new CallbackSender(options.http, options.secret);
  const payUrl = (invoice: SandboxInvoice) => `${server.url}/pay/${encodeURIComponent(invoice.id)}`;
  const find = async (id: string) => (await state.read()).invoices.find((invoice) => invoice.id === id);

  const sendCallback = (invoice: SandboxInvoice): void => {
    const urls = options.callbackUrls();
    if (invoice.wire === 'yookassa') {
      const body = yookassaNotification(invoice, payUrl(invoice));
      if (body) sender.send({ url: urls.yookassa, body });
      return;
    }
    const event = {
      event_id: `${invoice.id}:${invoice.status}`,
      event: `invoice.${invoice.status}`,
      invoice: wireInvoice(invoice),
    };
    sender.send({ url: urls.sandbox, body: JSON.stringify(event) });
  };

  const act = async (id: string, action: InvoiceAction): Promise<SandboxInvoice | null> => {
    const step = INVOICE_ACTIONS[action];
    const changed = await state.update(({ invoices }) => {
      const invoice = invoices.find((candidate) => candidate.id === id);
      if (invoice?.status !== step.from) return null;
      invoice.status = step.to;
      if (action === 'pay') invoice.paidAt = options.now().toISOString();
      return { ...invoice };
    });
    if (changed) sendCallback(changed);
    return changed;
  };

  /** Creates one invoice per order id, however often it is requested. */
  const create = (draft: Omit<SandboxInvoice, 'id' | 'createdAt' | 'expiresAt'>): Promise<SandboxInvoice> =>
    state.update(({ invoices }) => {
      const known = invoices.find((invoice) => invoice.wire === draft.wire && invoice.orderId === draft.orderId);
      if (known) return known;
      const now = options.now();
      const invoice: SandboxInvoice = {
        ...draft,
        id: randomUUID(),
        createdAt: now.toISOString(),
        expiresAt: new Date(now.getTime() + INVOICE_LIFE_MS).toISOString(),
      };
      invoices.push(invoice);
      return invoice;
    });

  const wireInvoice = (invoice: SandboxInvoice) => ({
    id: invoice.id,
    order_id: invoice.orderId,
    status: invoice.status,
    amount_kopeks: invoice.amountKopeks,
    currency: invoice.currency,
    description: invoice.description,
    metadata: invoice.metadata,
    pay_url: payUrl(invoice),
    created_at: invoice.createdAt,
    paid_at: invoice.paidAt,
    expires_at: invoice.expiresAt,
  });

  const native = async (request: LoopbackRequest, id: string | undefined): Promise<LoopbackReply> => {
    if (request.headers.authorization !== `Bearer ${options.secret}`) return jsonReply(401, { error: 'unauthorized' });
    if (request.method === 'GET' && id) {
      const invoice = await find(id);
      return invoice ? jsonReply(200, wireInvoice(invoice)) : jsonReply(404, { error: 'not_found' });
    }
    if (request.method !== 'POST' || id) return jsonReply(405, { error: 'method_not_allowed' });
    const body = jsonObject(request.body);
    const amount = body?.amount_kopeks;
    if (!body || typeof body.order_id !== 'string' || !Number.isSafeInteger(amount) || (amount as number) <= 0) {
      return jsonReply(400, { error: 'invalid_request' });
    }
    const invoice = await create({
      wire: 'sandbox',
      orderId: body.order_id,
      status: 'pending',
      amountKopeks: amount as number,
      currency: String(body.currency ?? 'RUB'),
      description: String(body.description ?? ''),
      option: typeof body.option === 'string' ? body.option : null,
      returnUrl: webUrl(body.return_url),
      metadata: (body.metadata ?? {}) as Record<string, unknown>,
      paidAt: null,
    });
    return jsonReply(200, wireInvoice(invoice));
  };

  const yookassa = async (request: LoopbackRequest, id: string | undefined): Promise<LoopbackReply> => {
    const expected = `Basic ${Buffer.from(`${options.shopId}:${options.secret}`).toString('base64')}`;
    if (request.headers.authorization !== expected) return yookassaError(401, 'invalid_credentials', 'authorization');
    if (request.method === 'GET' && id) {
      const invoice = await find(id);
      if (invoice?.wire !== 'yookassa') return yookassaError(404, 'not_found', 'payment_id');
      return jsonReply(200, yookassaPayment(invoice, payUrl(invoice)));
    }
    if (request.method !== 'POST' || id) return yookassaError(405, 'invalid_request', 'method');
    const key = request.headers['idempotence-key'];
    if (!key) return yookassaError(400, 'invalid_request', 'Idempotence-Key');
    const draft = readCreateBody(jsonObject(request.body) ?? {});
    if ('problem' in draft) return yookassaError(400, 'invalid_request', draft.problem);
    const invoice = await create({ ...draft, orderId: key, returnUrl: webUrl(draft.returnUrl) });
    return jsonReply(200, yookassaPayment(invoice, payUrl(invoice)));
  };

  const hosted = async (request: LoopbackRequest, id: string, action: string | undefined): Promise<LoopbackReply> => {
    const invoice = await find(id);
    if (!invoice) return { status: 404, contentType: 'text/plain', body: 'No such invoice' };
    if (request.method === 'GET' && !action) return payPage(invoice);
    if (request.method !== 'POST' || !isInvoiceAction(action))
      return { status: 405, contentType: 'text/plain', body: 'Not allowed' };
    await act(id, action);
    return { status: 303, contentType: 'text/plain', body: '', headers: { location: `/pay/${encodeURIComponent(id)}` } };
  };

  const server = await startLoopbackServer(async (request) => {
    const [area, first, second] = request.path.split('/').slice(1).map(decodeURIComponent);
    if (area === 'invoices') return native(request, first);
    if (area === 'v3' && first === 'payments') return yookassa(request, second);
    if (area === 'pay' && first) return hosted(request, first, second);
    return jsonReply(404, { error: 'not_found' });
  }, options.port);

  return {
    server,
    knobs: sender.knobs,
    list: async () => (await state.read()).invoices.toReversed().map((invoice) => ({ ...invoice, payUrl: payUrl(invoice) })),
    act,
    flush: () => sender.flush(),
    idle: () => sender.idle(),
    close: async () => {
      await sender.stop();
      await server.close();
    },
  };
}

function yookassaError(status: number, code: string, parameter: string): LoopbackReply {
  return jsonReply(status, { type: 'error', code, description: 'Refused by the sandbox', parameter });
}

/** The hosted page links to web addresses only. */
function webUrl(value: unknown): string | null {
  return typeof value === 'string' && /^https?:\/\//.test(value) ? value : null;
}
