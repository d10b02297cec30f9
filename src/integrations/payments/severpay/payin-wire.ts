import type { InvoiceRequest, PaymentOutcome, PaymentReport } from '../../../domain/payments/ports.ts';
import { plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText, shortRublesText } from '../wire/money.ts';
import { payerContact } from '../wire/payer.ts';
import { wireNumber } from '../wire/write-json.ts';
import type { SeverpayConnection } from './connection.ts';

const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  new: 'pending',
  process: 'pending',
  success: 'paid',
  decline: 'failed',
  fail: 'failed',
};

/** Fields of POST /payin/create besides merchant, salt and signature (03a section 14). */
export function payinFields(request: InvoiceRequest, connection: SeverpayConnection): Record<string, unknown> {
  const returnUrl = request.returnUrls.result ?? connection.returnUrl;
  return {
    order_id: request.orderId,
    // PHP drops zeros at the end of a number before it signs it.
    amount: wireNumber(shortRublesText(request.amountKopeks)),
    currency: connection.currency,
    client_email: payerContact(request),
    client_id: String(request.metadata.user_id ?? request.orderId),
    ...(returnUrl === null ? {} : { url_return: returnUrl }),
    lifetime: wireNumber(String(connection.lifetimeMinutes)),
  };
}

/** The state in the `data` of /payin/get; null when something that decides about money is missing. */
export function payinState(data: WireObject): PaymentReport | null {
  const externalId = textField(data, 'id');
  const status = textField(data, 'status');
  const currency = textField(data, 'currency');
  const orderId = textField(data, 'order_id');
  const amountKopeks = kopeksFromText(textField(data, 'amount') ?? '');
  if (externalId === null || status === null || currency === null || orderId === null || amountKopeks === null) return null;
  return {
    externalId,
    status,
    outcome: OUTCOMES[status] ?? 'pending',
    amountKopeks,
    currency: currency.toUpperCase(),
    orderId,
    // The provider tells no time of the payment.
    paidAt: null,
    merchantId: textField(data, 'mid'),
    raw: plainJson(data),
  };
}
