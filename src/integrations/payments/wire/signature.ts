import { timingSafeEqual } from 'node:crypto';

/** Compares two texts in constant time (spec 03 H18). Texts of different lengths differ. */
export function isEqualText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Compares hexadecimal signatures in constant time, in any case of letters; another text is never equal. */
export function isEqualHex(received: string, expected: string): boolean {
  return /^[0-9a-f]+$/i.test(received) && isEqualText(received.toLowerCase(), expected.toLowerCase());
}

/** Compares base64 signatures in constant time, strictly decoded: no other text of the same bytes is equal. */
export function isEqualBase64(received: string, expected: Buffer): boolean {
  const bytes = Buffer.from(received, 'base64');
  return bytes.toString('base64') === received && bytes.length === expected.length && timingSafeEqual(bytes, expected);
}
