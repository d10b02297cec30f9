import { createHash } from 'node:crypto';
import { stringify } from 'lossless-json';
import { cutMember } from '../wire/cut-member.ts';
import { textField, type WireObject } from '../wire/json.ts';
import { isEqualHex } from '../wire/signature.ts';

const SIGN = 'sign';

/** The signature of a text: lower-case hex of MD5 over its base64 and the payment key. Without a body the empty text is signed. */
export function heleketSignature(text: string, apiKey: string): string {
  return createHash('md5')
    .update(Buffer.from(text).toString('base64') + apiKey)
    .digest('hex');
}

/**
 * Whether the `sign` of a callback is that of its other members (03a section 4). The text as received without the signature is what the
 * provider signed; a body whose slashes were not escaped on the way is written again as the provider's PHP does.
 * @param text the body as received
 * @param body the same, parsed
 */
export function isSigned(text: string, body: WireObject, apiKey: string): boolean {
  const received = textField(body, SIGN) ?? '';
  const rest = cutMember(text, SIGN);
  if (rest !== null && isEqualHex(received, heleketSignature(rest, apiKey))) return true;
  const { [SIGN]: _sign, ...others } = body;
  return isEqualHex(received, heleketSignature(phpJson(others), apiKey));
}

/** JSON as PHP writes it with JSON_UNESCAPED_UNICODE: slashes and the two Unicode line separators are escaped. */
function phpJson(object: WireObject): string {
  return (stringify(object) ?? '').replaceAll('/', '\\/').replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}
