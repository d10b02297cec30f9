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

/** Messages taken at a time and under way at once (spec 04 section 12.2); the rate itself is kept by the messenger's adapter. */
const PARALLEL = 30;
/** A taken message that nobody came back to for so long belongs to a run that died: longer than a message and its time-outs. */
const ABANDONED_MS = 10 * MINUTE_MS;
/** A messenger that cannot be reached is asked again after this. */
const UNREACHABLE_MS = 30 * SECOND_MS;
/** What was sent is noted whatever a moment without database does: a note that is lost is a second invitation. */
const NOTE_TRIES = 5;

/** When a run ends before its work does. */
export interface RunLimits {
  /** Reading of the monotonic clock after which nothing more is begun. */
  untilMs: number;
  signal?: AbortSignal;
}

export const isOver = ({ untilMs, signal }: RunLimits): boolean => performance.now() >= untilMs || signal?.aborted === true;

/**
 * Sends the invitations of a call whose rows are made, each taken before it is sent: any number of runs at once send each once. Only
 * what a run had taken when it died goes out again later, at most once a crash.
 * @returns null = nothing is left to do, else the milliseconds after which somebody has to go on
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

/** Another run may have messages under way; if it dies, somebody must send them. */
async function finish(app: App, sendId: number): Promise<number | null> {
  if (await hasOpenInvitations(app.db, sendId)) return ABANDONED_MS + MINUTE_MS;
  await finishSend(app.db, sendId, app.clock.now());
  return null;
}

/** @returns how long the messenger wants to be left alone, milliseconds */
async function sendBatch(app: App, poll: Poll, batch: readonly ClaimedInvitation[]): Promise<number> {
  const outcomes = await Promise.allSettled(batch.map((invitation) => deliverOne(app, poll, invitation)));
  const lost = outcomes.find((outcome) => outcome.status === 'rejected');
  if (lost) throw lost.reason;
  return Math.max(...outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 0)));
}

async function deliverOne(app: App, poll: Poll, invitation: ClaimedInvitation): Promise<number> {
  const { state, waitMs } = await sendOne(app, poll, invitation);
  await note(app, invitation.responseId, state);
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
    await app.ports.messenger.sendMessage(messengerId, html, buttons);
    return { state: 'sent', waitMs: 0 };
  } catch (error) {
    const failure = error instanceof MessengerError ? error.failure : null;
    // Surely unsent: it waits for its turn instead of being lost to a minute without messenger.
    if (failure?.kind === 'rate_limited') return { state: 'queued', waitMs: failure.retryAfterSeconds * SECOND_MS };
    if (failure?.kind === 'unavailable' && !failure.mayHaveArrived) return { state: 'queued', waitMs: UNREACHABLE_MS };
    const isGone = failure?.kind === 'blocked' || failure?.kind === 'chat_not_found' || failure?.kind === 'not_configured';
    if (!isGone) app.log.warn({ err: error, responseId }, 'a poll could not be delivered');
    return { state: isGone ? 'skipped' : 'failed', waitMs: 0 };
  }
}

async function note(app: App, responseId: number, state: Delivered): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await markDelivered(app.db, responseId, state);
    } catch (error) {
      if (tries >= NOTE_TRIES || !(isRetryable(error) || isDatabaseUnavailable(error))) throw error;
      await delay(tries * SECOND_MS);
    }
  }
}
