import type { InvoiceRequest, PaymentOutcome, PaymentReport } from '../../../domain/payments/ports.ts';
import { plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText, rublesText } from '../wire/money.ts';
import type { HeleketConnection } from './connection.ts';

/** Bounds of the provider for its URL fields, characters. */
const URL_LENGTH = { min: 6, max: 255 };

const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  process: 'pending',
  check: 'pending',
  confirm_check: 'pending',
  wrong_amount_waiting: 'pending',
  paid: 'paid',
  paid_over: 'paid',
  wrong_amount: 'underpaid',
  fail: 'failed',
  cancel: 'failed',
  system_fail: 'failed',
  locked: 'blocked',
  refund_process: 'pending',
  // The money came and went back, which `reversals` says.
  refund_paid: 'paid',
  // Money that was to go back and did not: if it was not credited before, an administrator decides.
  refund_fail: 'blocked',
};

/** Body of POST /payment (03a section 4). The provider returns the existing invoice for an order id that it knows. */
export function invoiceBody(request: InvoiceRequest, connection: HeleketConnection): string {
  const { toCurrency, network, lifetimeSeconds, markupPercent, callbackUrl } = connection;
  const { result, success } = request.returnUrls;
  return JSON.stringify({
    amount: rublesText(request.amountKopeks),
    currency: 'RUB',
    order_id: request.orderId,
    lifetime: lifetimeSeconds,
    ...(toCurrency ? { to_currency: toCurrency } : {}),
    ...(network ? { network } : {}),
    // The payer may complete an invoice that got too little; anything less than all of it is not accepted as paid.
    is_payment_multiple: true,
    accuracy_payment_percent: 0,
    ...(markupPercent === 0 ? {} : { discount_percent: -markupPercent }),
    ...urlField('url_callback', callbackUrl),
    ...urlField('url_return', result ?? connection.returnUrl),
    ...urlField('url_success', success ?? connection.successUrl),
  });
}

function urlField(name: string, url: string | null): Record<string, string> {
  return url !== null && url.length >= URL_LENGTH.min && url.length <= URL_LENGTH.max ? { [name]: url } : {};
}

/** The word for the state of an invoice: callbacks call it `status`, answers also `payment_status`. */
export function invoiceStatus(invoice: WireObject): string | null {
  return textField(invoice, 'payment_status') ?? textField(invoice, 'status');
}

/** The state of an invoice in an answer or a callback; null when it has no id, no status or no readable amount. */
export function invoiceState(invoice: WireObject): PaymentReport | null {
  const externalId = textField(invoice, 'uuid');
  const status = invoiceStatus(invoice);
  const invoiceKopeks = kopeksFromText(textField(invoice, 'amount') ?? '');
  if (externalId === null || status === null || invoiceKopeks === null) return null;
  const isRefunded = status === 'refund_paid';
  return {
    externalId,
    status,
    outcome: OUTCOMES[status] ?? 'pending',
    amountKopeks: status === 'paid_over' ? overpaidKopeks(invoice, invoiceKopeks) : invoiceKopeks,
    currency: (textField(invoice, 'currency') ?? '').toUpperCase(),
    orderId: textField(invoice, 'order_id'),
    // The wire has no time of the payment.
    paidAt: null,
    reversals: isRefunded ? [{ reversalId: `${externalId}:refund`, kind: 'refund', amountKopeks: null }] : [],
    raw: plainJson(withoutSign(invoice)),
  };
}

/** The signature is not stored with the payment. */
function withoutSign({ sign: _sign, ...invoice }: WireObject): WireObject {
  return invoice;
}

/**
 * What was paid for an invoice that got too much. `amount` is always that of the invoice; what came is known in crypto currency only, so
 * that the rubles are its share of what was asked, and one kopek more than the invoice at least.
 */
function overpaidKopeks(invoice: WireObject, invoiceKopeks: number): number {
  const paid = unitsFromText(textField(invoice, 'payment_amount'));
  const asked = unitsFromText(textField(invoice, 'payer_amount'));
  const kopeks = paid === null || !asked ? 0 : Number((BigInt(invoiceKopeks) * paid) / asked);
  return Math.max(Number.isSafeInteger(kopeks) ? kopeks : 0, invoiceKopeks + 1);
}

const UNIT_DIGITS = 18;

/** A decimal of crypto currency in units of 10^-18; null for anything else. */
function unitsFromText(text: string | null): bigint | null {
  const match = /^(\d{1,18})(?:\.(\d{1,18}))?$/.exec(text ?? '');
  return match ? BigInt(match[1]! + (match[2] ?? '').padEnd(UNIT_DIGITS, '0')) : null;
}
