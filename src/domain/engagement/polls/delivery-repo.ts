import type { Db } from '../../../core/db/db.ts';

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
