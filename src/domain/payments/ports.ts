/**
 * Payment providers as the domain sees them (spec 03 section 2). Adapters are stateless: the domain inserts its record before
 * `createInvoice` (H4), stores accepted callbacks raw, answers, and later credits by unique key what `fetchStatus` confirms (H9).
 */

/** What went wrong at the provider. `unavailable` may be tried again; `rejected` will not get better by itself. */
export type ProviderFailure = 'unavailable' | 'rejected' | 'not_configured';

export class ProviderError extends Error {
  readonly method: string;
  readonly failure: ProviderFailure;

  constructor(method: string, failure: ProviderFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'ProviderError';
    this.method = method;
    this.failure = failure;
  }
}

export interface InvoiceRequest {
  /** Our local payment id. */
  paymentId: number;
  /** Our order id, at least 96 random bits (spec 03 H16). Also the idempotency key: creating twice with one order id makes one payment. */
  orderId: string;
  /** Whole kopeks, above zero. */
  amountKopeks: number;
  description: string;
  /** Sub-option of the method (spec 03 section 2.4), for example `card` or `sbp`. */
  option?: string;
  /** Receipt contact of the payer; providers that need one fall back to their configured contact, never to a made-up address. */
  payerEmail?: string;
  /** Where the provider sends the payer afterwards; null = the provider's own setting. */
  returnUrl: string | null;
  /** Values kept with the payment at the provider; nulls are left out. */
  metadata: Readonly<Record<string, string | number | null>>;
  /** Messenger Stars only: the payload handed back with the payment, 1 to 128 bytes. Default `balance_{orderId}`. */
  payload?: string;
}

export interface CreatedInvoice {
  /** The provider's id of the payment. */
  externalId: string;
  /** Absolute http(s) URL. */
  paymentUrl: string;
  /** The provider's own word, stored as it is. */
  status: string;
  /** UTC; null = the provider names no end. */
  expiresAt: Date | null;
  /** The provider's answer, for the record. */
  raw: unknown;
}

/** What a payment's state means for our ledger. A payment given back before it was credited is `failed`. */
export type PaymentOutcome = 'pending' | 'paid' | 'failed';

export interface ProviderPaymentState {
  externalId: string;
  /** The provider's own word, for example `waiting_for_capture`. */
  status: string;
  outcome: PaymentOutcome;
  /** What the payer was asked for or paid. The domain compares it, and `currency`, with its record (spec 03 H10). */
  amountKopeks: number;
  /** ISO 4217, upper case. */
  currency: string;
  /** Our order id as the provider kept it; finds a record whose external id was lost in a crash. */
  orderId: string | null;
  /** UTC; null unless paid. */
  paidAt: Date | null;
  raw: unknown;
}

/** An incoming provider request as the HTTP layer received it. */
export interface ProviderCallback {
  method: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  /** The bytes as received: signatures are verified over these, never over re-serialised JSON (spec 03 H17). */
  rawBody: Buffer;
  query: Readonly<Record<string, string | undefined>>;
  /** Address of the socket's peer, not one taken from a forwarding header: the adapter walks those itself (spec 03 section 2.5). */
  ip: string;
}

export interface CallbackReply {
  status: number;
  contentType: string;
  body: string;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Accepted = genuine and about a payment. `eventKey` is unique per event of the method, so a duplicate delivery meets the unique
 * key of the stored callbacks. It confirms nothing: credit only from `fetchStatus`. Not accepted = answer `reply`, store nothing.
 */
export type CallbackVerdict =
  | { accepted: true; externalId: string; eventKey: string; reply: CallbackReply }
  | { accepted: false; reply: CallbackReply };

export interface PaymentProvider {
  /** Payment method id of spec 03 section 2.4. */
  readonly method: string;
  /** Status of a record between its insert and the provider's answer. */
  readonly initialStatus: string;
  /** The provider's words for payments that still wait; compared without case (spec 03 section 4.1). */
  readonly pendingStatuses: readonly string[];
  /** Can `fetchStatus` be asked? False where the provider only pushes (Stars). */
  readonly canFetchStatus: boolean;
  /** Reads the settings each time: a provider may be switched on at run time. */
  isConfigured(): boolean;
  /** Path of the callback route; null where callbacks come another way (Stars: the messenger webhook). */
  webhookPath(): string | null;
  /** @throws ProviderError */
  createInvoice(request: InvoiceRequest): Promise<CreatedInvoice>;
  /** Asks the provider: the only source a credit may rest on. @throws ProviderError */
  fetchStatus(externalId: string): Promise<ProviderPaymentState>;
  /** Judges any request on `webhookPath` (GET and OPTIONS too). Never throws, never asks outside. */
  receiveCallback(callback: ProviderCallback): Promise<CallbackVerdict>;
}

export interface PaymentProviders {
  byMethod(method: string): PaymentProvider | undefined;
  all(): readonly PaymentProvider[];
}

declare module '../../core/app.ts' {
  interface Ports {
    payments: PaymentProviders;
  }
}
