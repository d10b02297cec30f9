import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { formatPrice } from '../../../core/money.ts';
import { recordCommand } from '../../access/record-command.ts';
import { paymentNotFound } from '../errors.ts';
import { reversalTitles } from '../payment-texts.ts';
import { findPayment } from '../repo.ts';
import { isMadeByCase } from '../rules.ts';
import type { CaseKind, PaymentCase } from '../types.ts';
import { insertRefund, nameCharge } from './repo.ts';

const refundUnsupported = refusal('refund_unsupported', 400, 'The provider of this payment has no refunds by its interface');
const refundWholeOnly = refusal('refund_whole_only', 400, 'This provider returns whole payments only');
const paymentNotCredited = refusal('payment_not_credited', 409, 'The payment was never credited');
const refundUnderWay = refusal('refund_under_way', 409, 'Another refund of this payment is under way');
const refundTooLarge = refusal('refund_too_large', 409, 'Only <n> of this payment can be refunded');

export interface RefundOrder {
  paymentId: number;
  /** Kopeks; null = all that is left of the payment. */
  amountKopeks: number | null;
  reason: string;
  /** Who decided, as the record shows it. */
  requestedBy: string;
}

export interface RequestedRefundFacts {
  refundId: number;
  /** Taken from the balance now; the rest had been spent. */
  debitedKopeks: number;
}

/**
 * Requests the refund of a credited payment (03a section 0.5): the balance is debited at once, at most what it has, and a job asks the
 * provider. When the provider refuses, the debit goes back. The row of the audit log is part of the transaction.
 * @throws AppError 404 unknown payment | 400 the provider has no refunds, or only whole ones, or no payment for this money | 409 not credited, or more than is left, or
 * another refund of it is under way
 */
export async function requestRefund(app: App, order: RefundOrder): Promise<RequestedRefundFacts> {
  const payment = await findPayment(app.db, order.paymentId);
  if (!payment) throw paymentNotFound();
  const provider = app.ports.payments.byMethod(payment.method);
  if (!provider?.refund) throw refundUnsupported();
  // A second charge of an invoice has an id of its own.
  if (isMadeByCase(payment) && payment.chargeId === null) {
    throw refundUnsupported({
      detail: 'This money has no payment of its own at the provider: give it back in the cabinet there',
    });
  }
  const isPart = order.amountKopeks !== null && order.amountKopeks !== payment.amountKopeks;
  if (isPart && !provider.canRefundPartly) throw refundWholeOnly();

  const refund = { ...order, titles: reversalTitles(app, payment.method), now: app.clock.now() };
  const { outcome, reversalId, debitedKopeks, leftKopeks } = await inTransaction(app, async (t) => {
    const requested = await insertRefund(t.db, refund);
    if (requested.outcome === 'requested') await recordRequest(t, order, requested);
    return requested;
  });
  switch (outcome) {
    case 'requested':
      app.jobs.wake(['payments.send-refund']);
      return { refundId: reversalId!, debitedKopeks };
    case 'unknown':
      throw paymentNotFound();
    case 'not_credited':
      throw paymentNotCredited();
    case 'requested_before':
      throw refundUnderWay();
    case 'credited':
      throw new Error(`the refund of payment ${order.paymentId} was requested as of money that is credited to nobody`);
    case 'too_much':
      throw refundTooLarge({ detail: `Only ${formatPrice(leftKopeks, false)} of this payment can be refunded` });
  }
}

function recordRequest(
  t: App,
  { paymentId, requestedBy, amountKopeks, reason }: RefundOrder,
  { reversalId, debitedKopeks }: { reversalId: number | null; debitedKopeks: number },
): Promise<void> {
  return recordCommand(t, requestedBy, {
    ...{ command: `payments refund ${paymentId}`, permission: 'payments:edit', resourceId: `payment ${paymentId}` },
    ...{ before: null, after: { refundId: reversalId, amountKopeks, debitedKopeks, reason } },
  });
}

/** Cases whose money came for the invoice of the case; that of others came for another one, or for none. */
const REFUNDABLE_KINDS: ReadonlySet<string> = new Set(['amount_mismatch', 'no_user', 'no_purchase'] satisfies CaseKind[]);

/**
 * Requests that the provider gives back money that was credited to nobody, in the caller's transaction: the decision about a case. No balance
 * is touched.
 * @returns false when the provider has no refunds, or the money cannot be given back by its interface
 */
export async function requestRefundOfCase(
  t: App,
  found: Pick<PaymentCase, 'kind' | 'method' | 'paymentId' | 'amountKopeks' | 'currency' | 'details'>,
  { requestedBy, reason }: { requestedBy: string; reason: string },
): Promise<boolean> {
  const { kind, paymentId, amountKopeks, method } = found;
  const isRubles = found.currency === null || found.currency === 'RUB';
  if (
    !REFUNDABLE_KINDS.has(kind) ||
    paymentId === null ||
    amountKopeks === null ||
    !isRubles ||
    !t.ports.payments.byMethod(method)?.refund
  )
    return false;
  const refund = { paymentId, amountKopeks, requestedBy, reason, isUncredited: true, titles: reversalTitles(t, method) };
  const { outcome, reversalId } = await insertRefund(t.db, { ...refund, now: t.clock.now() });
  const { chargeId } = found.details as { chargeId?: unknown };
  if (reversalId !== null && typeof chargeId === 'string') await nameCharge(t.db, reversalId, chargeId);
  return outcome === 'requested';
}
