import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isDatabaseUnavailable, isRetryable } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { AUDIENCE_TABLES, audienceCondition } from '../../audience/segments.ts';
import { MessengerError } from '../../messaging/ports.ts';
import { invitationOf, pollNotFound, targetEmpty } from './polls.ts';
import { findById, lockPollForShare } from './repo.ts';
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

/** Messages claimed at a time and sent in parallel; the messenger's adapter limits the rate. */
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

const SEND = columns('PollSend', [
  'id',
  'pollId',
  'target',
  'total',
  'sent',
  'failed',
  'skipped',
  'processedUpTo',
  'audienceEnd',
  'createdAt',
]);

/**
 * One "send" of a poll. The counters and `total` grow with the response rows; `total` is the whole audience once it `isMade`. The
 * audience is that of `createdAt`; its users up to `processedUpTo` have their response row.
 */
type PollSend = RowOf<typeof SEND> & { isMade: boolean; isFinished: boolean };

const SELECT_SEND = `SELECT ${SEND.of()}, processed_up_to >= audience_end AS is_made, finished_at IS NOT NULL AS is_finished
  FROM poll_sends WHERE id = $1::int`;

/** Size of the audience now, and the id of its last member, 0 when it is empty. */
async function measureAudience(db: Db, target: string, now: Date): Promise<{ size: number; audienceEnd: number }> {
  const [row] = await db.sql<{ size: number; last: number }>(
    `SELECT count(*)::int AS size, coalesce(max(u.id), 0) AS last FROM ${AUDIENCE_TABLES}
     WHERE $1::timestamptz IS NOT NULL AND ${audienceCondition(target, '$1::timestamptz')}`,
    [now],
  );
  return { size: row!.size, audienceEnd: row!.last };
}

