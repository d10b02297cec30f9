import type { LoopbackReply, LoopbackRequest } from '../loopback-server.ts';

export type SandboxInvoiceStatus = 'pending' | 'paid' | 'underpaid' | 'failed' | 'expired' | 'refunded' | 'chargeback';

/** Money that went back to the payer; kopeks. */
export interface SandboxReversal {
  id: string;
  /** The idempotency key of the shop's request, where the wire has one. */
  key?: string;
  kind: 'refund' | 'chargeback';
  amountKopeks: number;
  /** ISO 8601, UTC. */
  at: string;
}

export interface SandboxInvoice {
  /** A UUID. */
  id: string;
  /** A whole number, for wires whose ids are numbers. */
  number: number;
  /** The wire on which it was created; its callbacks use the same one. */
  wire: string;
  orderId: string;
  status: SandboxInvoiceStatus;
  amountKopeks: number;
  currency: string;
  /** What the payer paid; kopeks. */
  paidKopeks: number;
  reversals: SandboxReversal[];
  description: string;
  option: string | null;
  returnUrl: string | null;
  /** Whatever the wire needs again, for example the metadata of the shop. */
  metadata: Record<string, unknown>;
  /** ISO 8601, UTC. */
  createdAt: string;
  paidAt: string | null;
  expiresAt: string;
}

/** What a wire passes to create an invoice. */
export type InvoiceDraft = Pick<SandboxInvoice, 'orderId' | 'amountKopeks' | 'description'> &
  Partial<Pick<SandboxInvoice, 'currency' | 'option' | 'returnUrl' | 'metadata' | 'expiresAt'>>;

interface Step {
  from: readonly SandboxInvoiceStatus[];
  to: SandboxInvoiceStatus;
  /** What the payer pays, of the amount; none = no money moves. */
  pays?: (amountKopeks: number) => number;
  reverses?: SandboxReversal['kind'];
}

/**
 * Actions of a payer, the provider or the sandbox page, with the states before and after each. Money may come late, after a failure or the
 * expiry, as at real providers (03a section 0.4).
 */
export const INVOICE_ACTIONS = {
  pay: { from: ['pending', 'underpaid', 'failed', 'expired'], to: 'paid', pays: (kopeks) => kopeks },
  overpay: { from: ['pending', 'underpaid', 'failed', 'expired'], to: 'paid', pays: (kopeks) => kopeks + 100 },
  underpay: { from: ['pending'], to: 'underpaid', pays: (kopeks) => Math.max(1, kopeks - 100) },
  fail: { from: ['pending'], to: 'failed' },
  expire: { from: ['pending'], to: 'expired' },
  refund: { from: ['paid'], to: 'refunded', reverses: 'refund' },
  chargeback: { from: ['paid'], to: 'chargeback', reverses: 'chargeback' },
} as const satisfies Record<string, Step>;

export type InvoiceAction = keyof typeof INVOICE_ACTIONS;

export function isInvoiceAction(text: string | undefined): text is InvoiceAction {
  return text !== undefined && Object.hasOwn(INVOICE_ACTIONS, text);
}

/** The actions that the state of an invoice allows. */
export function allowedActions({ status }: SandboxInvoice): InvoiceAction[] {
  return (Object.keys(INVOICE_ACTIONS) as InvoiceAction[]).filter((action) => stepOf(action).from.includes(status));
}

/**
 * Applies an action to an invoice of the state.
 * @param refundKopeks of a refund: a part of the payment, which then stays paid; default: all that is left
 * @returns false when its state does not allow it
 */
