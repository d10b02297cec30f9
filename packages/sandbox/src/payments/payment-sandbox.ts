import { randomUUID } from 'node:crypto';
import type { HttpClient, SandboxStore } from '../host-ports.ts';
import {
  jsonReply,
  type LoopbackReply,
  type LoopbackRequest,
  type LoopbackServer,
  startLoopbackServer,
} from '../loopback-server.ts';
import { StoredState } from '../stored-state.ts';
import { type CallbackKnobs, CallbackSender } from './callback-sender.ts';
import type { FakeShop, FakeWire } from './fake-wire.ts';
import {
  applyAction,
  type InvoiceAction,
  type InvoiceDraft,
  isInvoiceAction,
  isRemembered,
  type SandboxInvoice,
} from './invoice.ts';
import { payPage } from './pay-page.ts';
import { FAKE_WIRES } from './wires/all-wires.ts';

const STATE_KEY = 'payments';
const INVOICE_LIFE_MS = 24 * 60 * 60 * 1_000;

export interface PaymentSandboxOptions {
  store: SandboxStore;
  /** Posts the callbacks. */
  http: HttpClient;
  /** Replaces every credential of every provider. */
  secret: string;
  /** The service clock. */
  now: () => Date;
  /** Base address of the service, which receives the callbacks; called for each delivery. */
  serviceUrl: () => string;
  /** Path of a provider's callbacks as the settings have it now; null, or without the function, its default. */
  callbackPath?: (method: string) => string | null;
  port?: number;
}

export interface PaymentSandbox {
  server: LoopbackServer;
  knobs: CallbackKnobs;
  /** Newest first. */
  list(): Promise<(SandboxInvoice & { payUrl: string })[]>;
  /**
   * Performs an action of the payer or the provider, with its callbacks.
   * @returns null for an unknown invoice or an action that its state does not allow
   */
  act(id: string, action: InvoiceAction, refundKopeks?: number): Promise<SandboxInvoice | null>;
  /** Delivers the queued callbacks, newest first. */
  flush(): Promise<void>;
  /** Resolves when no delivery is in progress. */
  idle(): Promise<void>;
  /** Lets tests answer requests of adapters in place of the fake, sooner or later; null of the function = the fake answers. */
  intercept(
    answer: ((request: LoopbackRequest, method: string) => LoopbackReply | null | Promise<LoopbackReply | null>) | null,
  ): void;
  close(): Promise<void>;
}

/** A callback until the service has acknowledged it, so that the next host delivers what this one does not (spec 10 F9). */
interface WaitingCallback {
  id: string;
  /** Method of the provider. */
  wire: string;
  subpath: string;
  body: string;
  headers: Readonly<Record<string, string>>;
}

interface State {
  invoices: SandboxInvoice[];
  /** Absent in states of earlier releases. */
  callbacks?: WaitingCallback[];
}

/** Older ones are dropped. */
const MAX_CALLBACKS = 1_000;

