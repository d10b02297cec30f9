import type { InvoiceRequest, PaymentOutcome, PaymentReport, ProviderReversal } from '../../../domain/payments/ports.ts';
import { dateField, isTrue, plainJson, textField, type WireObject } from '../wire/json.ts';
import { kopeksFromText, rublesText } from '../wire/money.ts';
import type { RiopayConnection } from './connection.ts';

const MAX_PURPOSE = 255;
const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  CREATED: 'pending',
  PENDING: 'pending',
  COMPLETED: 'paid',
  FAILED: 'failed',
  CANCELED: 'failed',
  EXPIRED: 'failed',
  BLOCKED: 'blocked',
  REFUND: 'failed',
  CHARGEBACK: 'failed',
};
const REVERSALS: Readonly<Record<string, ProviderReversal['kind']>> = { REFUND: 'refund', CHARGEBACK: 'chargeback' };

/** Body of PUT /v1/orders. The fee is said to be ours, since otherwise the payer may pay another sum (03a section 13). */
export function orderBody(request: InvoiceRequest, connection: RiopayConnection): string {
  const { amountKopeks, orderId, description, returnUrls, metadata } = request;
  const successUrl = returnUrls.success ?? returnUrls.result ?? connection.successUrl;
  const failUrl = returnUrls.failed ?? returnUrls.result ?? connection.failUrl;
  return JSON.stringify({
    amount: rublesText(amountKopeks),
    currency: 'RUB',
    externalId: orderId,
    ...(metadata.user_id == null ? {} : { externalUserId: String(metadata.user_id) }),
    isFeeOnUser: false,
    purpose: description.slice(0, MAX_PURPOSE),
    ...(successUrl ? { successUrl } : {}),
    ...(failUrl ? { failUrl } : {}),
    ...(connection.callbackUrl ? { callbackUrl: connection.callbackUrl } : {}),
  });
}

/** The merchant and its shop; null where an answer or a callback does not name both. */
export function merchantOf(order: WireObject): string | null {
  const [merchantId, shopId] = [textField(order, 'merchantId'), textField(order, 'shopId')];
  return merchantId !== null && shopId !== null ? `${merchantId}/${shopId}` : null;
}

/** The state of an order of the wire; null when it has no id, status, readable amount or currency. */
export function orderState(order: WireObject): PaymentReport | null {
  const externalId = textField(order, 'id');
  const status = textField(order, 'status');
  const currency = textField(order, 'currency');
  const amountKopeks = kopeksFromText(textField(order, 'amount') ?? '');
  if (externalId === null || status === null || currency === null || amountKopeks === null) return null;
  const outcome = OUTCOMES[status] ?? 'pending';
  const kind = REVERSALS[status];
  return {
    externalId,
    status,
    outcome,
    amountKopeks,
    currency: currency.toUpperCase(),
    orderId: textField(order, 'externalId'),
    // The provider's spelling.
    paidAt: outcome === 'paid' ? dateField(order, 'payedAt') : null,
    merchantId: merchantOf(order),
    isTest: isTrue(order, 'isTest'),
    reversals: kind ? [{ reversalId: reversalIdOf(externalId, kind), kind, amountKopeks: null }] : [],
    feeKopeks: outcome === 'paid' ? feeOf(order, amountKopeks) : null,
    raw: plainJson(order),
  };
}

/** An order is reversed as a whole, at most once of each kind. */
export function reversalIdOf(orderId: string, kind: ProviderReversal['kind']): string {
  return `${orderId}:${kind}`;
}

/** The difference to what the shop gets; null while the provider does not say it. */
function feeOf(order: WireObject, amountKopeks: number): number | null {
  const received = kopeksFromText(textField(order, 'received') ?? '');
  return received === null || received === 0 || received > amountKopeks ? null : amountKopeks - received;
}

/** Whether a body is about another thing than an order of a payer, for example a refund, which names the order that it is about. */
export function namesAnotherOrder(body: WireObject): boolean {
  return textField(body, 'orderId') !== null;
}
