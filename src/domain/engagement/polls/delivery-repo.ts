import type { Db } from '../../../core/db/db.ts';

/** An invitation that this run may send now; nobody else will. */
export interface ClaimedInvitation {
  responseId: number;
  messengerId: number | null;
  language: string | null;
}

/** Takes the next invitations of a call out of the queue before they are sent. Two runs at once take different ones. */
export async function claimInvitations(db: Db, sendId: number, limit: number, now: Date): Promise<ClaimedInvitation[]> {
  return db.sql<ClaimedInvitation>(
    `WITH next AS (SELECT id FROM poll_responses WHERE send_id = $1::int AND delivery_state = 'queued'
         ORDER BY id LIMIT $2::int FOR UPDATE SKIP LOCKED),
       taken AS (UPDATE poll_responses r SET delivery_state = 'sending', claimed_at = $3::timestamptz FROM next
         WHERE r.id = next.id RETURNING r.id, r.user_id)
     SELECT t.id AS "responseId", u.messenger_id AS "messengerId", u.language
     FROM taken t LEFT JOIN users u ON u.id = t.user_id ORDER BY t.id`,
    [sendId, limit, now],
  );
}

/**
 * Puts invitations back into the queue that a run took and never came back to. Whether they were sent nobody knows; a poll that somebody
 * never hears of is worse than one that a few hear of twice after a crash.
 */
export async function releaseAbandoned(db: Db, sendId: number, takenBefore: Date): Promise<void> {
  await db.sql(
    `UPDATE poll_responses SET delivery_state = 'queued', claimed_at = NULL
     WHERE id IN (SELECT id FROM poll_responses WHERE send_id = $1::int AND delivery_state = 'sending' AND claimed_at < $2::timestamptz
       ORDER BY id FOR UPDATE SKIP LOCKED) RETURNING id`,
    [sendId, takenBefore],
  );
}

/** What became of a taken invitation. `queued`: it surely was not sent and waits for its next turn. */
export type Delivered = 'sent' | 'failed' | 'skipped' | 'queued';

/**
 * Notes what became of one taken invitation, in its row and in the counters of the call; once. The poll is held first, in the order in
 * which a deletion takes poll, call and responses.
 */
export async function markDelivered(db: Db, responseId: number, state: Delivered): Promise<void> {
  await db.sql(
    `WITH poll AS MATERIALIZED (SELECT id FROM polls WHERE id = (SELECT poll_id FROM poll_responses WHERE id = $1::int) FOR KEY SHARE),
       noted AS (UPDATE poll_responses r SET delivery_state = $2 FROM poll
         WHERE r.id = $1::int AND r.poll_id = poll.id AND r.delivery_state = 'sending' RETURNING r.send_id)
     UPDATE poll_sends SET sent = sent + ($2 = 'sent')::int, failed = failed + ($2 = 'failed')::int,
       skipped = skipped + ($2 = 'skipped')::int
     WHERE id = (SELECT send_id FROM noted) RETURNING id`,
    [responseId, state],
  );
}

/** Is an invitation of the call waiting or under way? */
export async function hasOpenInvitations(db: Db, sendId: number): Promise<boolean> {
  const rows = await db.sql(
    `SELECT 1 AS open FROM poll_responses WHERE send_id = $1::int AND delivery_state IN ('queued', 'sending') LIMIT 1`,
    [sendId],
  );
  return rows.length > 0;
}
