import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { deliverInvitations, isOver, type RunLimits } from './deliver-invitations.ts';
import { pollNotFound, targetEmpty } from './errors.ts';
import { lockPollForShare } from './repo.ts';
import { findSend, insertSend, lockSend, makeResponses, measureAudience } from './send-repo.ts';
import type { PollSendResult } from './types.ts';

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
