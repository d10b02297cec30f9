import type {
  InvoiceRequest,
  PaymentOutcome,
  PaymentReport,
  ProviderReversal,
  ProviderSavedMethod,
  SavedMethodCharge,
} from '../../../domain/payments/ports.ts';
import {
  dateField,
  isTrue,
  objectField,
  objectsField,
  parseWireObject,
  plainJson,
  textField,
  type WireObject,
} from '../wire/json.ts';
import { kopeksFromText, rublesText } from '../wire/money.ts';
import type { YookassaConnection } from './yookassa-provider.ts';

/** Metadata key of our order id. */
const ORDER_ID_KEY = 'order_id';
const MAX_DESCRIPTION = 128;
const MAX_METADATA_KEYS = 16;
/** Reasons of a cancellation after which a saved method is not charged again (03a section 5). */
const GONE_REASONS: ReadonlySet<string> = new Set(['permission_revoked', 'card_expired']);

/** Body of POST /payments (spec 03 section 2.5). `receiptEmail` is the contact for the receipt. */
export function paymentBody(
  request: InvoiceRequest,
  connection: YookassaConnection,
  receiptEmail: string,
  returnUrl: string,
): string {
  const amount = { value: rublesText(request.amountKopeks), currency: 'RUB' };
  const description = request.description.slice(0, MAX_DESCRIPTION);
  const sbp = request.option === 'sbp';
  return JSON.stringify({
    amount,
    capture: true,
    confirmation: { type: 'redirect', return_url: returnUrl },
    description,
    metadata: metadataOf(request),
    receipt: receipt(amount, description, connection, receiptEmail),
    ...(sbp ? { payment_method_data: { type: 'sbp' } } : {}),
    ...(!sbp && connection.saveCard ? { save_payment_method: true } : {}),
  });
}

/** Body of POST /payments that charges a saved method without the payer (03a section 5). */
export function chargeBody(charge: SavedMethodCharge, connection: YookassaConnection, receiptEmail: string): string {
  const amount = { value: rublesText(charge.amountKopeks), currency: 'RUB' };
  const description = charge.description.slice(0, MAX_DESCRIPTION);
  return JSON.stringify({
    amount,
    capture: true,
    payment_method_id: charge.providerMethodId,
    description,
    metadata: metadataOf(charge),
    receipt: receipt(amount, description, connection, receiptEmail),
  });
}

function metadataOf({ orderId, metadata }: Pick<InvoiceRequest, 'orderId' | 'metadata'>): Record<string, string> {
  const known = Object.entries(metadata).flatMap(([key, value]) => (value === null ? [] : [[key, String(value).slice(0, 512)]]));
  return Object.fromEntries([[ORDER_ID_KEY, orderId], ...known].slice(0, MAX_METADATA_KEYS));
}

/** Body of POST /refunds; the receipt of the return is the provider's own. */
export function refundBody(paymentId: string, amountKopeks: number): string {
  return JSON.stringify({ payment_id: paymentId, amount: { value: rublesText(amountKopeks), currency: 'RUB' } });
}

/** The receipt of one service, whose item has the whole amount. */
function receipt(
  amount: { value: string; currency: string },
  description: string,
  connection: YookassaConnection,
  receiptEmail: string,
) {
  return {
    customer: { email: receiptEmail },
    items: [
      {
        description,
        quantity: '1.00',
        amount,
        vat_code: connection.vatCode,
        payment_mode: connection.paymentMode,
        payment_subject: connection.paymentSubject,
      },
    ],
  };
}

/** The payment in an answer, or null for another text. */
export function parsePayment(text: string): WireObject | null {
  const payment = parseWireObject(text);
  const amount = objectField(payment, 'amount');
  const isPayment = [
    textField(payment, 'id'),
    textField(payment, 'status'),
    textField(amount, 'value'),
    textField(amount, 'currency'),
  ];
  return isPayment.includes(null) ? null : payment;
}

/** The refunds in the answer to GET /refunds; those that the provider has not carried out are left out. */
export function parseRefunds(answer: WireObject): ProviderReversal[] {
  return objectsField(answer, 'items').flatMap((refund) => {
    const reversalId = textField(refund, 'id');
    const amountKopeks = kopeksFromText(textField(objectField(refund, 'amount'), 'value') ?? '');
    const isDone = textField(refund, 'status') === 'succeeded' && reversalId !== null && amountKopeks !== null;
    return isDone ? [{ reversalId, kind: 'refund' as const, amountKopeks }] : [];
  });
}

/** Whether some of a payment was given back, so that its refunds are to be read. */
export function isRefunded(payment: WireObject): boolean {
  return (kopeksFromText(textField(objectField(payment, 'refunded_amount'), 'value') ?? '') ?? 0) > 0;
}

/** Held money (`waiting_for_capture`) is not paid. */
function outcomeOf(payment: WireObject): PaymentOutcome {
  const status = textField(payment, 'status');
  if (status === 'canceled') return 'failed';
  return status === 'succeeded' && isTrue(payment, 'paid') ? 'paid' : 'pending';
}

/** The state for the domain; null when the amount is not a decimal. */
export function paymentState(
  payment: WireObject,
  connection: YookassaConnection,
  reversals: readonly ProviderReversal[],
): PaymentReport | null {
  const amount = objectField(payment, 'amount');
  const amountKopeks = kopeksFromText(textField(amount, 'value') ?? '');
  if (amountKopeks === null) return null;
  const outcome = outcomeOf(payment);
  const reason = textField(objectField(payment, 'cancellation_details'), 'reason');
  return {
    externalId: textField(payment, 'id')!,
    status: textField(payment, 'status')!,
    outcome,
    amountKopeks,
    currency: textField(amount, 'currency')!.toUpperCase(),
    orderId: textField(objectField(payment, 'metadata'), ORDER_ID_KEY),
    paidAt: outcome === 'paid' ? (dateField(payment, 'captured_at') ?? dateField(payment, 'created_at')) : null,
    merchantId: textField(objectField(payment, 'recipient'), 'account_id'),
    isTest: isTrue(payment, 'test') && !connection.isTestShop,
    reversals,
    feeKopeks: feeOf(payment, amountKopeks),
    savedMethod: savedMethodOf(payment),
    failureReason: reason,
    isMethodGone: reason !== null && GONE_REASONS.has(reason),
    raw: plainJson(payment),
  };
}

/** The difference to what the shop gets; null while the provider does not say it. */
function feeOf(payment: WireObject, amountKopeks: number): number | null {
  const incomeKopeks = kopeksFromText(textField(objectField(payment, 'income_amount'), 'value') ?? '');
  return incomeKopeks === null || incomeKopeks > amountKopeks ? null : amountKopeks - incomeKopeks;
}

/** The payer's card or account, where the provider keeps it for further charges (03a section 5). */
function savedMethodOf(payment: WireObject): ProviderSavedMethod | null {
  const method = objectField(payment, 'payment_method');
  const providerMethodId = textField(method, 'id');
  if (!method || providerMethodId === null || !isTrue(method, 'saved')) return null;
  const card = objectField(method, 'card');
  const last4 = textField(card, 'last4');
  return {
    providerMethodId,
    methodType: textField(method, 'type') ?? 'bank_card',
    title: textField(method, 'title'),
    card:
      last4 === null
        ? null
        : {
            last4,
            first6: textField(card, 'first6'),
            type: textField(card, 'card_type'),
            expiryMonth: textField(card, 'expiry_month'),
            expiryYear: textField(card, 'expiry_year'),
          },
  };
}
