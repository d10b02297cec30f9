import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { deliverInvitations, isOver, type RunLimits } from './deliver-invitations.ts';
import { pollNotFound, targetEmpty } from './errors.ts';
import { hold } from './repo.ts';
import { findSend, insertSend, lockSend, makeResponses, measureAudience } from './send-repo.ts';
import type { PollSendResult } from './types.ts';

/** Response rows written by one transaction: short enough for the embedded database to answer others in between. */
const BATCH = 2_000;
/** How long the request itself writes rows and delivers; what is left then goes on in the background. */
const REQUEST_MS = 20 * SECOND_MS;
/** When the background looks after the call: long after the request has stopped and its last messages have timed out. */
const BACKGROUND_AFTER_MS = 2 * MINUTE_MS;
/** One run's share; then the next job goes on, so that a stopping process loses nothing and other polls get their turn. */
const RUN_MS = 5 * MINUTE_MS;

/**
 * Sends a poll to an audience (spec 04 sections 0.5 and 12.2). The response rows are committed before the first message leaves, so no
 * button is ever dead, and the job that does what this request does not before the first row (section 12.4). Who has the poll already
 * is skipped.
 * @returns `total` = the audience; the others = what became of its members until now. A large audience is worked on in the background
 * @throws AppError 400 | 404
 */
export async function sendPoll(app: App, pollId: number, target: string): Promise<PollSendResult> {
  if (target.trim() === '') throw targetEmpty();
  const { sendId, size } = await inTransaction(app, (t) => beginSend(t, pollId, target.trim()));
  await goOn(app, sendId, { untilMs: performance.now() + REQUEST_MS });
  const result = await findSend(app.db, sendId);
  if (!result) throw pollNotFound();
  const { sent, failed, skipped, total, isMade } = result;
  // What is left to the background will be written, too: the audience was counted at the start.
  return { sent, failed, skipped, total: isMade ? total : size };
}

async function beginSend(t: App, pollId: number, target: string): Promise<{ sendId: number; size: number }> {
  if (!(await hold(t.db, pollId))) throw pollNotFound();
  const now = t.clock.now();
  const { size, audienceEnd } = await measureAudience(t.db, target, now);
  const sendId = await insertSend(t.db, { pollId, target, audienceEnd, now });
  await t.jobs.send('games.deliver-poll', { sendId }, { startAfter: addMs(now, BACKGROUND_AFTER_MS) });
  return { sendId, size };
}

/**
 * Does what is left of a call (queue `games.deliver-poll`): a share of it, the next job goes on. May run any number of times, and
 * several times at once.
 */
export async function deliverPoll(app: App, { sendId }: { sendId: number }, signal?: AbortSignal): Promise<void> {
  const waitMs = await goOn(app, sendId, { untilMs: performance.now() + RUN_MS, ...(signal && { signal }) });
  if (waitMs === null) return;
  await app.jobs.send('games.deliver-poll', { sendId }, { startAfter: addMs(app.clock.now(), waitMs) });
}

/** @returns null = the call is done with, else the milliseconds after which somebody has to go on */
async function goOn(app: App, sendId: number, limits: RunLimits): Promise<number | null> {
  if (!(await makeAll(app, sendId, limits))) return 0;
  const send = await findSend(app.db, sendId);
  return send && deliverInvitations(app, send, limits);
}

/**
 * Writes the response rows that a call still lacks, a batch a transaction. Two at once take turns.
 * @returns false when time, or the signal, ended it before
 */
async function makeAll(app: App, sendId: number, limits: RunLimits): Promise<boolean> {
  while (!(await inTransaction(app, (t) => makeSome(t, sendId)))) {
    if (isOver(limits)) return false;
  }
  return true;
}

/** @returns whether all rows are written */
async function makeSome(t: App, sendId: number): Promise<boolean> {
  const send = await lockSend(t.db, sendId);
  if (!send || send.isMade) return true;
  return makeResponses(t.db, send, { limit: BATCH, hasMessenger: t.ports.messenger.isConfigured() });
}