export function applyAction(
  invoice: SandboxInvoice,
  action: InvoiceAction,
  { now, refundKopeks, reversal }: { now: Date; refundKopeks?: number; reversal: Pick<SandboxReversal, 'id' | 'key'> },
): boolean {
  const step = stepOf(action);
  if (!step.from.includes(invoice.status)) return false;
  if (step.reverses) {
    const left = invoice.paidKopeks - invoice.reversals.reduce((sum, { amountKopeks }) => sum + amountKopeks, 0);
    const amountKopeks = refundKopeks ?? left;
    if (amountKopeks <= 0 || amountKopeks > left) return false;
    invoice.reversals.push({ ...reversal, kind: step.reverses, amountKopeks, at: now.toISOString() });
    if (amountKopeks === left) invoice.status = step.to;
    return true;
  }
  invoice.status = step.to;
  if (step.pays) {
    invoice.paidKopeks = step.pays(invoice.amountKopeks);
    invoice.paidAt = now.toISOString();
  }
  return true;
}

const stepOf = (action: InvoiceAction): Step => INVOICE_ACTIONS[action];

/** The refund that a request with this key has made, as long as the provider remembers the key; of what comes later it makes another one. */
export function refundOfKey(
  { reversals }: SandboxInvoice,
  key: string,
  now: Date,
  rememberedMs: number,
): SandboxReversal | undefined {
  return reversals.find((known) => known.key === key && isRemembered(known.at, now, rememberedMs));
}

/** Whether what was made with a key is returned at present to a request that repeats it. */
export function isRemembered(at: string, now: Date, rememberedMs: number): boolean {
  return now.getTime() - new Date(at).getTime() < rememberedMs;
}

/** Kopeks as decimal rubles with two places. */
export function rublesText(kopeks: number): string {
  return `${Math.trunc(kopeks / 100)}.${String(kopeks % 100).padStart(2, '0')}`;
}

/** Decimal rubles of a request in kopeks; null for anything else. */
export function kopeksOf(value: unknown): number | null {
  const match = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(String(value ?? ''));
  const kopeks = match ? Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0')) : 0;
  return kopeks > 0 ? kopeks : null;
}

/** The invoices of one fake provider, as its wire uses them. */
export interface FakeShop {
  /** Replaces every credential of the provider: keys of requests and of callback signatures. */
  secret: string;
  now(): Date;
  /** Address of the hosted payment page. */
  payUrl(invoice: SandboxInvoice): string;
  /** Creates an invoice; one of the same order id is returned as it is, as long as the provider remembers that it was made. Default: for ever. */
  create(draft: InvoiceDraft, rememberedMs?: number): Promise<SandboxInvoice>;
  find(matches: (invoice: SandboxInvoice) => boolean): Promise<SandboxInvoice | undefined>;
  /**
   * Performs an action of the shop, for example a refund.
   * @param key the idempotency key of a refund, which is stored with it
   * @returns null when the state of the invoice does not allow it
   */
  act(id: string, action: InvoiceAction, refundKopeks?: number, key?: string): Promise<SandboxInvoice | null>;
}

/** A callback to post. */
export interface FakeCallback {
  /** Follows the callback path of the provider. */
  subpath?: string;
  body: string;
  headers: Readonly<Record<string, string>>;
}

/** The wire of one provider, as the real one speaks it: its answers to our adapter and its callbacks. */
export interface FakeWire {
  /** Method of the provider; first segment of its path on the sandbox's server. */
  method: string;
  /** Where the service receives its callbacks while the setting has no other path. */
  webhookPath: string;
  /** Answers a request; its path is the one behind the provider's base address. */
  answer(request: LoopbackRequest, shop: FakeShop): Promise<LoopbackReply>;
  /** What the provider posts after an action, in order; none where it reports nothing. */
  callbacks(invoice: SandboxInvoice, action: InvoiceAction, shop: FakeShop): FakeCallback[];
  /** Whether an answer of the service acknowledges a callback; default: every status of 200 to 299. */
  isAcknowledged?(reply: { status: number; text: string }): boolean;
}

/** The hosted page links to web addresses only. */
export function webUrl(value: unknown): string | null {
  return typeof value === 'string' && /^https?:\/\//.test(value) ? value : null;
}
