import type { Db } from '../../../core/db/db.ts';
import { AUDIENCE_TABLES } from '../../audience/segments.ts';
import type { PollSendResult } from './types.ts';

export interface NewSend {
  pollId: number;
  target: string;
  /** SQL of `audienceCondition`, its moment `$3::timestamptz`. */
  condition: string;
  /** Without a messenger nobody is written to. */
  hasMessenger: boolean;
  now: Date;
}

/**
 * Writes the call and a response row for each member of the audience who has none yet. Users without messenger get theirs too: the
 * cabinet shows it (spec 04 section 12.4).
 * @returns the id of the call
 */
export async function insertSend(db: Db, send: NewSend): Promise<number> {
  const [row] = await db.sql<{ id: number; total: number; made: number }>(
    `WITH call AS (INSERT INTO poll_sends (poll_id, target, created_at) VALUES ($1::int, $2, $3::timestamptz) RETURNING id),
       audience AS (SELECT u.id, u.messenger_id FROM ${AUDIENCE_TABLES} WHERE ${send.condition}),
       made AS (INSERT INTO poll_responses (poll_id, user_id, send_id, delivery_state, sent_at)
         SELECT $1::int, a.id, call.id, CASE WHEN a.messenger_id IS NOT NULL AND $4::boolean THEN 'queued' ELSE 'skipped' END,
           $3::timestamptz FROM audience a, call ORDER BY a.id
         ON CONFLICT (poll_id, user_id) DO NOTHING RETURNING delivery_state)
     SELECT call.id, (SELECT count(*)::int FROM audience) AS total, (SELECT count(*)::int FROM made) AS made FROM call`,
    [send.pollId, send.target, send.now, send.hasMessenger],
  );
  await db.sql(
    `UPDATE poll_sends SET total = $2::int, skipped = $2::int - $3::int
       + (SELECT count(*)::int FROM poll_responses r WHERE r.send_id = $1::int AND r.delivery_state = 'skipped')
     WHERE id = $1::int RETURNING id`,
    [row!.id, row!.total, row!.made],
  );
  return row!.id;
}

/** An invitation that waits to be sent. */
export interface QueuedInvitation {
  responseId: number;
  messengerId: number | null;
  language: string | null;
}

/** The next invitations of a call after `afterId`, by id. */
export async function listQueued(db: Db, sendId: number, afterId: number, limit: number): Promise<QueuedInvitation[]> {
  const rows = await db.sql<{ id: number; messenger_id: number | null; language: string | null }>(
    `SELECT r.id, u.messenger_id, u.language FROM poll_responses r LEFT JOIN users u ON u.id = r.user_id
     WHERE r.send_id = $1::int AND r.delivery_state = 'queued' AND r.id > $2::int ORDER BY r.id LIMIT $3::int`,
    [sendId, afterId, limit],
  );
  return rows.map((row) => ({ responseId: row.id, messengerId: row.messenger_id, language: row.language }));
}

/** Notes what became of one invitation, in its row and in the counters of the call; once. */
export async function markDelivered(db: Db, responseId: number, state: 'sent' | 'failed' | 'skipped'): Promise<void> {
  await db.sql(
    `WITH noted AS (UPDATE poll_responses SET delivery_state = $2 WHERE id = $1::int AND delivery_state = 'queued' RETURNING send_id)
     UPDATE poll_sends SET sent = sent + ($2 = 'sent')::int, failed = failed + ($2 = 'failed')::int,
       skipped = skipped + ($2 = 'skipped')::int
     WHERE id = (SELECT send_id FROM noted) RETURNING id`,
    [responseId, state],
  );
}

/** @returns null when the poll was deleted meanwhile */
export async function findSend(
  db: Db,
  sendId: number,
): Promise<(PollSendResult & { pollId: number; isFinished: boolean }) | null> {
  const [row] = await db.sql<PollSendResult & { poll_id: number; finished_at: Date | null }>(
    'SELECT poll_id, sent, failed, skipped, total, finished_at FROM poll_sends WHERE id = $1::int',
    [sendId],
  );
  if (!row) return null;
  const { sent, failed, skipped, total } = row;
  return { sent, failed, skipped, total, pollId: row.poll_id, isFinished: row.finished_at !== null };
}

export async function finishSend(db: Db, sendId: number, now: Date): Promise<void> {
  await db.sql(
    `UPDATE poll_sends SET finished_at = $2::timestamptz WHERE id = $1::int AND finished_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM poll_responses r WHERE r.send_id = $1::int AND r.delivery_state = 'queued') RETURNING id`,
    [sendId, now],
  );
}
