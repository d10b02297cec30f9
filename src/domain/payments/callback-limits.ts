import type { App } from '../../core/app.ts';
import { MINUTE_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isWithinLimit } from '../../core/rate-limit.ts';
import { insertCallback, isCallbackStored, type NewCallback } from './callback-repo.ts';
import type { CallbackFormat, CallbackReply, PaymentProvider, ProviderCallback } from './ports.ts';
import { findByOrderId } from './repo.ts';

/** Largest callback in bytes; the largest real ones are below 8 KiB. */
export const CALLBACK_BYTES = 64 * 1024;
/** Refused callbacks of one address a minute that are answered with their reason, and unsigned ones about nothing that is open. */
const REFUSALS_A_MINUTE = 60;
/** Unsigned callbacks about one open payment a minute: a genuine provider sends one and repeats it rarely. */
const UNSIGNED_A_MINUTE = 10;
const MINUTE_SECONDS = 60;
/** Counted addresses of an instance; more in one minute are counted together. */
const MAX_ADDRESSES = 10_000;
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
 * Counts a refused callback: a genuine one costs no statement more.
 * @returns 429 in place of the refusal, once the address has had too many
 */
export async function limitRefusals(
  app: App,
  { ip, clientIp = ip }: ProviderCallback,
  refused: CallbackReply,
): Promise<CallbackReply> {
  if (refused.status < 400) return refused;
  return (await isWithinLimit(app, `payment-callback:${clientIp}`, REFUSALS_A_MINUTE, MINUTE_SECONDS)) ? refused : TOO_MANY;
}

/** Accepted callbacks of the current minute by address, of one instance. */
interface AcceptedWindow {
  minute: number;
  hits: Map<string, number>;
}
const windows = new WeakMap<App['env'], AcceptedWindow>();

/**
 * Counts an accepted callback of an address (spec 10 M9). A provider sends all payments of a shop from a few addresses and repeats what is not
 * acknowledged, so that the limit is far above any shop (`PAYMENT_CALLBACKS_PER_MINUTE`), and one that is refused comes again. Each instance
 * counts for itself, since a row that all callbacks write would let only one of them commit at a time.
 * @returns 429 once the address has sent too many within the minute; null = within the limit
 */
export function limitAccepted({ env, clock }: App, { ip, clientIp = ip }: ProviderCallback): CallbackReply | null {
  if (env.callbacksPerMinute === 0) return null;
  const minute = Math.floor(clock.now().getTime() / MINUTE_MS);
  const known = windows.get(env);
  const window = known?.minute === minute ? known : { minute, hits: new Map<string, number>() };
  windows.set(env, window);
  const address = window.hits.size < MAX_ADDRESSES || window.hits.has(clientIp) ? clientIp : 'others';
  const hits = (window.hits.get(address) ?? 0) + 1;
  window.hits.set(address, hits);
  return hits <= env.callbacksPerMinute ? null : TOO_MANY;
}

/**
 * Decides about a callback that anybody may have sent, and stores it only about a payment that is open, and of one payment rarely: else it
 * would fill the table, and spend the questions that the provider answers (spec 10 M9). Any other has no effect: it is acknowledged and not
 * stored.
 * The counter of the payment is locked until the event is stored, so that every copy of a stored event is acknowledged, also of those that come
 * at once.
 * @returns the answer
 */
export async function storeUnsigned(
  app: App,
  { ip, clientIp = ip }: ProviderCallback,
  callback: NewCallback,
  reply: CallbackReply,
): Promise<CallbackReply> {
  const { provider: method, eventKey, reference } = callback;
  const payment = reference.orderId === null ? null : await findByOrderId(app.db, method, reference.orderId);
  if (!payment || payment.transactionId !== null) {
    return (await isWithinLimit(app, `payment-callback:${clientIp}`, REFUSALS_A_MINUTE, MINUTE_SECONDS)) ? reply : TOO_MANY;
  }
  const key = `payment-callback:payment:${payment.id}`;
  const isAccepted = await inTransaction(app, async (t) => {
    const isWithin = await isWithinLimit(t, key, UNSIGNED_A_MINUTE, MINUTE_SECONDS);
    if (!isWithin && !(await isCallbackStored(t.db, method, eventKey))) return false;
    await insertCallback(t.db, callback, app.jobs.trace());
    return true;
  });
  if (!isAccepted) return TOO_MANY;
  app.jobs.wake(['payments.callback']);
  return reply;
}

function refusal(status: number, reason: string): CallbackReply {
  return { status, contentType: 'application/json', body: JSON.stringify({ status: 'error', reason }) };
}

const TOO_MANY: CallbackReply = { ...refusal(429, 'rate_limited'), headers: { 'retry-after': String(MINUTE_SECONDS) } };
