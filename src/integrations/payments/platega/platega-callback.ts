import type { CallbackVerdict, ProviderCallback } from '../../../domain/payments/ports.ts';
import { utf8Text } from '../wire/form.ts';
import { parseWireObject, textField } from '../wire/json.ts';
import { answerOtherMethods, OK, problem, refused } from '../wire/replies.ts';
import { isEqualText } from '../wire/signature.ts';
import type { PlategaConnection } from './connection.ts';
import { orderIdOf } from './transaction-wire.ts';

export const MERCHANT_HEADER = 'x-merchantid';
export const SECRET_HEADER = 'x-secret';
const ID = /^[\w-]{1,64}$/;

/**
 * Verifies a callback (03a section 8): two headers with our credentials, nothing is signed. An accepted one only causes a question to the API.
 * Events of subscriptions have other field names and are acknowledged without being stored.
 */
export function receivePlategaCallback(callback: ProviderCallback, connection: PlategaConnection | null): CallbackVerdict {
  const options = { provider: 'platega', isConfigured: connection !== null, answersGet: true, answersOptions: false };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const { [MERCHANT_HEADER]: merchantId, [SECRET_HEADER]: secret } = callback.headers;
  const text = utf8Text(callback.rawBody);
  // The provider tries the address this way when it is entered.
  if (!merchantId && !secret && text?.trim() === '') return refused(OK);
  if (!hasCredentials(merchantId, secret, connection)) return problem(401, 'unauthorized');

  const body = parseWireObject(text ?? '');
  if (!body) return problem(400, 'invalid_json');
  const externalId = textField(body, 'id');
  if (externalId === null || !ID.test(externalId)) return refused(OK);
  const reference = { externalId, orderId: orderIdOf(textField(body, 'payload')) };
  return { accepted: true, reference, eventKey: `${externalId}:${textField(body, 'status') ?? ''}`, reply: OK };
}

/** Both are compared, whatever the first comparison says, so that the time tells nothing. */
function hasCredentials(merchantId = '', secret = '', connection: PlategaConnection): boolean {
  const isMerchant = isEqualText(merchantId.toLowerCase(), connection.merchantId.toLowerCase());
  const isSecret = isEqualText(secret, connection.secret);
  return isMerchant && isSecret;
}
