import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { isDatabaseUnavailable, isRetryable } from '../../../core/db/db-errors.ts';
import { MessengerError } from '../../messaging/ports.ts';
import {
  type ClaimedInvitation,
  claimInvitations,
  type Delivered,
  hasOpenInvitations,
  markDelivered,
  releaseAbandoned,
} from './delivery-repo.ts';
import { findById } from './repo.ts';
import { invitationOf } from './rules.ts';
import { finishSend, type PollSend } from './send-repo.ts';
import type { Poll } from './types.ts';

/** Messages claimed at a time and sent in parallel (spec 04 section 12.2); the messenger's adapter limits the rate. */
const PARALLEL = 30;
/** A claimed message without result for this long belongs to a crashed run: longer than a message and its time-outs. */
const ABANDONED_MS = 10 * MINUTE_MS;
/** Delay before the next attempt when the messenger cannot be reached. */
const UNREACHABLE_MS = 30 * SECOND_MS;
/** Storing a result is retried while the database is unavailable: a lost result would lead to a second invitation. */
const RECORD_TRIES = 5;

/** Limits after which a run stops although work remains. */
export interface RunLimits {
  /** Value of the monotonic clock after which no new work starts. */
  untilMs: number;
  signal?: AbortSignal;
}

export const isOver = ({ untilMs, signal }: RunLimits): boolean => performance.now() >= untilMs || signal?.aborted === true;

/**
 * Sends the invitations of a call whose rows exist. Each is claimed before it is sent, so that parallel runs send it once; only those
 * claimed by a run that crashed are sent again.
 * @returns null = done, else the milliseconds until the next run must continue
 */
export async function deliverInvitations(app: App, send: PollSend, limits: RunLimits): Promise<number | null> {
  if (send.isFinished) return null;
  await releaseAbandoned(app.db, send.id, addMs(app.clock.now(), -ABANDONED_MS));
  while (!isOver(limits)) {
    const poll = await findById(app.db, send.pollId);
    if (!poll) return null;
    const batch = await claimInvitations(app.db, send.id, PARALLEL, app.clock.now());
    if (batch.length === 0) return finish(app, send.id);
    const waitMs = await sendBatch(app, poll, batch);
    if (waitMs > 0) return waitMs;
  }
  return 0;
}

/** Another run may be sending messages; if it crashes, a later run must send them. */
async function finish(app: App, sendId: number): Promise<number | null> {
  if (await hasOpenInvitations(app.db, sendId)) return ABANDONED_MS + MINUTE_MS;
  await finishSend(app.db, sendId, app.clock.now());
  return null;
}

/** @returns milliseconds for which the messenger accepts no messages */
async function sendBatch(app: App, poll: Poll, batch: readonly ClaimedInvitation[]): Promise<number> {
  const outcomes = await Promise.allSettled(batch.map((invitation) => deliverOne(app, poll, invitation)));
  const lost = outcomes.find((outcome) => outcome.status === 'rejected');
  if (lost) throw lost.reason;
  return Math.max(...outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 0)));
}

async function deliverOne(app: App, poll: Poll, invitation: ClaimedInvitation): Promise<number> {
  const { state, waitMs } = await sendOne(app, poll, invitation);
  await recordResult(app, invitation.responseId, state);
  return waitMs;
}

async function sendOne(
  app: App,
  poll: Poll,
  { responseId, messengerId, language }: ClaimedInvitation,
): Promise<{ state: Delivered; waitMs: number }> {
  if (messengerId === null) return { state: 'skipped', waitMs: 0 };
  const { html, buttons } = invitationOf(poll, responseId, language);
  try {
    await app.ports.messenger.sendMessage(messengerId, html, { buttons });
    return { state: 'sent', waitMs: 0 };
  } catch (error) {
    const failure = error instanceof MessengerError ? error.failure : null;
    // Certainly not sent: it is queued again.
    if (failure?.kind === 'rate_limited') return { state: 'queued', waitMs: failure.retryAfterSeconds * SECOND_MS };
    if (failure?.kind === 'unavailable' && !failure.mayHaveArrived) return { state: 'queued', waitMs: UNREACHABLE_MS };
    const isGone = failure?.kind === 'blocked' || failure?.kind === 'chat_not_found' || failure?.kind === 'not_configured';
    if (!isGone) app.log.warn({ err: error, responseId }, 'a poll could not be delivered');
    return { state: isGone ? 'skipped' : 'failed', waitMs: 0 };
  }
}

async function recordResult(app: App, responseId: number, state: Delivered): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await markDelivered(app.db, responseId, state);
    } catch (error) {
      if (tries >= RECORD_TRIES || !(isRetryable(error) || isDatabaseUnavailable(error))) throw error;
      await delay(tries * SECOND_MS);
    }
  }
}
