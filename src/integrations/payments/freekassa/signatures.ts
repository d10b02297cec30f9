import { createHash, createHmac } from 'node:crypto';

const md5 = (parts: readonly string[]) => createHash('md5').update(parts.join(':')).digest('hex');

/**
 * Signature of a request to the API (03a section 10): the values of all other fields as they are in the JSON, in the order of their names.
 * Lower-case hex of an HMAC-SHA-256.
 */
export function orderSignature(fields: Readonly<Record<string, unknown>>, apiKey: string): string {
  const text = Object.keys(fields)
    .sort()
    .map((name) => String(fields[name]))
    .join('|');
  return createHmac('sha256', apiKey).update(text).digest('hex');
}

/** Signature of the address of the payment form. @param amount as it is in the address */
export function formSignature(form: {
  shopId: string;
  amount: string;
  word1: string;
  currency: string;
  orderId: string;
}): string {
  return md5([form.shopId, form.amount, form.word1, form.currency, form.orderId]);
}

/** Signature of a notification. @param amount as it was received: `100.00` and `100` are signed differently */
export function notificationSignature(paid: { merchantId: string; amount: string; word2: string; orderId: string }): string {
  return md5([paid.merchantId, paid.amount, paid.word2, paid.orderId]);
}
