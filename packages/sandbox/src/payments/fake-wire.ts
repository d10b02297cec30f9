import type { LoopbackReply, LoopbackRequest } from '../loopback-server.ts';
import type { InvoiceAction, InvoiceDraft, SandboxInvoice } from './invoice.ts';

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
