import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { audienceCondition } from '../../audience/segments.ts';
import { MessengerError } from '../../messaging/ports.ts';
import { pollNotFound, targetEmpty } from './errors.ts';
import { findById, hold } from './repo.ts';
import { invitationOf } from './rules.ts';
import { findSend, finishSend, insertSend, listQueued, markDelivered, type QueuedInvitation } from './send-repo.ts';
import type { Poll, PollSendResult } from './types.ts';

/** Messages under way at the same time (spec 04 section 12.2). */
const PARALLEL = 30;
/** How long the request itself delivers; what is left then goes on in the background. */
const REQUEST_MS = 20 * SECOND_MS;
/** When the background looks after the call: long after the request has stopped and its last messages have timed out. */
const BACKGROUND_AFTER_MS = 2 * MINUTE_MS;

/**
 * Sends a poll to an audience (spec 04 sections 0.5 and 12.2). The response rows and the job that delivers what this request does not
 * are committed before the first message leaves, so no button is ever dead (section 12.4). Who has the poll already is skipped.
 * @returns `sent` = messages delivered until now; a large audience is delivered on in the background
 * @throws AppError 400 | 404
 */
export async function sendPoll(app: App, pollId: number, target: string): Promise<PollSendResult> {
  if (target.trim() === '') throw targetEmpty();
  const sendId = await inTransaction(app, async (t) => {
    if (!(await hold(t.db, pollId))) throw pollNotFound();
    const now = t.clock.now();
    const condition = audienceCondition(target.trim(), '$3::timestamptz');
    const id = await insertSend(t.db, {
      pollId,
      target: target.trim(),
      condition,
      hasMessenger: t.ports.messenger.isConfigured(),
      now,
    });
    await t.jobs.send('games.deliver-poll', { sendId: id }, { startAfter: addMs(now, BACKGROUND_AFTER_MS) });
    return id;
  });
  await deliverInvitations(app, sendId, performance.now() + REQUEST_MS);
  const result = await findSend(app.db, sendId);
  if (!result) throw pollNotFound();
  const { sent, failed, skipped, total } = result;
  return { sent, failed, skipped, total };
}

/**
 * Delivers what is left of a call (queue `games.deliver-poll`).
 * @throws Error while the messenger asks for patience: the queue runs it again
 */
export async function deliverPoll(app: App, { sendId }: { sendId: number }): Promise<void> {
  const send = await findSend(app.db, sendId);
  if (!send || send.isFinished) return;
  await deliverInvitations(app, sendId, Number.POSITIVE_INFINITY);
  const after = await findSend(app.db, sendId);
  if (after && !after.isFinished) throw new Error('the messenger takes no more messages at the moment');
}

/** @param untilMs reading of the monotonic clock after which no further batch is begun */
async function deliverInvitations(app: App, sendId: number, untilMs: number): Promise<void> {
  let afterId = 0;
  while (performance.now() < untilMs) {
    const batch = await listQueued(app.db, sendId, afterId, PARALLEL);
    const send = await findSend(app.db, sendId);
    const poll = send && (await findById(app.db, send.pollId));
    if (!poll) return;
    if (batch.length === 0) {
      await finishSend(app.db, sendId, app.clock.now());
      return;
    }
    await Promise.all(batch.map((invitation) => deliverOne(app, poll, invitation)));
    afterId = batch.at(-1)!.responseId;
  }
}

async function deliverOne(app: App, poll: Poll, { responseId, messengerId, language }: QueuedInvitation): Promise<void> {
  if (messengerId === null) return markDelivered(app.db, responseId, 'skipped');
  const { html, buttons } = invitationOf(poll, responseId, language);
  try {
    await app.ports.messenger.sendMessage(messengerId, html, buttons);
  } catch (error) {
    const kind = error instanceof MessengerError ? error.failure.kind : 'unavailable';
    // Stays queued: the background tries again.
    if (kind === 'rate_limited') return;
    const isGone = kind === 'blocked' || kind === 'chat_not_found' || kind === 'not_configured';
    if (!isGone) app.log.warn({ err: error, responseId }, 'a poll could not be delivered');
    return markDelivered(app.db, responseId, isGone ? 'skipped' : 'failed');
  }
  await markDelivered(app.db, responseId, 'sent');
}
