/**
 * The port of payment providers (spec 03 section 2). Adapters are stateless. The domain inserts its record before `createInvoice` (H4),
 * stores accepted callbacks as received, answers them, and later credits, by unique key, what `fetchStatus` confirms (H9).
 */

import type { PaymentPurpose } from './purpose-payment.ts';

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

/** Where the provider sends the payer afterwards; absolute URLs. Null = the provider's own setting. */
export interface ReturnUrls {
  /** Whatever the result is. */
  result: string | null;
  success: string | null;
  failed: string | null;
}

export interface InvoiceRequest {
  /** Our local payment id. */
  paymentId: number;
  /** Our order id, at least 96 random bits (spec 03 H16). Also the idempotency key, where the provider has one. */
  orderId: string;
  /** Whole kopeks, above zero. */
  amountKopeks: number;
  description: string;
  /** Sub-option of the method, for example `card` or `sbp`. */
  option?: string;
  /** Receipt contact of the payer; providers that require one use their configured contact otherwise, never an invented address. */
  payerEmail?: string;
  /** The payer's address, for providers that ask for it; never the server's own. */
  payerIp?: string;
  returnUrls: ReturnUrls;
  /** Values stored with the payment at the provider; nulls are left out. */
  metadata: Readonly<Record<string, string | number | null>>;
  /** Messenger Stars only: whole stars to ask for, as stored with the record. */
  stars?: number;
}

export interface CreatedInvoice {
  /** The provider's id of the invoice. */
  externalId: string;
  /** Absolute http(s) URL. */
  paymentUrl: string;
  /** The provider's own word, stored unchanged. */
  status: string;
  /** UTC; null = the provider names no expiry. */
  expiresAt: Date | null;
  /** The merchant account or terminal, where reports name it: a report of another one is not about this invoice. */
  merchantId?: string | null;
  /** The provider's answer, for the record. */
  raw: unknown;
}

/** How a report or a question names an invoice; at least one of both is known. */
export interface PaymentReference {
  /** The provider's id. */
  externalId: string | null;
  /** Ours. */
  orderId: string | null;
}

/**
 * What a payment's state means for the ledger. `failed` is final for no provider: a verified success afterwards is credited (03a section
 * 0.4). `underpaid` = less than the invoice came, and the provider has it. `blocked` = stopped by the provider's own checks.
 */
export type PaymentOutcome = 'pending' | 'paid' | 'failed' | 'underpaid' | 'blocked';

/**
 * Money that the provider gave back to the payer, or that was taken back (03a section 0.5). What it names of the payment is compared with our
 * record; left out = as in its report, null = the provider names none.
 */
export interface ProviderReversal {
  /** Unique at the provider; where it has no such id, one that is made from the payment's. */
  reversalId: string;
  kind: 'refund' | 'chargeback';
  /** Kopeks; null = the whole payment. */
  amountKopeks: number | null;
  /** ISO 4217, upper case. */
  currency?: string | null;
  /** The provider's id of the invoice. */
  externalId?: string | null;
  /** The provider's id of the money that went back. */
  chargeId?: string | null;
  merchantId?: string | null;
}

/** A card or account of the payer that the provider keeps for further charges. */
export interface ProviderSavedMethod {
  providerMethodId: string;
  /** The provider's word, for example `bank_card` or `sbp`. */
  methodType: string;
  title: string | null;
  card: {
    first6: string | null;
    last4: string;
    type: string | null;
    expiryMonth: string | null;
    expiryYear: string | null;
  } | null;
}

/** Why an attempt to pay failed, as reported to the payer; `refused` where the provider says nothing that helps. */
export type AttemptFailure =
  | 'insufficient_funds'
  | 'card_expired'
  | 'card_data'
  | 'card_limit'
  | 'card_blocked'
  | 'not_confirmed'
  | 'bank_unavailable'
  | 'refused';

/** One attempt to pay that failed and left the invoice payable. */
export interface FailedAttempt {
  /** Unique at the provider. */
  id: string;
  reason: AttemptFailure;
}

/**
 * What a provider says of one payment, as it says it: facts only. Whether they are about a payment of ours, and what they mean for it, is
 * decided in one place for all providers (`classify-report.ts`, spec 10 M1 and M2); an adapter never sees our record.
 */
