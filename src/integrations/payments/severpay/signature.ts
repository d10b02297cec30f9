import { createHmac } from 'node:crypto';
import { textField, type WireObject } from '../wire/json.ts';
import { isEqualHex } from '../wire/signature.ts';
import { phpJson } from './php-json.ts';

const hmac = (text: string, token: string) => createHmac('sha256', token).update(text).digest('hex');
const sorted = (fields: WireObject) =>
  Object.fromEntries(Object.entries(fields).sort(([left], [right]) => (left < right ? -1 : 1)));

/** Signature of a request (03a section 14): JSON without escapes of the fields in the order of their names, also of the numbers' text. */
export function severpaySignature(fields: WireObject, token: string): string {
  return hmac(phpJson(sorted(fields), { isEscaped: false, keepsNumbers: true }), token);
}

/**
 * Whether a callback is signed with the token. The form of the signed text is in doubt, so four are accepted in turn (03a section 14): PHP's
 * default flags in the received order (the documented one), the received text without its `sign`, the same without escapes, and sorted.
 * @param text as received
 * @param body `text` parsed
 */
export function isSeverpaySigned(text: string, body: WireObject, token: string): boolean {
  const sign = textField(body, 'sign');
  if (sign === null) return false;
  const { sign: _sign, ...fields } = body;
  const forms = [
    phpJson(fields, { isEscaped: true, keepsNumbers: false }),
    withoutSign(text, sign),
    phpJson(fields, { isEscaped: false, keepsNumbers: false }),
    phpJson(sorted(fields), { isEscaped: false, keepsNumbers: true }),
  ];
  // All are computed, so that the time does not tell which one matched.
  return forms.map((form) => form !== null && isEqualHex(sign, hmac(form, token))).includes(true);
}

/** The text with its member `sign` cut out; null when it cannot be told which one that is. */
function withoutSign(text: string, sign: string): string | null {
  if (!/^[0-9a-f]+$/i.test(sign)) return null;
  // A quote inside of a string is escaped, so the pattern matches members only; the first branch takes the comma before it.
  const member = new RegExp(`\\s*,\\s*"sign"\\s*:\\s*"${sign}"|"sign"\\s*:\\s*"${sign}"\\s*,?\\s*`, 'g');
  return text.match(member)?.length === 1 ? text.replace(member, '') : null;
}
