import type { App } from '../../core/app.ts';
import { type CreditVerdict, classifyCredit } from './classify-report.ts';
import { creditExtras } from './credit-extras.ts';
import { applyEarlierReversals, isMoneyReturned, isTransactionTaken, markCredited } from './credit-repo.ts';
import { reversalTitles } from './payment-texts.ts';
import type { PaymentReport } from './ports.ts';
import { lockPayment } from './repo.ts';
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
   * @returns `changed` when the invoice is no longer as it was classified
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

/** The result of a state that credits nothing, for a purpose whose invoice changed since it was classified; the next run classifies it anew. */
export function uncreditedResult(verdict: Exclude<CreditVerdict, 'credit'>): CreditResult | 'changed' {
  const isFinal = verdict === 'already_credited' || verdict === 'pending' || verdict === 'failed' || verdict === 'refunded';
  return isFinal ? verdict : 'changed';
}

/** Whether a ledger row is the credit of another invoice, or belongs to another user. */
export function isMovementTaken(t: App, transactionId: number, userId: number): Promise<boolean> {
  return isTransactionTaken(t.db, transactionId, userId);
}
