import type { App } from '../../core/app.ts';
import type { UserRecord } from '../identity/types.ts';
import type { MessengerUpdate } from '../messaging/ports.ts';
import { type CreditVerdict, classifyCredit } from './classify-report.ts';
import { creditExtras } from './credit-payment.ts';
import {
  applyEarlierReversals,
  isMoneyReturned,
  isTransactionTaken,
  markCredited,
  upsertUninvoicedPayment,
} from './credit-repo.ts';
import { reversalTitles } from './payment-texts.ts';
import type { PaymentReport } from './ports.ts';
import { lockPayment } from './repo.ts';
import { newOrderId } from './rules.ts';
import {
  findReportedCharge,
  findStarsInvoice,
  insertStarsInvoice,
  markStarsInvoicePaid,
  type NewStarsInvoice,
  type ReportedCharge,
  type StarsCharge,
  type StarsInvoiceRecord,
} from './stars-repo.ts';
import type { CreditResult, Payment } from './types.ts';

/**
 * What invoices pay besides the balance (spec 03 section 2.2, step 3). Later modules define theirs; they are passed in where callbacks
 * and checks are processed, so that this module imports none of them.
 */
export interface PaymentPurpose {
  /** `payments.purpose` of its invoices. */
  readonly purpose: string;
  /**
   * Applies a success that the provider confirmed, with at least the amount of the invoice. May be called repeatedly; acts once.
   * @returns `changed` when the invoice is no longer as classified
   */
  settle(app: App, payment: Payment, state: PaymentReport): Promise<CreditResult | 'changed'>;
  /** Records that another amount or currency was paid, in the transaction that marks the payment, once (spec 03 H10). */
  recordMismatch(t: App, payment: Payment, state: PaymentReport): Promise<void>;
  /**
   * Ends what was bought with money that went back as a whole and was not given yet; once a reversal, in the transaction of its job.
   * @returns the user whose subscription the money had bought; null = nobody's
   */
  reverse(t: App, paymentId: number, isWhole: boolean): Promise<number | null>;
}

/**
 * Locks an invoice for the transaction that posts its money and classifies the confirmed state again under the lock.
 * @returns `credit`: post the money now; anything else is the result for this state
 */
export async function lockForSettling(
  t: App,
  paymentId: number,
  state: PaymentReport,
): Promise<{ verdict: CreditVerdict; payment: Payment }> {
  const payment = await lockPayment(t.db, paymentId);
  if (!payment) throw new Error(`payment ${paymentId} does not exist`);
  return { verdict: classifyCredit(payment, state, await isMoneyReturned(t.db, payment, state)), payment };
}

/**
 * Marks a locked invoice paid, in the transaction that posted its ledger row (spec 03 H4, H5), and applies what was reported as given back
 * of its money before.
 */
export async function completePayment(t: App, payment: Payment, state: PaymentReport, transactionId: number): Promise<void> {
  const now = t.clock.now();
  await markCredited(t.db, {
    paymentId: payment.id,
    transactionId,
    externalId: payment.externalId ?? state.externalId,
    chargeId: state.chargeId ?? null,
    status: state.status,
    paidAt: state.paidAt ?? now,
    raw: state.raw,
    extras: creditExtras(payment, state),
    now,
  });
  await applyEarlierReversals(t.db, payment.id, reversalTitles(t, payment.method), now);
}

/** The external id of the ledger row that an invoice pays for: the provider's id of the money, as `credit_topup()` chooses it. */
export function movementId(payment: Payment, state: PaymentReport): string {
  return state.chargeId ?? payment.externalId ?? state.externalId ?? payment.orderId;
}

/**
 * The result of a state that credits nothing, for a purpose whose invoice changed since it was classified; the next run classifies it
 * again.
 */
export function uncreditedResult(verdict: Exclude<CreditVerdict, 'credit'>): CreditResult | 'changed' {
  const isFinal = verdict === 'already_credited' || verdict === 'pending' || verdict === 'failed' || verdict === 'refunded';
  return isFinal ? verdict : 'changed';
}

/** Whether a ledger row is the credit of another invoice, or belongs to another user. */
export function isMovementTaken(t: App, transactionId: number, userId: number): Promise<boolean> {
  return isTransactionTaken(t.db, transactionId, userId);
}

/**
 * What Stars pay besides top-ups of the balance. Later modules define theirs; they are passed in where updates and callbacks are
 * received, so that this module imports none of them.
 */
export interface StarsPurpose {
  /** How the payloads of its invoices begin. */
  readonly prefix: string;
  /** Called before the payment. @returns the sentence shown to the payer; null = may be paid */
  refusalOf(app: App, query: Extract<MessengerUpdate, { kind: 'pre_checkout' }>, payer: UserRecord): Promise<string | null>;
  /** Applies the payment of a known payer: delivers what was bought, or credits the balance; once per charge. */
  settle(app: App, paid: Extract<MessengerUpdate, { kind: 'stars_paid' }>, payer: UserRecord): Promise<CreditResult>;
}

/** The purpose that a payload belongs to; undefined = a top-up, or unknown. */
export function purposeOf(purposes: readonly StarsPurpose[], payload: string): StarsPurpose | undefined {
  return purposes.find(({ prefix }) => payload.startsWith(prefix));
}

/** Stores the price and the user of an invoice, so that the payment can be compared with it (spec 04 section 13.7). */
export function storeStarsInvoice(t: App, invoice: Omit<NewStarsInvoice, 'now'>): Promise<number | null> {
  return insertStarsInvoice(t.db, { ...invoice, now: t.clock.now() });
}

/** What a refund of a payment in Stars needs of it (`RefundRequest`); null = no charge was reported, nothing can be given back. */
export function readStarsCharge(app: App, paymentId: number): Promise<ReportedCharge | null> {
  return findReportedCharge(app.db, paymentId);
}

/** The stored invoice of a payload. @param lock in a transaction: until its end */
export function readStarsInvoice(app: App, payload: string, lock: boolean): Promise<StarsInvoiceRecord | null> {
  return findStarsInvoice(app.db, payload, { lock });
}

/** Writes the payment record of a charge, in the transaction that posts its money. @param invoice null = none matches: a new record */
export async function recordStarsCharge(
  t: App,
  invoice: StarsInvoiceRecord | null,
  charge: StarsCharge & { userId: number; amountKopeks: number; description: string },
): Promise<void> {
  const now = t.clock.now();
  if (invoice) return markStarsInvoicePaid(t.db, invoice.id, charge, now);
  const record = { ...charge, method: 'messenger_stars', orderId: newOrderId(t.random), status: 'paid', now };
  await upsertUninvoicedPayment(t.db, record);
}
