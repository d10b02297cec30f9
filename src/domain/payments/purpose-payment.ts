import type { App } from '../../core/app.ts';
import { isTransactionTaken, markCredited } from './credit-repo.ts';
import type { ProviderPaymentState } from './ports.ts';
import { lockPayment } from './repo.ts';
import { judgeState } from './rules.ts';
import type { CreditResult, Payment } from './types.ts';

/**
 * Something that invoices pay besides the balance (spec 03 section 2.2, step 3). Later modules hand theirs in where callbacks and
 * checks are worked on, so that this one knows none of them.
 */
export interface PaymentPurpose {
  /** `payments.purpose` of its invoices. */
  readonly purpose: string;
  /** Takes a success that the provider confirmed, with exactly the amount of the invoice; any number of times, once in effect. */
  settle(app: App, payment: Payment, state: ProviderPaymentState): Promise<CreditResult>;
  /** Another amount or currency was paid: noted in the transaction that marks the payment, once (spec 03 H10). */
  noteMismatch(t: App, payment: Payment, state: ProviderPaymentState): Promise<void>;
}

/**
 * Locks an invoice for the transaction that takes its money and judges the confirmed state again under the lock.
 * @returns `credit`: take it now; anything else is the final word on this state
 */
export async function lockForSettling(
  t: App,
  paymentId: number,
  state: ProviderPaymentState,
): Promise<{ verdict: 'credit' | CreditResult; payment: Payment }> {
  const payment = await lockPayment(t.db, paymentId);
  if (!payment) throw new Error(`payment ${paymentId} is gone`);
  return { verdict: judgeState(payment, state), payment };
}

/** Marks a locked invoice paid by the ledger row that took its money, in the same transaction (spec 03 H4, H5). */
export async function completePayment(
  t: App,
  payment: Payment,
  state: ProviderPaymentState,
  transactionId: number,
): Promise<void> {
  const now = t.clock.now();
  await markCredited(t.db, {
    paymentId: payment.id,
    transactionId,
    externalId: payment.externalId ?? state.externalId,
    status: state.status,
    paidAt: state.paidAt ?? now,
    raw: state.raw,
    now,
  });
}

/** Is this ledger row already the credit of another invoice, or of another user? */
export function isMovementTaken(t: App, transactionId: number, userId: number): Promise<boolean> {
  return isTransactionTaken(t.db, transactionId, userId);
}
