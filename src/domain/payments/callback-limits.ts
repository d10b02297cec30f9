import type { App } from '../../core/app.ts';
import { isWithinLimit } from '../../core/rate-limit.ts';
import type { CallbackFormat, CallbackReply, PaymentProvider, ProviderCallback } from './ports.ts';

/** Largest callback in bytes; the largest real ones are below 8 KiB. */
export const CALLBACK_BYTES = 64 * 1024;
/** Refused callbacks of one address a minute that are answered with their reason. */
const REFUSALS_A_MINUTE = 60;
const MEDIA_TYPES: Readonly<Record<CallbackFormat, string>> = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
};

/**
 * What every provider's callback is refused for before its signature is read (03a section 0.8): more than 64 KiB (413), compressed, or of
 * another content type than the provider's (415).
 * @returns the refusal; null = verify it
 */
export function callbackProblem(provider: PaymentProvider, { method, headers, rawBody }: ProviderCallback): CallbackReply | null {
  if (method !== 'POST') return null;
  if (rawBody.length > CALLBACK_BYTES) return refusal(413, 'too_large');
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (encoding && encoding !== 'identity') return refusal(415, 'compressed');
  const mediaType = (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  const accepted = provider.callbackFormats.map((format) => MEDIA_TYPES[format]);
  // Some providers check the address with an empty request.
  if (rawBody.length > 0 && !accepted.includes(mediaType)) return refusal(415, 'unsupported_content_type');
  return null;
}

/**
 * Counts a refused callback. Only refusals are limited: a provider sends all payments of a shop from a few addresses, and a genuine callback
 * must never be lost to a limit, nor cost a statement more.
 * @returns 429 in place of the refusal, once the address has had too many
 */
export async function limitRefusals(app: App, { ip }: ProviderCallback, refused: CallbackReply): Promise<CallbackReply> {
  if (refused.status < 400) return refused;
  if (await isWithinLimit(app, `payment-callback:${ip}`, REFUSALS_A_MINUTE, 60)) return refused;
  return { ...refusal(429, 'rate_limited'), headers: { 'retry-after': '60' } };
}

function refusal(status: number, reason: string): CallbackReply {
  return { status, contentType: 'application/json', body: JSON.stringify({ status: 'error', reason }) };
}
