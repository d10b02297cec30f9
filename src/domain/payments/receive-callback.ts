import { createHash } from 'node:crypto';
import type { App } from '../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { repeatWhenLost, retried } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isWithinLimit } from '../../core/rate-limit.ts';
import { insertCallback, isCallbackStored, type NewCallback } from './callback-repo.ts';
import type {
  CallbackFormat,
  CallbackReply,
  CallbackVerdict,
  CheckedOrder,
  OrderCheck,
  PaymentProvider,
  ProviderCallback,
} from './ports.ts';
import { findByOrderId, hasPayments } from './repo.ts';
import { PENDING_MS, storableHeaders } from './rules.ts';
import type { Payment } from './types.ts';

const ROUTE_TRUST_MS = 30 * SECOND_MS;

/**
 * Receives a provider's request. The adapter verifies it; then it is stored as received, with its job in one statement, and only then
 * acknowledged. Nothing is credited here; the job asks the provider (spec 00, Outside effects). A repeat of a stored event is
 * acknowledged and dropped.
 * @param method id of the provider
 * @returns null when there is no such route: the provider has neither credentials nor payments (spec 00)
 */
export async function receiveProviderCallback(
  app: App,
  method: string,
  callback: ProviderCallback,
): Promise<CallbackReply | null> {
  const provider = app.ports.payments.byMethod(method);
  if (!provider || !(provider.hasCredentials() || (await hasStoredPayments(app, method)))) return null;
  const problem = callbackProblem(provider, callback);
  const verdict: CallbackVerdict = problem ? { accepted: false, reply: problem } : await provider.receiveCallback(callback);
  if (!verdict.accepted && verdict.check) return answerOrderCheck(app, method, verdict.check);
  if (!verdict.accepted) return limitRefusals(app, callback, verdict.reply);
  const refused = limitAccepted(app, callback);
  if (refused) return refused;
  const received: NewCallback = {
    provider: method,
    // Another body is another event: a broken or forged one that names the same payment must not make the genuine one a repeat.
    eventKey: `${verdict.eventKey}:${createHash('sha256').update(callback.rawBody).digest('hex').slice(0, 16)}`,
    reference: verdict.reference,
    body: callback.rawBody.toString('utf8'),
    subpath: callback.subpath,
    headers: storableHeaders(callback.headers),
    now: app.clock.now(),
  };
  if (verdict.isUnsigned) return storeUnsigned(app, callback, received, verdict.reply);
  await storeCallback(app, received);
  return verdict.reply;
}

/**
 * Stores an event once, with the job that processes it. Tried again, once, when the database session was cut: by its key an event that was
 * stored after all is found.
 */
export async function storeCallback(app: App, callback: NewCallback): Promise<void> {
  await repeatWhenLost(app, () => retried(app, () => insertCallback(app.db, callback, app.jobs.trace())));
  app.jobs.wake(['payments.callback']);
}

function hasStoredPayments(app: App, method: string): Promise<boolean> {
  return app.cache.read(`payments:stored:${method}`, ROUTE_TRUST_MS, () =>
    repeatWhenLost(app, () => hasPayments(app.db, method)),
  );
}

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
function callbackProblem(provider: PaymentProvider, { method, headers, rawBody }: ProviderCallback): CallbackReply | null {
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
async function limitRefusals(app: App, { ip, clientIp = ip }: ProviderCallback, refused: CallbackReply): Promise<CallbackReply> {
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
function limitAccepted({ env, clock }: App, { ip, clientIp = ip }: ProviderCallback): CallbackReply | null {
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
async function storeUnsigned(
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

/** Outcomes after which an order can still be paid; an attempt that failed does not end it (03a section 0.4). */
const OPEN_OUTCOMES: readonly Payment['outcome'][] = ['pending', 'failed', 'expired'];

/**
 * Answers a provider that asks, before it takes the money, whether an order may be paid (03a section 12). It waits for the answer, so that
 * nothing is stored and no job is involved; what it then reports is compared with the record again.
 * @param method id of the provider, which sees its own orders only
 */
async function answerOrderCheck(app: App, method: string, { orderId, answer }: OrderCheck): Promise<CallbackReply> {
  const payment = await repeatWhenLost(app, () => findByOrderId(app.db, method, orderId));
  return answer(payment && checkedOrder(payment, app.clock.now()));
}

function checkedOrder(payment: Payment, now: Date): CheckedOrder {
  const { amountKopeks, currency, merchantId, outcome, expiresAt, createdAt } = payment;
  const isOver = (expiresAt !== null && expiresAt <= now) || now.getTime() - createdAt.getTime() > PENDING_MS;
  return {
    ...{ amountKopeks, currency, merchantId },
    isOpen: payment.transactionId === null && OPEN_OUTCOMES.includes(outcome),
    isExpired: outcome === 'expired' || isOver,
  };
}
