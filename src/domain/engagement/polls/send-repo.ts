import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { AUDIENCE_TABLES, audienceCondition } from '../../audience/segments.ts';

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
export type PollSend = RowOf<typeof SEND> & { isMade: boolean; isFinished: boolean };

const SELECT_SEND = `SELECT ${SEND.of()}, processed_up_to >= audience_end AS is_made, finished_at IS NOT NULL AS is_finished
  FROM poll_sends WHERE id = $1::int`;

/** Size of the audience now, and the id of its last member, 0 when it is empty. */
export async function measureAudience(db: Db, target: string, now: Date): Promise<{ size: number; audienceEnd: number }> {
  const [row] = await db.sql<{ size: number; last: number }>(
    `SELECT count(*)::int AS size, coalesce(max(u.id), 0) AS last FROM ${AUDIENCE_TABLES}
     WHERE $1::timestamptz IS NOT NULL AND ${audienceCondition(target, '$1::timestamptz')}`,
    [now],
  );
  return { size: row!.size, audienceEnd: row!.last };
}

/** @returns the id of the call */
export async function insertSend(
  db: Db,
  send: { pollId: number; target: string; audienceEnd: number; now: Date },
): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO poll_sends (poll_id, target, audience_end, created_at) VALUES ($1::int, $2, $3::int, $4::timestamptz) RETURNING id`,
    [send.pollId, send.target, send.audienceEnd, send.now],
  );
  return row!.id;
}

/** @returns null when the poll has been deleted */
export async function findSend(db: Db, id: number): Promise<PollSend | null> {
  const [row] = await db.sql<PollSend>(SELECT_SEND, [id]);
  return row ?? null;
}

/**
 * The same, locked: no other run writes its rows until the end of the transaction. The poll is locked for share first, in the order in
 * which a deletion locks the two.
 */
export async function lockSend(db: Db, id: number): Promise<PollSend | null> {
  await db.sql('SELECT id FROM polls WHERE id = (SELECT poll_id FROM poll_sends WHERE id = $1::int) FOR KEY SHARE', [id]);
  const [row] = await db.sql<PollSend>(`${SELECT_SEND} FOR UPDATE`, [id]);
  return row ?? null;
}

/**
 * Writes a response row for each of the next members by user id who has none yet, and advances `processedUpTo`, in one statement.
 * Users without messenger get a row too, since the cabinet shows the poll (spec 04 section 12.4); they count as skipped, like users who
 * have the poll already.
 * @returns whether these were the last ones
 */
export async function makeResponses(
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

export async function finishSend(db: Db, sendId: number, now: Date): Promise<void> {
  await db.sql('UPDATE poll_sends SET finished_at = $2::timestamptz WHERE id = $1::int AND finished_at IS NULL RETURNING id', [
    sendId,
    now,
  ]);
}

/** An invitation that this run has claimed: no other run sends it. */
export interface ClaimedInvitation {
  responseId: number;
  messengerId: number | null;
  language: string | null;
}

/** Claims the next queued invitations of a call before they are sent. Parallel runs claim different ones. */
export async function claimInvitations(db: Db, sendId: number, limit: number, now: Date): Promise<ClaimedInvitation[]> {
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
export async function releaseAbandoned(db: Db, sendId: number, claimedBefore: Date): Promise<void> {
  await db.sql(
    `UPDATE poll_responses SET delivery_state = 'queued', claimed_at = NULL
     WHERE id = ANY(ARRAY(SELECT id FROM poll_responses WHERE send_id = $1::int AND delivery_state = 'sending' AND claimed_at < $2::timestamptz
       ORDER BY id FOR UPDATE SKIP LOCKED)) RETURNING id`,
    [sendId, claimedBefore],
  );
}

/** Result of a claimed invitation. `queued`: it was certainly not sent and will be claimed again. */
export type Delivered = 'sent' | 'failed' | 'skipped' | 'queued';

/**
 * Stores the result of one claimed invitation in its row and in the counters of the call; once. The poll is locked for share first, in
 * the order in which a deletion locks poll, call and responses.
 */
export async function markDelivered(db: Db, responseId: number, state: Delivered): Promise<void> {
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
export async function hasOpenInvitations(db: Db, sendId: number): Promise<boolean> {
  const rows = await db.sql(
    `SELECT 1 AS open FROM poll_responses WHERE send_id = $1::int AND delivery_state IN ('queued', 'sending') LIMIT 1`,
    [sendId],
  );
  return rows.length > 0;
}