/** @returns the id of the call */
async function insertSend(db: Db, send: { pollId: number; target: string; audienceEnd: number; now: Date }): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO poll_sends (poll_id, target, audience_end, created_at) VALUES ($1::int, $2, $3::int, $4::timestamptz) RETURNING id`,
    [send.pollId, send.target, send.audienceEnd, send.now],
  );
  return row!.id;
}

/** @returns null when the poll has been deleted */
async function findSend(db: Db, id: number): Promise<PollSend | null> {
  const [row] = await db.sql<PollSend>(SELECT_SEND, [id]);
  return row ?? null;
}

/**
 * The same, locked: no other run writes its rows until the end of the transaction. The poll is locked for share first, in the order in
 * which a deletion locks the two.
 */
async function lockSend(db: Db, id: number): Promise<PollSend | null> {
  await db.sql('SELECT id FROM polls WHERE id = (SELECT poll_id FROM poll_sends WHERE id = $1::int) FOR KEY SHARE', [id]);
  const [row] = await db.sql<PollSend>(`${SELECT_SEND} FOR UPDATE`, [id]);
  return row ?? null;
}

/**
 * Writes a response row for each of the next members by user id who has none yet, and advances `processedUpTo`, in one statement.
 * Users without messenger get a row too, since the cabinet shows the poll; they count as skipped, like users who
 * have the poll already.
 * @returns whether these were the last ones
 */
async function makeResponses(
  db: Db,
  send: Pick<PollSend, 'id' | 'pollId' | 'target' | 'processedUpTo' | 'audienceEnd' | 'createdAt'>,
  step: { limit: number; hasMessenger: boolean },
): Promise<boolean> {
  const [row] = await db.sql<{ processed: number }>(
    `WITH members AS MATERIALIZED (SELECT u.id, u.messenger_id IS NOT NULL AND $4::boolean AS is_reachable FROM ${AUDIENCE_TABLES}
         WHERE u.id > $5::int AND u.id <= $6::int AND ${audienceCondition(send.target, '$3::timestamptz')}
         ORDER BY u.id LIMIT $7::int FOR KEY SHARE OF u),
       made AS (INSERT INTO poll_responses (poll_id, user_id, send_id, delivery_state, sent_at)
         SELECT $2::int, m.id, $1::int, CASE WHEN m.is_reachable THEN 'queued' ELSE 'skipped' END, $3::timestamptz
         FROM members m ORDER BY m.id
         ON CONFLICT (poll_id, user_id) DO NOTHING RETURNING delivery_state),
       counted AS (SELECT (SELECT count(*)::int FROM members) AS processed, (SELECT count(*)::int FROM made WHERE delivery_state = 'queued') AS queued)
     UPDATE poll_sends p SET total = p.total + c.processed, skipped = p.skipped + c.processed - c.queued,
       processed_up_to = CASE WHEN c.processed < $7::int THEN p.audience_end ELSE (SELECT max(id) FROM members) END
     FROM counted c WHERE p.id = $1::int RETURNING c.processed`,
    [send.id, send.pollId, send.createdAt, step.hasMessenger, send.processedUpTo, send.audienceEnd, step.limit],
  );
  return (row?.processed ?? 0) < step.limit;
}

async function finishSend(db: Db, sendId: number, now: Date): Promise<void> {
  await db.sql('UPDATE poll_sends SET finished_at = $2::timestamptz WHERE id = $1::int AND finished_at IS NULL RETURNING id', [
    sendId,
    now,
  ]);
}

/** An invitation that this run has claimed: no other run sends it. */
interface ClaimedInvitation {
  responseId: number;
  messengerId: number | null;
  language: string | null;
}

/** Claims the next queued invitations of a call before they are sent. Parallel runs claim different ones. */
async function claimInvitations(db: Db, sendId: number, limit: number, now: Date): Promise<ClaimedInvitation[]> {
  return db.sql<ClaimedInvitation>(
    `WITH next AS (SELECT id FROM poll_responses WHERE send_id = $1::int AND delivery_state = 'queued'
         ORDER BY id LIMIT $2::int FOR UPDATE SKIP LOCKED),
       taken AS (UPDATE poll_responses r SET delivery_state = 'sending', claimed_at = $3::timestamptz FROM next
         WHERE r.id = next.id RETURNING r.id, r.user_id)
     SELECT t.id AS response_id, u.messenger_id, u.language
     FROM taken t LEFT JOIN users u ON u.id = t.user_id ORDER BY t.id`,
    [sendId, limit, now],
  );
}

/**
 * Queues invitations of crashed runs again. It is unknown whether they were sent; a missing invitation is worse than a second one after a
 * crash.
 */
async function releaseAbandoned(db: Db, sendId: number, claimedBefore: Date): Promise<void> {
  await db.sql(
    `UPDATE poll_responses SET delivery_state = 'queued', claimed_at = NULL
     WHERE id = ANY(ARRAY(SELECT id FROM poll_responses WHERE send_id = $1::int AND delivery_state = 'sending' AND claimed_at < $2::timestamptz
       ORDER BY id FOR UPDATE SKIP LOCKED)) RETURNING id`,
    [sendId, claimedBefore],
  );
}

/** Result of a claimed invitation. `queued`: it was certainly not sent and will be claimed again. */
type Delivered = 'sent' | 'failed' | 'skipped' | 'queued';

/**
 * Stores the result of one claimed invitation in its row and in the counters of the call; once. The poll is locked for share first, in
 * the order in which a deletion locks poll, call and responses.
 */
async function markDelivered(db: Db, responseId: number, state: Delivered): Promise<void> {
  await db.sql(
    `WITH poll AS MATERIALIZED (SELECT id FROM polls WHERE id = (SELECT poll_id FROM poll_responses WHERE id = $1::int) FOR KEY SHARE),
       recorded AS (UPDATE poll_responses r SET delivery_state = $2 FROM poll
         WHERE r.id = $1::int AND r.poll_id = poll.id AND r.delivery_state = 'sending' RETURNING r.send_id)
     UPDATE poll_sends SET sent = sent + ($2 = 'sent')::int, failed = failed + ($2 = 'failed')::int,
       skipped = skipped + ($2 = 'skipped')::int
     WHERE id = (SELECT send_id FROM recorded) RETURNING id`,
    [responseId, state],
  );
}

/** Whether an invitation of the call is queued or being sent. */
async function hasOpenInvitations(db: Db, sendId: number): Promise<boolean> {
  const rows = await db.sql(
    `SELECT 1 AS open FROM poll_responses WHERE send_id = $1::int AND delivery_state IN ('queued', 'sending') LIMIT 1`,
    [sendId],
  );
  return rows.length > 0;
}
