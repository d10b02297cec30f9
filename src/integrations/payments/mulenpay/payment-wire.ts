import type { InvoiceRequest, PaymentOutcome, PaymentReport } from '../../../domain/payments/ports.ts';
import { plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText, rublesText } from '../wire/money.ts';
import type { MulenpayConnection } from './connection.ts';
import { createSignature } from './signatures.ts';

const MAX_ITEM_DESCRIPTION = 128;

/** The provider's numbers; the words are those that clients know (spec 03 section 2.1). */
const STATUSES: Readonly<Record<string, { word: string; outcome: PaymentOutcome }>> = {
  '0': { word: 'created', outcome: 'pending' },
  '1': { word: 'processing', outcome: 'pending' },
  '2': { word: 'canceled', outcome: 'failed' },
  '3': { word: 'success', outcome: 'paid' },
  '4': { word: 'error', outcome: 'failed' },
  // The money is held and not paid.
  '5': { word: 'hold', outcome: 'pending' },
  '6': { word: 'hold', outcome: 'pending' },
};

/** Body of POST /v2/payments (03a section 6), with a receipt of one item that has the whole amount. */
export function paymentBody(request: InvoiceRequest, connection: MulenpayConnection): string {
  const { language, shopId, vatCode, paymentSubject, paymentMode, websiteUrl } = connection;
  const amount = rublesText(request.amountKopeks);
  return JSON.stringify({
    currency: 'rub',
    amount,
    uuid: request.orderId,
    shopId,
    description: request.description,
    language,
    ...(websiteUrl ? { website_url: websiteUrl } : {}),
    items: [
      {
        description: request.description.slice(0, MAX_ITEM_DESCRIPTION),
        quantity: 1,
        price: Number(amount),
        vat_code: vatCode,
        payment_subject: paymentSubject,
        payment_mode: paymentMode,
      },
    ],
    sign: createSignature(amount, connection),
  });
}

/** The state of a payment in an answer; null when it has no id, no order, no status or no readable amount. */
export function paymentState(payment: WireObject): PaymentReport | null {
  const externalId = textField(payment, 'id');
  const orderId = textField(payment, 'uuid');
  const status = textField(payment, 'status');
  const amountKopeks = kopeksFromText(textField(payment, 'amount') ?? '');
  if (externalId === null || orderId === null || status === null || amountKopeks === null) return null;
  const known = STATUSES[status];
  return {
    externalId,
    status: known?.word ?? 'unknown',
    outcome: known?.outcome ?? 'pending',
    amountKopeks,
    currency: (textField(payment, 'currency') ?? '').toUpperCase(),
    orderId,
    // The wire has no time of the payment.
    paidAt: null,
    raw: plainJson(payment),
  };
}
