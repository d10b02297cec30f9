import { createHash } from 'node:crypto';
import { isLosslessNumber } from 'lossless-json';
import type { WireObject } from '../wire/json.ts';

/** Lower-case hex of SHA-1 over the texts, the secret last, with nothing between them. */
function sha1(...texts: readonly (string | Buffer)[]): string {
  const hash = createHash('sha1');
  for (const text of texts) hash.update(text);
  return hash.digest('hex');
}

/** Signature of a request to create a payment. @param amount as in the body, two decimals */
export function createSignature(amount: string, { shopId, secretKey }: { shopId: number; secretKey: string }): string {
  return sha1('rub', amount, String(shopId), secretKey);
}

/** The `sign` of a callback: over the values of its other members, in their order, numbers as received. */
export function bodySignature(body: WireObject, secretKey: string): string {
  const values = Object.entries(body).flatMap(([name, value]) => (name === 'sign' ? [] : [textOf(value)]));
  return sha1(...values, secretKey);
}

/** The X-Signature of a callback: over its bytes. */
export function headerSignature(rawBody: Buffer, secretKey: string): string {
  return sha1(rawBody, secretKey);
}

/** A value as PHP joins it. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (isLosslessNumber(value)) return value.toString();
  return value === true ? '1' : '';
}
