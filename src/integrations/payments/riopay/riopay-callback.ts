import { createHmac } from 'node:crypto';
import type { CallbackReply, CallbackVerdict, PaymentReport, ProviderCallback } from '../../../domain/payments/ports.ts';
import { utf8Text } from '../wire/form.ts';
import { parseWireObject, textField } from '../wire/json.ts';
import { answerOtherMethods, OK, problem, refused, textReply } from '../wire/replies.ts';
import { isEqualHex } from '../wire/signature.ts';
import type { RiopayConnection } from './connection.ts';
import { namesAnotherOrder, orderState } from './order-wire.ts';

const SIGNATURE_HEADER = 'x-signature';
const TYPE_HEADER = 'x-type';
const PAYOUT = 'PAYOUT_UPDATE';
const ID = /^[\w-]{1,128}$/;

/** HMAC-SHA-512 over the body; lower-case hex. */
export function riopaySignature(body: Buffer | string, secret: string): string {
  return createHmac('sha512', secret).update(body).digest('hex');
}

/** Verifies a callback (03a section 13): the whole body is signed. Refusals have the text that spec 03 section 2.6 gives them. */
export function receiveRiopayCallback(callback: ProviderCallback, connection: RiopayConnection | null): CallbackVerdict {
  const options = { provider: 'riopay', isConfigured: connection !== null, answersGet: true, answersOptions: false };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const text = utf8Text(callback.rawBody);
  const body = parseWireObject(text ?? '');
  const signature = callback.headers[SIGNATURE_HEADER] ?? '';
  const isSigned = signaturesOf(callback.rawBody, body === null ? null : text, connection.webhookSecret).some((expected) =>
    isEqualHex(signature, expected),
  );
  if (!isSigned) return refused(ERROR(403));
  if (!body) return refused(ERROR(400));
  // The type is not signed: it only says what not to look at.
  if (callback.headers[TYPE_HEADER] === PAYOUT) return refused(OK);
  const [id, order, externalId] = [textField(body, 'id'), textField(body, 'orderId'), textField(body, 'externalId')];
  const reference = { externalId: order ?? id, orderId: externalId };
  if (reference.externalId === null || !ID.test(reference.externalId)) return refused(OK);
  return { accepted: true, reference, eventKey: `${id ?? order}:${textField(body, 'status') ?? ''}`, reply: OK };
}

/**
 * The state that a signed body proves: an order that has ended. An open order, an unknown word and the report of a refund, whose body is not
 * that of an order, are asked about.
 */
export function readRiopayCallback(text: string): PaymentReport | null {
  const body = parseWireObject(text);
  const state = body && !namesAnotherOrder(body) ? orderState(body) : null;
  return state && state.outcome !== 'pending' ? state : null;
}

/** The provider's sample signs the body as it writes it again after parsing: compact JSON, which is what it sends. */
function signaturesOf(rawBody: Buffer, json: string | null, secret: string): string[] {
  const raw = riopaySignature(rawBody, secret);
  return json === null ? [raw] : [raw, riopaySignature(JSON.stringify(JSON.parse(json)), secret)];
}

const ERROR = (status: number): CallbackReply => textReply(status, 'Error');
