import type { CallbackReply, CallbackVerdict, ProviderCallback } from '../../../domain/payments/ports.ts';
import { isInNetworks, resolveClientIp } from './client-ip.ts';
import { YOOKASSA_NETWORKS, type YookassaConnection } from './connection.ts';
import { isRecord } from './payment-wire.ts';

const HANDLED_EVENTS = new Set(['payment.succeeded', 'payment.waiting_for_capture', 'payment.canceled']);

/**
 * Verifies a request on the webhook path (spec 03 sections 2.5 and 2.6). The provider signs nothing, so the source address is checked.
 * An accepted request only causes a status request to the API (H9), which is all that a forged body can achieve.
 */
export function receiveYookassaCallback(callback: ProviderCallback, connection: YookassaConnection | null): CallbackVerdict {
  if (callback.method === 'OPTIONS') return refused(corsReply());
  if (callback.method === 'GET' || callback.method === 'HEAD') {
    return refused(json(200, { status: 'ok', service: 'yookassa_webhook', enabled: connection !== null }));
  }
  if (callback.method !== 'POST') return refused(json(405, { detail: 'Method Not Allowed' }, { allow: 'GET, POST, OPTIONS' }));
  if (!connection) return refused(problem(503, 'service_not_configured'));

  const clientIp = resolveClientIp(callback.ip, callback.headers, connection.trustedProxyNetworks);
  if (clientIp === null) return refused(problem(403, 'unknown_ip'));
  if (!isInNetworks(clientIp, connection.allowedNetworks ?? YOOKASSA_NETWORKS)) return refused(problem(403, 'forbidden_ip'));

  return classifyBody(callback.rawBody.toString('utf8'));
}

function classifyBody(text: string): CallbackVerdict {
  if (text.trim() === '') return refused(problem(400, 'empty_body'));
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return refused(problem(400, 'invalid_json'));
  }
  if (!isRecord(body)) return refused(problem(400, 'invalid_json'));
  const { event, object } = body;
  if (typeof event !== 'string' || event === '') return refused(problem(400, 'missing_event'));
  if (!HANDLED_EVENTS.has(event)) return refused(json(200, { status: 'ok', ignored: event }));
  const id = isRecord(object) ? object.id : undefined;
  if (typeof id !== 'string' || !/^[\w-]{1,64}$/.test(id)) return refused(problem(400, 'missing_payment_id'));
  return { accepted: true, externalId: id, eventKey: `${event}:${id}`, reply: json(200, { status: 'ok' }) };
}

function refused(reply: CallbackReply): CallbackVerdict {
  return { accepted: false, reply };
}

function problem(status: number, reason: string): CallbackReply {
  return json(status, { status: 'error', reason });
}

function json(status: number, body: unknown, headers?: Record<string, string>): CallbackReply {
  return { status, contentType: 'application/json', body: JSON.stringify(body), ...(headers ? { headers } : {}) };
}

function corsReply(): CallbackReply {
  return json(
    200,
    { status: 'ok' },
    {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST, OPTIONS',
      'access-control-allow-headers': 'Content-Type',
    },
  );
}
