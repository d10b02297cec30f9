import type { InvoiceRequest, PaymentOutcome, PaymentReport } from '../../../domain/payments/ports.ts';
import { objectsField, plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText, shortRublesText } from '../wire/money.ts';
import { payerContact } from '../wire/payer.ts';
import { wireNumber } from '../wire/write-json.ts';

/** Status numbers of POST /orders with our words for them; another number changes nothing. */
const STATUSES: Readonly<Record<string, { word: string; outcome: PaymentOutcome }>> = {
  0: { word: 'pending', outcome: 'pending' },
  1: { word: 'success', outcome: 'paid' },
  6: { word: 'refunded', outcome: 'paid' },
  8: { word: 'error', outcome: 'failed' },
  9: { word: 'canceled', outcome: 'failed' },
};
/** Status of an order whose money has come, and of one that was refunded. */
export const PAID = '1';
export const REFUNDED = '6';
const OPEN = '0';
/** Which of several orders of one order id says how the payment is: paid before refunded, before open, before failed. */
const PRECEDENCE = [PAID, REFUNDED, OPEN, '9', '8'];

/** Payment system ids of the sub-options through the API. */
export const API_SYSTEMS: Readonly<Record<string, string>> = { sbp: '44', card: '36' };

/** Fields of POST /orders/create besides shop, nonce and signature. @param failureField name of the field for the address after a failure */
export function orderFields(
  request: InvoiceRequest,
  order: { system: string; ip: string; currency: string; failureField: 'failure_url' | 'fail_url' },
): Record<string, unknown> {
  const { success, failed } = request.returnUrls;
  return {
    paymentId: request.orderId,
    i: wireNumber(order.system),
    email: payerContact(request),
    ip: order.ip,
    // The text of the number is what is signed, so it has no zeros at its end.
    amount: wireNumber(shortRublesText(request.amountKopeks)),
    currency: order.currency,
    ...(success === null ? {} : { success_url: success }),
    ...(failed === null ? {} : { [order.failureField]: failed }),
  };
}

/** The orders of an answer of POST /orders that have our order id. A payer who tries again may leave several. */
export function ordersOf(answer: WireObject, orderId: string): WireObject[] {
  return objectsField(answer, 'orders').filter((order) => textField(order, 'merchant_order_id') === orderId);
}

/**
 * What the orders of one order id say. Each is a charge of its own: every one whose money came is reported, also where it went back, so that the
 * refund of the credited one is seen whichever others there are (spec 10 M9). They are found by our order id alone.
 * @returns null when there is none, or one cannot be read
 */
export function orderReport(orders: readonly WireObject[]): PaymentReport | null {
  const reports = orders.toSorted(byWeight).map(reportOf);
  const [first, ...rest] = reports;
  if (!first || reports.includes(null)) return null;
  return { ...first, others: rest.filter((report) => report?.outcome === 'paid').filter((report) => report !== null) };
}

function reportOf(order: WireObject): PaymentReport | null {
  const chargeId = textField(order, 'fk_order_id');
  const status = textField(order, 'status') ?? '';
  const amountKopeks = kopeksFromText(textField(order, 'amount') ?? '');
  const currency = textField(order, 'currency');
  if (chargeId === null || amountKopeks === null || currency === null) return null;
  const { word, outcome } = STATUSES[status] ?? { word: 'pending', outcome: 'pending' };
  return {
    externalId: null,
    status: word,
    outcome,
    amountKopeks,
    currency: currency.toUpperCase(),
    orderId: textField(order, 'merchant_order_id'),
    // The date of an order has no time zone, and is not that of the payment.
    paidAt: null,
    chargeId: outcome === 'paid' ? chargeId : null,
    // The provider gives refunds no id, and refunds whole orders only.
    reversals: status === REFUNDED ? [{ reversalId: refundIdOf(chargeId), kind: 'refund', amountKopeks: null }] : [],
    raw: plainJson(order),
  };
}

/** Id of the refund of an order. */
export function refundIdOf(fkOrderId: string): string {
  return `${fkOrderId}:refund`;
}

/** Of two paid orders the earlier one comes first: the later one is a second payment. */
function byWeight(left: WireObject, right: WireObject): number {
  const weight = (order: WireObject) => {
    const known = PRECEDENCE.indexOf(textField(order, 'status') ?? '');
    return known < 0 ? PRECEDENCE.indexOf(OPEN) : known;
  };
  const id = (order: WireObject) => (textField(order, 'fk_order_id') ?? '').padStart(20, '0');
  return weight(left) - weight(right) || (id(left) < id(right) ? -1 : 1);
}
