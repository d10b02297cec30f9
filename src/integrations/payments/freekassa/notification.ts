import type { CallbackReply, CallbackVerdict, PaymentReport, ProviderCallback } from '../../../domain/payments/ports.ts';
import { isInNetworks, resolveClientAddress } from '../wire/client-address.ts';
import { parseWireForm, utf8Text } from '../wire/form.ts';
import { kopeksFromText } from '../wire/money.ts';
import { answerOtherMethods, refused, textReply } from '../wire/replies.ts';
import { isEqualHex, isEqualText } from '../wire/signature.ts';
import { notificationSignature } from './signatures.ts';

/** What verifies the notifications of a shop, which Freekassa and Kassa.ai send alike. */
export interface NotificationRules {
  shopId: string;
  word2: string;
  /** Where they may come from; null = anywhere. */
  senders: { networks: readonly string[]; proxies: readonly string[] } | null;
}

/** A notification as its form has it. */
interface Notification {
  merchantId: string;
  /** As received. */
  amount: string;
  orderId: string;
  signature: string;
  /** The provider's id of the payment; not signed. */
  paymentId: string | null;
}

const YES: CallbackReply = textReply(200, 'YES');
const ORDER_ID = /^[\x21-\x7e]{1,128}$/;
const PAYMENT_ID = /^[\w-]{1,64}$/;

const refusal = (status: number): CallbackVerdict => refused(textReply(status, 'Error'));

/**
 * Verifies a notification (03a sections 10 and 11). Merchant, amount and order are signed, and nothing else: neither the currency nor the
 * provider's id, so only our order id identifies the payment.
 * @param rules null = not configured
 */
export function receiveNotification(
  callback: ProviderCallback,
  rules: NotificationRules | null,
  options: { provider: string; answersOptions: boolean },
): CallbackVerdict {
  if (callback.method !== 'POST') {
    // The shop of the provider can be set to GET, which is not supported: it must not look as if it were.
    if (callback.query.SIGN !== undefined) return refusal(405);
    const other = answerOtherMethods(callback, { ...options, isConfigured: rules !== null, answersGet: true });
    return other ?? refusal(405);
  }
  if (!rules) return refusal(503);
  if (rules.senders) {
    const address = resolveClientAddress(callback.ip, callback.headers, rules.senders.proxies);
    if (address === null || !isInNetworks(address, rules.senders.networks)) return refusal(403);
  }
  const notification = parseNotification(utf8Text(callback.rawBody));
  if (!notification || !isEqualText(notification.merchantId, rules.shopId)) return refusal(400);
  const { orderId, paymentId, signature } = notification;
  if (!isEqualHex(signature, notificationSignature({ ...notification, word2: rules.word2 }))) return refusal(400);
  // Of the provider's own id, which is not signed, nothing is used but to tell notifications apart.
  return { accepted: true, reference: { externalId: null, orderId }, eventKey: `${orderId}:${paymentId ?? ''}`, reply: YES };
}

/** @returns null when a field is missing or cannot be read */
function parseNotification(text: string | null): Notification | null {
  const fields = text === null ? null : parseWireForm(text);
  const [merchantId, amount] = [fields?.get('MERCHANT_ID'), fields?.get('AMOUNT')];
  const [orderId, signature] = [fields?.get('MERCHANT_ORDER_ID'), fields?.get('SIGN')];
  const paymentId = fields?.get('intid') || null;
  if (merchantId === undefined || amount === undefined || orderId === undefined || signature === undefined) return null;
  if (kopeksFromText(amount) === null || !ORDER_ID.test(orderId) || (paymentId !== null && !PAYMENT_ID.test(paymentId)))
    return null;
  return { merchantId, amount, orderId, signature, paymentId };
}

/**
 * What a verified notification says; its signature covers no currency and no id of the provider.
 * @param currency of the shop, since notifications have none
 */
export function notifiedState(body: string, currency: string): PaymentReport | null {
  const notification = parseNotification(body);
  if (!notification) return null;
  const { amount, orderId, paymentId } = notification;
  return {
    externalId: null,
    isUnconfirmed: true,
    status: 'success',
    outcome: 'paid',
    amountKopeks: kopeksFromText(amount)!,
    currency,
    orderId,
    paidAt: null,
    chargeId: paymentId ?? orderId,
    raw: { orderId, amount, paymentId },
  };
}
