/**
 * The port of payment providers (spec 03 section 2). Adapters are stateless. The domain inserts its record before `createInvoice` (H4),
 * stores accepted callbacks as received, answers them, and later credits, by unique key, what `fetchStatus` confirms (H9).
 */

/** The kind of a failure. `unavailable` may succeed later; `rejected` fails again with the same request. */
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
  /** Our order id, at least 96 random bits (spec 03 H16). Also the idempotency key: two calls with one order id create one payment. */
  orderId: string;
  /** Whole kopeks, above zero. */
  amountKopeks: number;
  description: string;
  /** Sub-option of the method (spec 03 section 2.4), for example `card` or `sbp`. */
  option?: string;
  /** Receipt contact of the payer; providers that require one use their configured contact otherwise, never an invented address. */
  payerEmail?: string;
  /** Where the provider redirects the payer afterwards; null = the provider's own setting. */
  returnUrl: string | null;
  /** Values stored with the payment at the provider; nulls are left out. */
  metadata: Readonly<Record<string, string | number | null>>;
  /** Messenger Stars only: the payload that comes back with the payment, 1 to 128 bytes. Default `balance_{orderId}`. */
  payload?: string;
}

export interface CreatedInvoice {
  /** The provider's id of the payment. */
  externalId: string;
  /** Absolute http(s) URL. */
  paymentUrl: string;
  /** The provider's own word, stored unchanged. */
  status: string;
  /** UTC; null = the provider names no expiry. */
  expiresAt: Date | null;
  /** The provider's answer, for the record. */
  raw: unknown;
}

/** What a payment's state means for the ledger. A payment that was refunded before its credit is `failed`. */
export type PaymentOutcome = 'pending' | 'paid' | 'failed';

export interface ProviderPaymentState {
  externalId: string;
  /** The provider's own word, for example `waiting_for_capture`. */
  status: string;
  outcome: PaymentOutcome;
  /** The amount requested or paid. The domain compares it, and `currency`, with its record (spec 03 H10). */
  amountKopeks: number;
  /** ISO 4217, upper case. */
  currency: string;
  /** Our order id as the provider stored it; finds a record whose external id was lost in a crash. */
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
  /** The bytes as received: signatures are verified over these, never over JSON that was serialized again (spec 03 H17). */
  rawBody: Buffer;
  query: Readonly<Record<string, string | undefined>>;
  /** Address of the socket's peer, not of a forwarding header: the adapter evaluates those itself (spec 03 section 2.5). */
  ip: string;
}

export interface CallbackReply {
  status: number;
  contentType: string;
  body: string;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Accepted = genuine and about a payment. `eventKey` is unique per event of the method, so a duplicate delivery violates the unique key
 * of stored callbacks. A callback confirms nothing: only `fetchStatus` does. Not accepted = answer `reply`, store nothing.
 */
export type CallbackVerdict =
  | { accepted: true; externalId: string; eventKey: string; reply: CallbackReply }
  | { accepted: false; reply: CallbackReply };

export interface PaymentProvider {
  /** Payment method id of spec 03 section 2.4. */
  readonly method: string;
  /** Status of a record until the provider answers. */
  readonly initialStatus: string;
  /** The provider's words for pending payments; compared case-insensitively (spec 03 section 4.1). */
  readonly pendingStatuses: readonly string[];
  /** Whether `fetchStatus` works. False where the provider only sends updates (Stars). */
  readonly canFetchStatus: boolean;
  /** Reads the settings on each call: a provider may be switched on at run time. */
  isConfigured(): boolean;
  /** Path of the callback route; null where callbacks come another way (Stars: the messenger webhook). */
  webhookPath(): string | null;
  /** @throws ProviderError */
  createInvoice(request: InvoiceRequest): Promise<CreatedInvoice>;
  /** Asks the provider. Credits are based on this answer only. @throws ProviderError */
  fetchStatus(externalId: string): Promise<ProviderPaymentState>;
  /** Verifies any request on `webhookPath` (GET and OPTIONS too). Never throws and makes no outbound call. */
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
