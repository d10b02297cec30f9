import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { isDatabaseUnavailable, isRetryable } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { MessengerError } from '../../messaging/ports.ts';
import { invitationOf, pollNotFound, targetEmpty } from './polls.ts';
import { findById, lockPollForShare } from './repo.ts';
import {
  type ClaimedInvitation,
  claimInvitations,
  type Delivered,
  findSend,
  finishSend,
  hasOpenInvitations,
  insertSend,
  lockSend,
  makeResponses,
  markDelivered,
  measureAudience,
  type PollSend,
  releaseAbandoned,
} from './send-repo.ts';
import type { Poll, PollSendResult } from './types.ts';

/** Response rows per transaction; small enough that the embedded database can answer other requests in between. */
const BATCH = 2_000;
/** Time limit of the request for writing rows and sending; a job continues after it. */
const REQUEST_MS = 20 * SECOND_MS;
/** Delay of the job: long after the request has stopped and its last messages have timed out. */
const BACKGROUND_AFTER_MS = 2 * MINUTE_MS;
/** Time limit of one run; the next job continues, so that a stopping process loses nothing and other polls are processed. */
const RUN_MS = 5 * MINUTE_MS;

/**
 * Sends a poll to an audience (spec 04 sections 0.5 and 12.2). The response rows are committed before the first message is sent, so
 * that every button works, and the job that continues the work before the first row (section 12.4). Users who have the poll already are
 * skipped.
 * @returns `total` = the audience; the others = results so far. A large audience is processed in the background
 * @throws AppError 400 | 404
 */
export async function sendPoll(app: App, pollId: number, target: string): Promise<PollSendResult> {
  if (target.trim() === '') throw targetEmpty();
  const { sendId, size } = await inTransaction(app, (t) => beginSend(t, pollId, target.trim()));
  await continueSend(app, sendId, { untilMs: performance.now() + REQUEST_MS });
  const result = await findSend(app.db, sendId);
  if (!result) throw pollNotFound();
  const { sent, failed, skipped, total, isMade } = result;
  // The job writes the remaining rows: the audience was counted at the start.
  return { sent, failed, skipped, total: isMade ? total : size };
}

async function beginSend(t: App, pollId: number, target: string): Promise<{ sendId: number; size: number }> {
  if (!(await lockPollForShare(t.db, pollId))) throw pollNotFound();
  const now = t.clock.now();
  const { size, audienceEnd } = await measureAudience(t.db, target, now);
  const sendId = await insertSend(t.db, { pollId, target, audienceEnd, now });
  await t.jobs.send('games.deliver-poll', { sendId }, { startAfter: addMs(now, BACKGROUND_AFTER_MS) });
  return { sendId, size };
}

/**
 * Continues a call (queue `games.deliver-poll`): up to the time limit, then the next job continues. May run any number of
 * times, also in parallel.
 */
export async function deliverPoll(app: App, { sendId }: { sendId: number }, signal?: AbortSignal): Promise<void> {
  const waitMs = await continueSend(app, sendId, { untilMs: performance.now() + RUN_MS, ...(signal && { signal }) });
  if (waitMs === null) return;
  await app.jobs.send('games.deliver-poll', { sendId }, { startAfter: addMs(app.clock.now(), waitMs) });
}

/** @returns null = done, else the milliseconds until the next run must continue */
async function continueSend(app: App, sendId: number, limits: RunLimits): Promise<number | null> {
  if (!(await makeAll(app, sendId, limits))) return 0;
  const send = await findSend(app.db, sendId);
  return send && deliverInvitations(app, send, limits);
}

/**
 * Writes the missing response rows of a call, one batch per transaction. Parallel runs process one batch after the other.
 * @returns false when the time limit or the signal stopped it
 */
async function makeAll(app: App, sendId: number, limits: RunLimits): Promise<boolean> {
  while (!(await inTransaction(app, (t) => makeBatch(t, sendId)))) {
    if (isOver(limits)) return false;
  }
  return true;
}

/** @returns whether all rows are written */
async function makeBatch(t: App, sendId: number): Promise<boolean> {
  const send = await lockSend(t.db, sendId);
  if (!send || send.isMade) return true;
  return makeResponses(t.db, send, { limit: BATCH, hasMessenger: t.ports.messenger.isConfigured() });
}

/** Messages claimed at a time and sent in parallel (spec 04 section 12.2); the messenger's adapter limits the rate. */
const PARALLEL = 30;
/** A claimed message without result for this long belongs to a crashed run: longer than a message and its time-outs. */
const ABANDONED_MS = 10 * MINUTE_MS;
/** Delay before the next attempt when the messenger cannot be reached. */
const UNREACHABLE_MS = 30 * SECOND_MS;
/** Storing a result is retried while the database is unavailable: a lost result would lead to a second invitation. */
const RECORD_TRIES = 5;

/** Limits after which a run stops although work remains. */
interface RunLimits {
  /** Value of the monotonic clock after which no new work starts. */
  untilMs: number;
  signal?: AbortSignal;
}

const isOver = ({ untilMs, signal }: RunLimits): boolean => performance.now() >= untilMs || signal?.aborted === true;

/**
 * Sends the invitations of a call whose rows exist. Each is claimed before it is sent, so that parallel runs send it once; only those
 * claimed by a run that crashed are sent again.
 * @returns null = done, else the milliseconds until the next run must continue
 */
async function deliverInvitations(app: App, send: PollSend, limits: RunLimits): Promise<number | null> {
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
