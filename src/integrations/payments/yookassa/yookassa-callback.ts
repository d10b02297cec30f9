import type { CallbackVerdict, ProviderCallback } from '../../../domain/payments/ports.ts';
import { isInNetworks, resolveClientAddress } from '../wire/client-address.ts';
import { utf8Text } from '../wire/form.ts';
import { objectField, parseWireObject, textField, type WireObject } from '../wire/json.ts';
import { answerOtherMethods, jsonReply, OK, problem, refused } from '../wire/replies.ts';
import type { YookassaConnection } from './connection.ts';

const PAYMENT_EVENTS = new Set(['payment.succeeded', 'payment.waiting_for_capture', 'payment.canceled']);
const REFUND_EVENT = 'refund.succeeded';
const ID = /^[\w-]{1,64}$/;

/**
 * Verifies a request on the webhook path (spec 03 sections 2.5 and 2.6). The provider signs nothing, so the source address is checked.
 * An accepted request only causes a status request to the API (H9), which is all that a forged body can achieve.
 */
export function receiveYookassaCallback(callback: ProviderCallback, connection: YookassaConnection | null): CallbackVerdict {
  const options = { provider: 'yookassa', isConfigured: connection !== null, answersGet: true, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const clientIp = resolveClientAddress(callback.ip, callback.headers, connection.proxies);
  if (clientIp === null) return problem(403, 'unknown_ip');
  if (!isInNetworks(clientIp, connection.allowedNetworks)) return problem(403, 'forbidden_ip');
  return classifyBody(utf8Text(callback.rawBody));
}

function classifyBody(text: string | null): CallbackVerdict {
  if (text?.trim() === '') return problem(400, 'empty_body');
  const body = text === null ? null : parseWireObject(text);
  if (!body) return problem(400, 'invalid_json');
  const event = textField(body, 'event') ?? '';
  if (event === '') return problem(400, 'missing_event');
  const object = objectField(body, 'object');
  const paymentId = paymentOf(event, object);
  if (paymentId === null) return refused(jsonReply(200, { status: 'ok', ignored: event }));
  const eventId = textField(object, 'id') ?? '';
  if (!ID.test(paymentId) || !ID.test(eventId)) return problem(400, 'missing_payment_id');
  return { accepted: true, reference: { externalId: paymentId, orderId: null }, eventKey: `${event}:${eventId}`, reply: OK };
}

/** Id of the payment that an event is about, empty where it is missing; null for events that are not handled. */
function paymentOf(event: string, object: WireObject | null): string | null {
  if (PAYMENT_EVENTS.has(event)) return textField(object, 'id') ?? '';
  return event === REFUND_EVENT ? (textField(object, 'payment_id') ?? '') : null;
}
