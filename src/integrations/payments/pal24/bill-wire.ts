import type { InvoiceRequest, PaymentOutcome, PaymentReport } from '../../../domain/payments/ports.ts';
import { objectsField, plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText, rublesText } from '../wire/money.ts';
import type { Pal24Connection } from './connection.ts';

const OVERPAID = 'OVERPAID';
const PAID_STATUSES = new Set(['SUCCESS', OVERPAID]);

/** Every other word, also PAID and CANCELLED, for which nothing but another shop's code is evidence, changes nothing. */
const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  SUCCESS: 'paid',
  [OVERPAID]: 'paid',
  // The bill stays open, but the provider has some of the money.
  UNDERPAID: 'underpaid',
  FAIL: 'failed',
};

/** Form of POST bill/create (03a section 7). `custom` comes back as it is sent; the provider documents a text. */
export function billForm(request: InvoiceRequest, { shopId }: Pal24Connection): string {
  const { orderId, payerEmail } = request;
  return new URLSearchParams({
    amount: rublesText(request.amountKopeks),
    shop_id: shopId,
    order_id: orderId,
    description: request.description,
    // A bill of the type `multi` can be paid again and again.
    type: 'normal',
    currency_in: 'RUB',
    custom: orderId,
    payment_method: request.option === 'card' ? 'BANK_CARD' : 'SBP',
    ...(payerEmail ? { payer_email: payerEmail } : {}),
  }).toString();
}

/** The state of a bill in the answer of bill/status; null when it has no status or no readable amount. */
export function billState(bill: WireObject, billId: string): PaymentReport | null {
  const status = textField(bill, 'status');
  const amountKopeks = kopeksFromText(textField(bill, 'amount') ?? '');
  if (status === null || amountKopeks === null) return null;
  return {
    externalId: textField(bill, 'id') ?? billId,
    status,
    outcome: OUTCOMES[status.toUpperCase()] ?? 'pending',
    amountKopeks,
    currency: (textField(bill, 'currency_in') ?? '').toUpperCase(),
    orderId: textField(bill, 'order_id'),
    // The wire has no time of the payment.
    paidAt: null,
    merchantId: textField(bill, 'shop_id'),
    raw: plainJson(bill),
  };
}

export function isOverpaid({ status }: PaymentReport): boolean {
  return status.toUpperCase() === OVERPAID;
}

/** The sum of a bill's payments in the answer of bill/payments, kopeks; an amount that cannot be read counts as nothing. */
export function paidKopeks(payments: WireObject): number {
  const paid = objectsField(payments, 'data').filter((payment) =>
    PAID_STATUSES.has((textField(payment, 'status') ?? '').toUpperCase()),
  );
  return paid.reduce((sum, payment) => sum + (kopeksFromText(textField(payment, 'amount') ?? '') ?? 0), 0);
}
