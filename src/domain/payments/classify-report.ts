import type { PaymentReport, ProviderReversal } from './ports.ts';
import type { Payment } from './types.ts';

/** What a fact names of the money that it is about; null = nothing, so that it is not compared. */
export interface NamedMoney {
  orderId: string | null;
  /** The provider's id of the invoice. */
  externalId: string | null;
  merchantId: string | null;
  chargeId: string | null;
}

/**
 * Whether a fact is about the money of a payment. `other_invoice`, `other_charge` = money that came besides for the same order and to the same
 * merchant; the others are not about this payment.
 */
type Identity = 'same' | 'other_order' | 'other_merchant' | 'other_invoice' | 'other_charge';

/**
 * Compares what a fact names with our record: the only place where it is done, for credits and reversals of every provider (spec 10 M1, M2).
 * What either side does not name is not compared, as of records that were made before its column existed: what is known decides. Until a
 * payment is credited, each charge of its invoice may be the one.
 */
function identify(payment: Payment, { orderId, merchantId, externalId, chargeId }: NamedMoney): Identity {
  if (isOther(payment.orderId, orderId)) return 'other_order';
  if (isOther(payment.merchantId, merchantId)) return 'other_merchant';
  // Of a payment of the existing product the charge may be all that was stored of the provider's ids (spec 07 section 4.2, CloudPayments).
  if (isOther(payment.externalId, externalId) && payment.externalId !== chargeId) return 'other_invoice';
  return payment.transactionId !== null && isOther(payment.chargeId, chargeId) ? 'other_charge' : 'same';
}

const isOther = (ours: string | null, theirs: string | null) => ours !== null && theirs !== null && ours !== theirs;

/** What the credit of a report names. */
function namedByReport({ orderId, externalId, merchantId = null, chargeId = null }: PaymentReport): NamedMoney {
  return { orderId, externalId, merchantId, chargeId };
}

/** What a reversal of a report names: of what it does not say itself, what the report says. */
export function namedByReversal(report: PaymentReport, reversal: ProviderReversal): NamedMoney {
  const { externalId, merchantId, chargeId } = reversal;
  const named = namedByReport(report);
  return {
    orderId: named.orderId,
    externalId: externalId === undefined ? named.externalId : externalId,
    merchantId: merchantId === undefined ? named.merchantId : merchantId,
    chargeId: chargeId === undefined ? named.chargeId : chargeId,
  };
}

/** The provider's id of the money itself: of the charge, else of the invoice, which is then paid once. Null = the fact names neither. */
export function moneyId({ chargeId, externalId }: Pick<NamedMoney, 'chargeId' | 'externalId'>): string | null {
  return chargeId ?? externalId;
}

/** `credit` = move the money now. `second_payment` and later ones are cases for an administrator. */
export type CreditVerdict =
  | 'credit'
  | 'already_credited'
  | 'pending'
  | 'failed'
  | 'refunded'
  | 'amount_mismatch'
  | 'blocked'
  | 'test_payment'
  | 'second_payment'
  | 'other_merchant'
  | 'order_mismatch';

/**
 * What the credit of a report means for a payment (spec 03 sections 2.2 and 11; spec 03a sections 0.2 and 0.4). Money is credited for at least
 * the amount of the record in its currency, whatever its outcome so far, except a reversal: a success after a failure or after the 24 hours still
 * counts (spec 03 H15), a failure after the credit changes nothing.
 * @param isReturned the money of this charge went back before (`isMoneyReturned`)
 */
export function classifyCredit(payment: Payment, report: PaymentReport, isReturned: boolean): CreditVerdict {
  const identity = identify(payment, namedByReport(report));
  // A payment of the existing product may be paid without a movement of its own: of a guest, or one of two that share theirs (spec 07 I5).
  const isCredited = payment.transactionId !== null || payment.isPaid;
  if (identity === 'other_order') return 'order_mismatch';
  if (identity === 'other_merchant') return 'other_merchant';
  if (isCredited) {
    if (identity === 'same' || !hasBroughtMoney(report, identity)) return 'already_credited';
    return report.isTest ? 'test_payment' : 'second_payment';
  }
  if (identity === 'other_invoice') return 'order_mismatch';
  if (isReturned) return 'refunded';
  if (report.outcome === 'underpaid') return 'amount_mismatch';
  if (report.outcome !== 'paid') return report.outcome;
  if (isReversedWhole(payment, report)) return 'failed';
  if (report.isTest) return 'test_payment';
  return report.amountKopeks >= payment.amountKopeks && report.currency === payment.currency ? 'credit' : 'amount_mismatch';
}

/** Of an invoice that is credited, too little may be the first part of what completed it: then it names another charge, never another invoice. */
function hasBroughtMoney({ outcome }: PaymentReport, identity: Identity): boolean {
  return outcome === 'paid' || (outcome === 'underpaid' && identity === 'other_invoice');
}

/** Money that was given back before it was credited is not credited. */
function isReversedWhole(payment: Payment, report: PaymentReport): boolean {
  const { chargeId = null, amountKopeks, reversals = [] } = report;
  const ofPayment = reversals.filter(
    (reversal) =>
      classifyReversal(payment, report, reversal) === 'same' && !isOther(chargeId, namedByReversal(report, reversal).chargeId),
  );
  const reversed = ofPayment.reduce((sum, reversal) => sum + (reversal.amountKopeks ?? amountKopeks), 0);
  return reversed > 0 && reversed >= amountKopeks;
}

/**
 * `same` = of the money of this payment. `other_money` = of another charge of the same order, which may wait as a case. The others move
 * nothing and are cases: they are not about money of ours that can be determined.
 */
export type ReversalVerdict = 'same' | 'other_money' | 'other_order' | 'other_merchant' | 'test_payment' | 'other_currency';

/** What a reversal of a report means for a payment, by the same comparison as its credit (spec 10 M1, M2; spec 03a section 0.5). */
export function classifyReversal(payment: Payment, report: PaymentReport, reversal: ProviderReversal): ReversalVerdict {
  const identity = identify(payment, namedByReversal(report, reversal));
  if (identity === 'other_order' || identity === 'other_merchant') return identity;
  if (report.isTest) return 'test_payment';
  if (identity !== 'same') return 'other_money';
  const currency = reversal.currency === undefined ? report.currency : reversal.currency;
  return currency === null || currency === payment.currency ? 'same' : 'other_currency';
}