/** The fake payment providers on loopback, each at `/{method}` with the wire of the real one; hosted pages at `/pay` (spec 00). */
export async function startPaymentSandbox(options: PaymentSandboxOptions): Promise<PaymentSandbox> {
  const { secret, now } = options;
  const state = new StoredState<State>(options.store, STATE_KEY, () => ({ invoices: [] }));
  const sender = new CallbackSender(options.http);
  const payUrl = (invoice: SandboxInvoice) => `${server.url}/pay/${encodeURIComponent(invoice.id)}`;

  const act: PaymentSandbox['act'] = (id, action, refundKopeks) => perform(id, action, { refundKopeks });

  const perform = async (
    id: string,
    action: InvoiceAction,
    { refundKopeks, key }: { refundKopeks?: number | undefined; key?: string | undefined },
  ): Promise<SandboxInvoice | null> => {
    const waiting: WaitingCallback[] = [];
    const changed = await state.update((current) => {
      const invoice = current.invoices.find((candidate) => candidate.id === id);
      const reversal = { id: randomUUID(), ...(key === undefined ? {} : { key }) };
      const step = { now: now(), reversal, ...(refundKopeks === undefined ? {} : { refundKopeks }) };
      if (!invoice || !applyAction(invoice, action, step)) return null;
      const wire = FAKE_WIRES.get(invoice.wire);
      for (const { subpath, body, headers } of wire?.callbacks(structuredClone(invoice), action, shopOf(wire)) ?? []) {
        waiting.push({ id: randomUUID(), wire: invoice.wire, subpath: subpath ?? '', body, headers });
      }
      current.callbacks = [...(current.callbacks ?? []), ...waiting].slice(-MAX_CALLBACKS);
      return structuredClone(invoice);
    });
    for (const callback of waiting) deliver(callback);
    return changed;
  };

  const deliver = ({ id, wire: method, subpath, body, headers }: WaitingCallback): void => {
    const wire = FAKE_WIRES.get(method);
    if (!wire) return;
    const path = (options.callbackPath?.(method) ?? wire.webhookPath).replace(/\/+$/, '');
    const url = `${options.serviceUrl()}${path}${subpath ? `/${subpath}` : ''}`;
    const ended = () =>
      state.update((current) => {
        current.callbacks = current.callbacks?.filter((callback) => callback.id !== id) ?? [];
      });
    sender.send({ url, body, headers, isAcknowledged: wire.isAcknowledged ?? isSuccess, ended });
  };

  /** Creates one invoice per order id that is remembered, however often it is requested. */
  const create = (wire: string, draft: InvoiceDraft, rememberedMs = Number.POSITIVE_INFINITY): Promise<SandboxInvoice> =>
    state.update(({ invoices }) => {
      const known = invoices.find(
        ({ wire: of, orderId, createdAt }) =>
          of === wire && orderId === draft.orderId && isRemembered(createdAt, now(), rememberedMs),
      );
      if (known) return known;
      const invoice: SandboxInvoice = {
        ...{ currency: 'RUB', option: null, returnUrl: null, metadata: {}, ...draft },
        ...{
          id: randomUUID(),
          number: 1_000 + invoices.length,
          wire,
          status: 'pending',
          paidKopeks: 0,
          reversals: [],
          paidAt: null,
        },
        createdAt: now().toISOString(),
        expiresAt: draft.expiresAt ?? new Date(now().getTime() + INVOICE_LIFE_MS).toISOString(),
      };
      invoices.push(invoice);
      return invoice;
    });

  const shopOf = ({ method }: FakeWire): FakeShop => ({
    ...{ secret, now, payUrl },
    create: (draft, rememberedMs) => create(method, draft, rememberedMs),
    find: async (matches) => (await state.read()).invoices.find((invoice) => invoice.wire === method && matches(invoice)),
    act: (id, action, refundKopeks, key) => perform(id, action, { refundKopeks, key }),
  });

  const hosted = async (request: LoopbackRequest, id: string, action: string | undefined): Promise<LoopbackReply> => {
    const invoice = (await state.read()).invoices.find((candidate) => candidate.id === id);
    if (!invoice) return { status: 404, contentType: 'text/plain', body: 'No such invoice' };
    if (request.method === 'GET' && !action) return payPage(invoice);
    if (request.method !== 'POST' || !isInvoiceAction(action))
      return { status: 405, contentType: 'text/plain', body: 'Not allowed' };
    await act(id, action);
    return { status: 303, contentType: 'text/plain', body: '', headers: { location: `/pay/${encodeURIComponent(id)}` } };
  };

  let interceptor: Parameters<PaymentSandbox['intercept']>[0] = null;
  const server = await startLoopbackServer(async (request) => {
    const [area = '', first, second] = request.path.split('/').slice(1).map(decodeURIComponent);
    if (area === 'pay' && first) return hosted(request, first, second);
    const wire = FAKE_WIRES.get(area);
    if (!wire) return jsonReply(404, { error: 'not_found' });
    const bare = { ...request, path: request.path.slice(area.length + 1) || '/' };
    return (await interceptor?.(bare, wire.method)) ?? wire.answer(bare, shopOf(wire));
  }, options.port);

  for (const callback of (await state.read()).callbacks ?? []) deliver(callback);

  return {
    server,
    knobs: sender.knobs,
    list: async () => (await state.read()).invoices.toReversed().map((invoice) => ({ ...invoice, payUrl: payUrl(invoice) })),
    act,
    flush: () => sender.flush(),
    idle: () => sender.idle(),
    intercept: (answer) => {
      interceptor = answer;
    },
    close: async () => {
      await sender.stop();
      await server.close();
    },
  };
}

const isSuccess = ({ status }: { status: number }) => status >= 200 && status < 300;
