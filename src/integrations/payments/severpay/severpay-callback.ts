import type { CallbackVerdict, ProviderCallback } from '../../../domain/payments/ports.ts';
import { isInNetworks, resolveClientAddress } from '../wire/client-address.ts';
import { utf8Text } from '../wire/form.ts';
import { objectField, parseWireObject, textField } from '../wire/json.ts';
import { answerOtherMethods, jsonReply, problem, refused } from '../wire/replies.ts';
import type { SeverpayConnection } from './connection.ts';
import { isSeverpaySigned } from './signature.ts';

/** Ends the provider's up to 100 attempts; it must be JSON. */
const ACKNOWLEDGED = jsonReply(200, { status: true });
const refusal = (status: number): CallbackVerdict => refused(jsonReply(status, { status: false }));
const PAYIN_ID = /^\d{1,20}$/;
const WORD = /^\w{1,40}$/;

/** Verifies a callback (03a section 14). It only names the invoice to ask about: which form of the signature is the right one is in doubt. */
export function receiveSeverpayCallback(callback: ProviderCallback, connection: SeverpayConnection | null): CallbackVerdict {
  const options = { provider: 'severpay', isConfigured: connection !== null, answersGet: true, answersOptions: false };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');
  if (connection.allowedNetworks.length > 0) {
    const address = resolveClientAddress(callback.ip, callback.headers, connection.proxies);
    if (address === null || !isInNetworks(address, connection.allowedNetworks)) return refusal(403);
  }
  const text = utf8Text(callback.rawBody);
  const body = text === null ? null : parseWireObject(text);
  if (text === null || !body) return refusal(400);
  if (!isSeverpaySigned(text, body, connection.token)) return refusal(403);
  // The test button of the provider's cabinet, payouts and whatever is new.
  if (textField(body, 'type') !== 'payin') return refused(ACKNOWLEDGED);
  const data = objectField(body, 'data');
  const externalId = textField(data, 'id') ?? '';
  const status = textField(data, 'status') ?? '';
  if (!PAYIN_ID.test(externalId) || !WORD.test(status)) return refusal(400);
  // By the provider's id alone: the answer about it says which order it is of, and another invoice with our order id shows as that.
  return { accepted: true, reference: { externalId, orderId: null }, eventKey: `${externalId}:${status}`, reply: ACKNOWLEDGED };
}
