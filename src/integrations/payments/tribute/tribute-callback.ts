import { createHmac } from 'node:crypto';
import type { CallbackVerdict, ProviderCallback } from '../../../domain/payments/ports.ts';
import { utf8Text } from '../wire/form.ts';
import { parseWireObject, textField } from '../wire/json.ts';
import { answerOtherMethods, OK, problem } from '../wire/replies.ts';
import { isEqualBase64, isEqualHex } from '../wire/signature.ts';
import type { TributeConnection } from './connection.ts';
import { donationState, isDonation } from './donation-wire.ts';

const SIGNATURE_HEADER = 'trbt-signature';
const MAX_NAME = 64;

/** HMAC-SHA-256 over the body as received, with the API key. */
export function tributeSignature(body: Buffer, apiKey: string): Buffer {
  return createHmac('sha256', apiKey).update(body).digest();
}

/**
 * Verifies a callback (03a section 2): the whole body is signed. The documentation names no encoding, so that hexadecimal and base64 are read.
 * Events that are no payment are stored too, and change nothing.
 */
export function receiveTributeCallback(callback: ProviderCallback, connection: TributeConnection | null): CallbackVerdict {
  const options = { provider: 'tribute', isConfigured: connection !== null, answersGet: false, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const signature = callback.headers[SIGNATURE_HEADER];
  if (!signature) return problem(401, 'missing_signature');
  const expected = tributeSignature(callback.rawBody, connection.apiKey);
  if (!isEqualHex(signature, expected.toString('hex')) && !isEqualBase64(signature, expected)) {
    return problem(401, 'invalid_signature');
  }

  const body = parseWireObject(utf8Text(callback.rawBody) ?? '');
  if (!body) return problem(400, 'invalid_json');
  const name = textField(body, 'name');
  if (name === null || name === '') return problem(400, 'missing_event');
  if (!isDonation(body)) {
    const eventKey = `${name.slice(0, MAX_NAME)}:${(textField(body, 'created_at') ?? '').slice(0, MAX_NAME)}`;
    return { accepted: true, reference: { externalId: null, orderId: null }, eventKey, reply: OK };
  }
  const state = donationState(body);
  if (!state) return problem(400, 'missing_payment');
  const { externalId, status } = state;
  return { accepted: true, reference: { externalId, orderId: null }, eventKey: `${status}:${externalId}`, reply: OK };
}
