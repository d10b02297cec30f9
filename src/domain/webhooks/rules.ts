import { createHmac } from 'node:crypto';
import { firstCharacters } from '../../core/characters.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { storableText } from '../../core/db/storable-text.ts';
import type { Random } from '../../core/random.ts';
import type { WebhookAnswer } from './ports.ts';

/** Pauses after the first, second … failed attempt (spec 00, Outside effects); after the last one there is no further attempt. */
const RETRY_STEPS_MS: readonly number[] = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  10 * HOUR_MS,
];
/** A webhook without a success for this long is disabled with its next failure. */
export const DISABLE_AFTER_MS = 5 * DAY_MS;
/** How long deliveries are stored. */
export const KEEP_DELIVERIES_MS = 30 * DAY_MS;

const JITTER_PERCENT = 10;
const MAX_BODY_CHARACTERS = 1000;
const MAX_ERROR_CHARACTERS = 500;
const TRUNCATION_MARK = '... (truncated)';
const SECRET_PREFIX = 'whsec_';

/**
 * Pause before the next attempt: the step with up to 10 % of jitter either way, or the time of `Retry-After`, limited to between one
 * and two steps.
 * @param attemptsMade attempts so far, the failed one included
 * @returns milliseconds; null = no further attempt
 */
export function retryDelayMs(attemptsMade: number, retryAfterMs: number | null, random: Random): number | null {
  const step = RETRY_STEPS_MS[attemptsMade - 1];
  if (step === undefined) return null;
  if (retryAfterMs !== null) return Math.min(Math.max(retryAfterMs, step), 2 * step);
  return Math.floor((step * random.int(1000 - 10 * JITTER_PERCENT, 1001 + 10 * JITTER_PERCENT)) / 1000);
}

/** Seconds or HTTP date of `Retry-After` as milliseconds from `now`; null when absent or not readable. */
export function parseRetryAfter(header: string | null, now: Date): number | null {
  const text = header?.trim() ?? '';
  if (text === '') return null;
  const ms = /^\d{1,10}$/.test(text) ? Number(text) * SECOND_MS : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? null : Math.max(ms, 0);
}

/** The result of an attempt as it is stored (spec 06 section 3, outcome table). */
export interface AttemptOutcome {
  isDelivered: boolean;
  responseStatus: number | null;
  responseBody: string | null;
  errorMessage: string | null;
  /** `Retry-After` of the receiver, in milliseconds. */
  retryAfterMs: number | null;
  /** 410: the receiver wants no further events. */
  isGone: boolean;
  /** The address is not allowed: there is no further attempt. */
  isFinal: boolean;
}

/** Classifies an answer: 2xx is a success, everything else a failure. */
export function classifyAnswer(answer: WebhookAnswer, now: Date): AttemptOutcome {
  const failed = (errorMessage: string, isFinal = false): AttemptOutcome => ({
    isDelivered: false,
    responseStatus: null,
    responseBody: null,
    errorMessage: storableText(errorMessage),
    retryAfterMs: null,
    isGone: false,
    isFinal,
  });
  switch (answer.kind) {
    case 'timeout':
      return failed('Request timeout');
    case 'blocked':
      return failed(answer.reason, true);
    case 'unreachable':
      return failed(answer.reason);
    case 'answered': {
      const isDelivered = answer.status >= 200 && answer.status <= 299;
      const body = storableText(answer.body);
      return {
        isDelivered,
        responseStatus: answer.status,
        responseBody: cutBody(body),
        errorMessage: isDelivered ? null : `HTTP ${answer.status}: ${firstCharacters(body, MAX_ERROR_CHARACTERS)}`,
        retryAfterMs: isDelivered ? null : parseRetryAfter(answer.retryAfter, now),
        isGone: answer.status === 410,
        isFinal: false,
      };
    }
  }
}

/** The first 1000 characters, with a mark when the text was longer. */
export function cutBody(text: string): string {
  const start = firstCharacters(text, MAX_BODY_CHARACTERS);
  return start.length < text.length ? start + TRUNCATION_MARK : text;
}

export interface SignedMessage {
  deliveryId: number;
  webhookId: number;
  eventType: string;
  secret: string | null;
  body: string;
  now: Date;
}

/**
 * Headers of one attempt: the documented `X-Webhook-*` and the Standard Webhooks trio. `webhook-id` stays the same over all
 * attempts and replays of a delivery, so that a receiver can recognise repeats; the timestamp is that of the attempt.
 */
export function deliveryHeaders(message: SignedMessage): Record<string, string> {
  const messageId = `msg_${message.deliveryId}`;
  const timestamp = String(Math.floor(message.now.getTime() / SECOND_MS));
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'user-agent': 'subscription-service-webhooks/1.0',
    'x-webhook-event': message.eventType,
    'x-webhook-id': String(message.webhookId),
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
  };
  if (message.secret !== null) {
    headers['x-webhook-signature'] = `sha256=${createHmac('sha256', message.secret).update(message.body).digest('hex')}`;
    const signed = `${messageId}.${timestamp}.${message.body}`;
    headers['webhook-signature'] = `v1,${createHmac('sha256', standardKey(message.secret)).update(signed).digest('base64')}`;
  }
  return headers;
}

/** Standard Webhooks writes a key as `whsec_` and base64; any other secret is its own bytes. */
function standardKey(secret: string): Buffer {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : '';
  return /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.from(secret);
}
