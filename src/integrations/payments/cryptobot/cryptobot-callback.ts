import { createHash, createHmac } from 'node:crypto';
import type { CallbackVerdict, ProviderCallback } from '../../../domain/payments/ports.ts';
import { utf8Text } from '../wire/form.ts';
import { objectField, parseWireObject, textField } from '../wire/json.ts';
import { answerOtherMethods, OK, problem, refused } from '../wire/replies.ts';
import { isEqualHex } from '../wire/signature.ts';
import type { CryptobotConnection } from './connection.ts';
import { invoiceState } from './invoice-wire.ts';

const SIGNATURE_HEADER = 'crypto-pay-api-signature';
const PAID_EVENT = 'invoice_paid';

/** HMAC-SHA-256 over the body as received; its key is the SHA-256 of the token as bytes. Lower-case hex. */
export function cryptobotSignature(body: Buffer, token: string): string {
  return createHmac('sha256', createHash('sha256').update(token).digest()).update(body).digest('hex');
}

/** Verifies a callback (03a section 3): the whole body is signed, so that it proves the state of the invoice itself. */
export function receiveCryptobotCallback(callback: ProviderCallback, connection: CryptobotConnection | null): CallbackVerdict {
  const options = { provider: 'cryptobot', isConfigured: connection !== null, answersGet: false, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const signature = callback.headers[SIGNATURE_HEADER];
  if (!signature) return problem(401, 'missing_signature');
  if (!isEqualHex(signature, cryptobotSignature(callback.rawBody, connection.token))) return problem(401, 'invalid_signature');

  const body = parseWireObject(utf8Text(callback.rawBody) ?? '');
  if (!body) return problem(400, 'invalid_json');
  if (textField(body, 'update_type') !== PAID_EVENT) return refused(OK);
  const invoice = objectField(body, 'payload');
  const state = invoice && invoiceState(invoice);
  if (!state) return problem(400, 'missing_invoice');
  const { externalId, orderId, status } = state;
  return { accepted: true, reference: { externalId, orderId }, eventKey: `${externalId}:${status}`, reply: OK };
}
