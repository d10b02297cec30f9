import type { CallbackReply, CallbackVerdict, ProviderCallback } from '../../../domain/payments/ports.ts';

export function jsonReply(status: number, body: unknown, headers?: Record<string, string>): CallbackReply {
  return { status, contentType: 'application/json', body: JSON.stringify(body), ...(headers ? { headers } : {}) };
}

export function textReply(status: number, body: string): CallbackReply {
  return { status, contentType: 'text/plain; charset=utf-8', body };
}

export const OK: CallbackReply = jsonReply(200, { status: 'ok' });

/** A refusal as spec 03 section 2.6 words them. */
export function problem(status: number, reason: string): CallbackVerdict {
  return refused(jsonReply(status, { status: 'error', reason }));
}

export function refused(reply: CallbackReply): CallbackVerdict {
  return { accepted: false, reply };
}

/**
 * Answers what is no callback (spec 03 section 2.6): a GET tells whether the provider is on, OPTIONS allows a browser to post, another method is
 * refused, and so is everything while the provider is not configured.
 * @returns null for a POST that is to be verified
 */
export function answerOtherMethods(
  { method }: ProviderCallback,
  options: { provider: string; isConfigured: boolean; answersGet: boolean; answersOptions: boolean },
): CallbackVerdict | null {
  const { provider, isConfigured, answersGet, answersOptions } = options;
  if (method === 'POST') return isConfigured ? null : problem(503, 'service_not_configured');
  if (answersOptions && method === 'OPTIONS') return refused({ ...OK, headers: CORS });
  if (answersGet && (method === 'GET' || method === 'HEAD')) {
    return refused(jsonReply(200, { status: 'ok', service: `${provider}_webhook`, enabled: isConfigured }));
  }
  const allow = ['POST', ...(answersGet ? ['GET'] : []), ...(answersOptions ? ['OPTIONS'] : [])].join(', ');
  return refused(jsonReply(405, { detail: 'Method Not Allowed' }, { allow }));
}

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': 'Content-Type',
};
