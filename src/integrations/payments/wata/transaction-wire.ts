import type { PaymentOutcome, PaymentReport, ProviderReversal } from '../../../domain/payments/ports.ts';
import { dateField, plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText } from '../wire/money.ts';

const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  Created: 'pending',
  Pending: 'pending',
  Paid: 'paid',
  // Of the attempt: the link can still be paid.
  Declined: 'failed',
};

/** A transaction of a callback or of the API, which name the same fields differently. */
export interface WataTransaction {
  id: string;
  /** `Created`, `Pending`, `Paid` or `Declined`. */
  status: string;
  isRefund: boolean;
  /** Null where it is no decimal. */
  amountKopeks: number | null;
  orderId: string | null;
  linkId: string | null;
  fields: WireObject;
}

/** Null when it has no id or status. */
export function readTransaction(fields: WireObject): WataTransaction | null {
  const id = textField(fields, 'transactionId') ?? textField(fields, 'id');
  const status = textField(fields, 'transactionStatus') ?? textField(fields, 'status');
  if (id === null || status === null) return null;
  return {
    ...{ id, status, fields, isRefund: textField(fields, 'kind') === 'Refund' },
    amountKopeks: kopeksFromText(textField(fields, 'amount') ?? ''),
    orderId: textField(fields, 'orderId'),
    linkId: textField(fields, 'paymentLinkId'),
  };
}

/** What one transaction says of a payment; null when its amount or currency cannot be read. */
export function transactionState(transaction: WataTransaction): PaymentReport | null {
  const { id, status, amountKopeks, orderId, linkId, isRefund, fields } = transaction;
  const currency = textField(fields, 'currency');
  if (amountKopeks === null || currency === null) return null;
  const outcome = isRefund ? 'failed' : (OUTCOMES[status] ?? 'pending');
  const isPaid = outcome === 'paid';
  return {
    externalId: linkId,
    ...{ status, outcome, amountKopeks, orderId },
    currency: currency.toUpperCase(),
    paidAt: isPaid ? dateField(fields, 'paymentTime') : null,
    chargeId: isRefund ? null : id,
    merchantId: terminalOf(fields),
    reversals: reversalsOf([transaction]),
    feeKopeks: isPaid ? feeOf(fields, amountKopeks) : null,
    raw: plainJson(fields),
  };
}

/** The refunds that were carried out. */
export function reversalsOf(transactions: readonly WataTransaction[]): ProviderReversal[] {
  return transactions
    .filter(({ isRefund, status }) => isRefund && status === 'Paid')
    .map(({ id, amountKopeks, linkId, fields }) => ({
      ...{ reversalId: id, kind: 'refund', amountKopeks, externalId: linkId, merchantId: terminalOf(fields) },
      currency: textField(fields, 'currency')?.toUpperCase() ?? null,
      // Documented for the request of a refund only; where a refund does not name its payment, the link says whose it is.
      chargeId: textField(fields, 'originalTransactionId'),
    }));
}

const terminalOf = (fields: WireObject) => textField(fields, 'terminalPublicId');

function feeOf(fields: WireObject, amountKopeks: number): number | null {
  const fee = kopeksFromText(textField(fields, 'commission') ?? textField(fields, 'totalCommission') ?? '');
  return fee === null || fee > amountKopeks ? null : fee;
}
