import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { HttpClient, SandboxStore } from '../host-ports.ts';
import {
  jsonReply,
  type LoopbackReply,
  type LoopbackRequest,
  type LoopbackServer,
  startLoopbackServer,
} from '../loopback-server.ts';
import { StoredState } from '../stored-state.ts';
import {
  allowedActions,
  applyAction,
  type FakeShop,
  type FakeWire,
  type InvoiceAction,
  type InvoiceDraft,
  isInvoiceAction,
  isRemembered,
  rublesText,
  type SandboxInvoice,
} from './invoice.ts';
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

/** A callback to post. */
interface OutgoingCallback {
  url: string;
  body: string;
  headers: Readonly<Record<string, string>>;
  /** Whether an answer of the service ends the retries. */
  isAcknowledged: (reply: { status: number; text: string }) => boolean;
  /** Acknowledged or given up; not called for what a stop cuts off. */
  ended?: () => Promise<void>;
}

/** Faults of delivery, for trying the service. */
interface CallbackKnobs {
  /** Further copies of each callback. */
  duplicates: number;
  /** Wait before each callback, real milliseconds. */
  delayMs: number;
  /** Queue callbacks until `flush` delivers them, newest first. */
  isPaused: boolean;
}

/** Waits between attempts while the service does not acknowledge. */
const RETRY_WAITS_MS = [200, 1_000, 3_000, 10_000];

/** Delivers callbacks as providers do: at least once, in any order, retried until acknowledged. */
class CallbackSender {
  readonly knobs: CallbackKnobs = { duplicates: 0, delayMs: 0, isPaused: false };
  readonly #http: HttpClient;
  readonly #queued: OutgoingCallback[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor(http: HttpClient) {
    this.#http = http;
  }

  send(callback: OutgoingCallback): void {
    if (this.knobs.isPaused) this.#queued.push(callback);
    else this.#start(callback);
  }

  /** Delivers the queued callbacks, newest first and one by one. */
  async flush(): Promise<void> {
    for (let callback = this.#queued.pop(); callback; callback = this.#queued.pop()) await this.#deliver(callback);
  }

  /** Resolves when no delivery is in progress. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  /** Cancels waits and retries. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.idle();
  }

  #start(callback: OutgoingCallback): void {
    const run = this.#deliver(callback).finally(() => this.#running.delete(run));
    this.#running.add(run);
  }

  async #deliver(callback: OutgoingCallback): Promise<void> {
    const { duplicates, delayMs } = this.knobs;
    for (let copy = 0; copy <= duplicates; copy++) {
      if (!(await this.#wait(delayMs))) return;
      await this.#deliverOnce(callback);
    }
    if (!this.#stop.signal.aborted) await callback.ended?.();
  }

  async #deliverOnce(callback: OutgoingCallback): Promise<void> {
    for (let tries = 0; !(await this.#post(callback)); tries++) {
      const wait = RETRY_WAITS_MS[tries];
      if (wait === undefined || !(await this.#wait(wait))) return;
    }
  }

  async #post(callback: OutgoingCallback): Promise<boolean> {
    try {
      const response = await this.#http.request({
        method: 'POST',
        url: callback.url,
        headers: { ...callback.headers },
        body: callback.body,
        idempotent: false,
      });
      return callback.isAcknowledged(response);
    } catch {
      return false;
    }
  }

  /** @returns false when stopped */
  async #wait(ms: number): Promise<boolean> {
    if (this.#stop.signal.aborted) return false;
    if (ms === 0) return true;
    return delay(ms, true, { signal: this.#stop.signal, ref: false }).catch(() => false);
  }
}

const STYLE = `:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;background:light-dark(#eef1f6,#12151c);color:light-dark(#1c2430,#e7ebf3);margin:0;display:grid;place-items:center;min-height:100vh}
main{box-sizing:border-box;background:light-dark(#fff,#1b202b);border-radius:16px;box-shadow:0 8px 30px #1c243018;padding:32px;width:min(444px,100vw - 24px)}
h1{font-size:34px;margin:4px 0 12px}p{margin:6px 0}small{color:light-dark(#667,#98a2b3);overflow-wrap:anywhere}
form{display:inline-block;margin:18px 8px 0 0}button{font:inherit;border:0;border-radius:10px;padding:10px 18px;cursor:pointer;color:#fff;background:#2563eb}
button.fail,button.expire,button.chargeback{background:#b4232f}button.refund,button.overpay,button.underpay{background:#6b7280}a{color:light-dark(#2453d6,#8db0ff)}`;

const LABELS: Readonly<Record<InvoiceAction, string>> = {
  pay: 'Pay',
  overpay: 'Pay too much',
  underpay: 'Pay too little',
  fail: 'Decline',
  expire: 'Let it expire',
  refund: 'Refund',
  chargeback: 'Charge back',
};

/** The hosted payment page of the fake provider, to which the payment URL leads. */
function payPage(invoice: SandboxInvoice): LoopbackReply {
  const buttons = allowedActions(invoice)
    .map((action) => button(invoice, action, LABELS[action]))
    .join('');
  const back = invoice.returnUrl ? `<p><a href="${escapeHtml(invoice.returnUrl)}" rel="noreferrer">Back to the shop</a></p>` : '';
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>Sandbox payment</title><style>${STYLE}</style></head><body><main><small>Sandbox payment (${escapeHtml(invoice.wire)}), no real money</small>
<h1>${rublesText(invoice.amountKopeks)} ${escapeHtml(invoice.currency)}</h1><p>${escapeHtml(invoice.description)}</p>
<p><small>${escapeHtml(invoice.id)} · ${invoice.status}</small></p>${buttons}${back}</main></body></html>`;
  return {
    status: 200,
    contentType: 'text/html; charset=utf-8',
    body: html,
    headers: {
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
    },
  };
}

function button(invoice: SandboxInvoice, action: string, label: string): string {
  return `<form method="post" action="/pay/${encodeURIComponent(invoice.id)}/${action}"><button class="${action}">${label}</button></form>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