export interface PaymentReport {
  /** Of the invoice; null = the provider names none, and `chargeId` identifies the money. */
  externalId: string | null;
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
  /** The provider's id of the money, where it is another than the invoice's; identifies the movement in the ledger. */
  chargeId?: string | null;
  /** As in `CreatedInvoice`. */
  merchantId?: string | null;
  /** Signed in part only: about a payment that is stored here the provider is asked, where it can be. */
  isUnconfirmed?: boolean;
  /** Further charges of the same order, each with its own facts: what was paid twice, or given back before it was paid again. */
  others?: readonly PaymentReport[];
  /** Made in the provider's test mode although the shop is not in it: never credited. */
  isTest?: boolean;
  reversals?: readonly ProviderReversal[];
  /** What the provider keeps of the payment, where it says so; kopeks. */
  feeKopeks?: number | null;
  savedMethod?: ProviderSavedMethod | null;
  /** The provider's word for why a payment failed, where it says so. */
  failureReason?: string | null;
  /** Where the provider reports single attempts: this one failed, and its payer is notified once. */
  failedAttempt?: FailedAttempt;
  /** The provider says that the saved method cannot be charged again. */
  isMethodGone?: boolean;
  /** Money that nobody asked for by an invoice: it goes to the balance of the person who gave it, once per `externalId`. */
  donor?: { messengerId: number | null };
  raw: unknown;
}

/** A charge of a saved method without the payer. */
export interface SavedMethodCharge
  extends Pick<InvoiceRequest, 'orderId' | 'amountKopeks' | 'description' | 'payerEmail' | 'metadata'> {
  providerMethodId: string;
}

/** An incoming provider request as the HTTP layer received it, within the limits of 03a section 0.8. */
export interface ProviderCallback {
  method: string;
  /** What follows the callback path: one of the provider's `callbackSubpaths`, or empty. */
  subpath: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  /** The bytes as received: signatures are verified over these, never over JSON that was serialized again (spec 03 H17). */
  rawBody: Buffer;
  query: Readonly<Record<string, string | undefined>>;
  /** Address of the socket's peer, not of a forwarding header: the adapter evaluates those itself. */
  ip: string;
  /** The sender behind the trusted proxies, by which callbacks are counted; default: `ip`. */
  clientIp?: string;
}

export interface CallbackReply {
  status: number;
  contentType: string;
  body: string;
  headers?: Readonly<Record<string, string>>;
}

/** What the domain knows of an order that a provider asks about before it takes the money (CloudPayments' Check). */
export interface CheckedOrder {
  amountKopeks: number;
  /** ISO 4217, upper case. */
  currency: string;
  /** As in `CreatedInvoice`. */
  merchantId: string | null;
  /** Neither paid nor refunded nor stopped. */
  isOpen: boolean;
  /** Past its own expiry or the 24 hours of every invoice. */
  isExpired: boolean;
}

/** A question about an order, which is answered at once and not stored. */
export interface OrderCheck {
  orderId: string;
  /** @param order null = no such order of this method */
  answer: (order: CheckedOrder | null) => CallbackReply;
}

/**
 * Accepted = genuine and about a payment. `eventKey` is unique per event of the method, so a duplicate delivery violates the unique key
 * of stored callbacks; `isUnsigned` = anybody may have sent it. Not accepted = store nothing and answer `reply`, or, for a genuine question about an order, what `check` makes of it.
 */
export type CallbackVerdict =
  | { accepted: true; reference: PaymentReference; eventKey: string; isUnsigned?: boolean; reply: CallbackReply }
  | { accepted: false; reply: CallbackReply; check?: OrderCheck };

/** Money to give back to the payer. */
export interface RefundRequest {
  externalId: string;
  orderId: string;
  chargeId: string | null;
  /** Messenger Stars only: the messenger id of the person who paid (`readStarsCharge`). */
  payerMessengerId?: number | null;
  /** Kopeks, at most what was paid. */
  amountKopeks: number;
  isWhole: boolean;
  /** The same for every try of one refund. */
  idempotencyKey: string;
  /** Only where an earlier try may have been carried out: when the refund was requested. A provider forgets a key after some time. */
  repeatedSince?: Date;
}

/**
 * What the provider did with it. `pending` = accepted, not carried out yet. `unclear` = it was not asked again, since an earlier try may have
 * been carried out and a repeat would be a second refund: only its report can tell.
 */
export type RefundAnswer = { reversalId: string; state: 'done' | 'pending' } | { state: 'unclear' };

