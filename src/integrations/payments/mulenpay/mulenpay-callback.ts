import type { CallbackVerdict, ProviderCallback } from '../../../domain/payments/ports.ts';
import { utf8Text } from '../wire/form.ts';
import { parseWireObject, textField, type WireObject } from '../wire/json.ts';
import { answerOtherMethods, OK, problem } from '../wire/replies.ts';
import { isEqualHex } from '../wire/signature.ts';
import type { MulenpayConnection } from './connection.ts';
import { bodySignature, headerSignature } from './signatures.ts';

const ID = /^[\w-]{1,128}$/;

/**
 * Verifies a callback (03a section 6). The sources disagree on whether callbacks are signed, so that a signature is verified where there is
 * one, and none is required: an accepted callback only makes us ask about the payment of our record. `MULENPAY_WEBHOOK_PATH` should end with
 * a long random segment.
 */
export function receiveMulenpayCallback(callback: ProviderCallback, connection: MulenpayConnection | null): CallbackVerdict {
  const options = { provider: 'mulenpay', isConfigured: connection !== null, answersGet: false, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const text = utf8Text(callback.rawBody);
  if (text?.trim() === '') return problem(400, 'empty_body');
  const body = text === null ? null : parseWireObject(text);
  if (!body) return problem(400, 'invalid_json');
  if (!areSignaturesRight(callback, body, connection.secretKey)) return problem(401, 'invalid_signature');

  const orderId = textField(body, 'uuid') ?? '';
  if (!ID.test(orderId)) return problem(400, 'missing_uuid');
  const status = textField(body, 'payment_status') ?? 'unknown';
  // Not the id of the body: only that of our record is asked about.
  const isUnsigned = callback.headers['x-signature'] === undefined && !Object.hasOwn(body, 'sign');
  return { accepted: true, isUnsigned, reference: { externalId: null, orderId }, eventKey: `${orderId}:${status}`, reply: OK };
}

/** Whether each signature that the callback has is right. */
function areSignaturesRight({ headers, rawBody }: ProviderCallback, body: WireObject, secretKey: string): boolean {
  const header = headers['x-signature'];
  if (header !== undefined && !isEqualHex(header, headerSignature(rawBody, secretKey))) return false;
  return !Object.hasOwn(body, 'sign') || isEqualHex(textField(body, 'sign') ?? '', bodySignature(body, secretKey));
}
