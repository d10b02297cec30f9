import { timingSafeEqual } from 'node:crypto';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Bytes as UTF-8 text; null when they are not (03a section 0.8). */
export function utf8Text(bytes: Buffer): string | null {
  try {
    return decoder.decode(bytes);
  } catch {
    return null;
  }
}

/**
 * The fields of a form body.
 * @returns null when a field is repeated or an escape is not UTF-8: two parsers may read such a body differently
 */
export function parseWireForm(text: string): ReadonlyMap<string, string> | null {
  const fields = new Map<string, string>();
  for (const part of text.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = decoded(at < 0 ? part : part.slice(0, at));
    const value = decoded(at < 0 ? '' : part.slice(at + 1));
    if (name === null || value === null || fields.has(name)) return null;
    fields.set(name, value);
  }
  return fields;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

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