/** What a provider itself says of one way to pay. */
export interface ProviderLimit {
  /** Sub-option of the method, for example `card`. */
  option: string;
  isOn: boolean;
  /** Kopeks; null = it names none. */
  minKopeks: number | null;
  maxKopeks: number | null;
}

export interface PaymentProvider {
  /** Payment method id of spec 03 section 2.4. */
  readonly method: string;
  /** Status of a record until the provider answers. */
  readonly initialStatus: string;
  /** The provider's words for pending payments; compared case-insensitively. */
  readonly pendingStatuses: readonly string[];
  /** Whether `fetchStatus` works. False where the provider only sends updates (Stars, Tribute's donations). */
  readonly canFetchStatus: boolean;
  /** Bodies that its callbacks have; every other content type is refused (03a section 0.8). */
  readonly callbackFormats: readonly CallbackFormat[];
  /** Further paths below `webhookPath`, for example `pay` and `fail`. */
  readonly callbackSubpaths?: readonly string[];
  /**
   * Whether a callback about an invoice that is not stored here makes us ask the provider. Not where anybody could use this to spend its
   * rate limit (03a section 0.3).
   */
  readonly asksAboutUnknown: boolean;
  /**
   * Whether a callback about a credited payment makes us ask the provider, default true: the answer may report a reversal. Not where it never
   * does, so that nobody can use a replay to spend the rate limit (03a section 0.3).
   */
  readonly asksAboutCredited?: boolean;
  /**
   * One key signs the callbacks of all its merchants (WATA): a callback proves something of a payment only where it and our record name the
   * same invoice; else the provider is asked, with our credentials. Default false.
   */
  readonly signsForAllMerchants?: boolean;
  /** Whether its callbacks have the id of `createInvoice`: one about our order with another id is then a case. Default false. */
  readonly callbacksNameInvoice?: boolean;
  /** Whether `refund` can return a part of a payment. */
  readonly canRefundPartly?: boolean;
  /** When its credential ends, where that can be read from it: the provider refuses every call afterwards. UTC; null = unknown. */
  credentialsExpireAt?(): Date | null;
  /** Whether new payments can be made: switched on, with its credentials. Reads the settings on each call, since they change at run time. */
  isConfigured(): boolean;
  /** Whether its credentials are set, also while it is switched off: payments under way are then still reported, checked and refunded. */
  hasCredentials(): boolean;
  /** The one page where the payer chooses the sum; present where a provider makes no invoices (Tribute). Null = not configured. */
  paymentPage?(): string | null;
  /** Path of the callback route; null where callbacks come another way (Stars: the messenger webhook). */
  webhookPath(): string | null;
  /** @throws ProviderError */
  createInvoice(request: InvoiceRequest): Promise<CreatedInvoice>;
  /** Asks the provider about an invoice. @throws ProviderError */
  fetchStatus(reference: PaymentReference): Promise<PaymentReport>;
  /**
   * Verifies any request on `webhookPath` (GET and OPTIONS too), and answers it. Never throws. It makes no outbound call, except for a key
   * that verifies signatures.
   */
  receiveCallback(callback: ProviderCallback): Promise<CallbackVerdict>;
  /**
   * What a stored callback itself says; it counts where the whole body is signed (03a section 0.3). Absent, or null for one callback = only
   * `fetchStatus` decides.
   * @param body as received and verified
   * @param subpath as in `ProviderCallback`
   */
  readCallback?(body: string, subpath: string): PaymentReport | null;
  /** Reads the limits that the provider sets by itself; absent where it has no such call. @throws ProviderError */
  fetchLimits?(): Promise<ProviderLimit[]>;
  /** Refunds money; absent where the provider has no such call. @throws ProviderError: `rejected` = it will never do so */
  refund?(request: RefundRequest): Promise<RefundAnswer>;
  /**
   * Charges a saved method; two calls with one order id charge once. Absent where the provider saves none.
   * @throws ProviderError: `rejected` = nothing was charged and never will be
   */
  chargeSaved?(charge: SavedMethodCharge): Promise<PaymentReport>;
}

export type CallbackFormat = 'json' | 'form';

interface PaymentProviders {
  byMethod(method: string): PaymentProvider | undefined;
  all(): readonly PaymentProvider[];
}

declare module '../../core/app.ts' {
  interface Ports {
    payments: PaymentProviders;
    /** What invoices pay besides the balance; defined by later modules. */
    invoicePurposes: readonly PaymentPurpose[];
  }
}
