import { allColumns, columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { LISTED_USER, type ListedUserRow, listedUser } from '../listed-user.ts';
import type { AttemptView, PlayableContest, PlayedRound } from './types.ts';

const ROUND = allColumns('ContestRound');
const TEMPLATE = columns('ContestTemplate', ['slug', 'name', 'description', 'prizeType', 'prizeValue', 'isEnabled']);
const PLAYED = `${ROUND.of('r')}, ${TEMPLATE.of('t')}`;

/** A round with its template, also one that is over. */
export async function findPlayedRound(db: Db, id: number): Promise<PlayedRound | null> {
  const [row] = await db.sql<PlayedRound>(
    `SELECT ${PLAYED} FROM contest_rounds r JOIN contest_templates t ON t.id = r.template_id WHERE r.id = $1::bigint`,
    [id],
  );
  return row ?? null;
}

export async function hasPlayed(db: Db, roundId: number, userId: number): Promise<boolean> {
  const rows = await db.sql('SELECT 1 AS found FROM contest_attempts WHERE round_id = $1::int AND user_id = $2::int', [
    roundId,
    userId,
  ]);
  return rows.length > 0;
}

/** What the user can play: of each enabled template the round that began first, in the order of their starts (spec 04 section 10.5). */
export function listPlayable(db: Db, userId: number, now: Date): Promise<PlayableContest[]> {
  return db.sql<PlayableContest>(
    `SELECT c.id, c.slug, c.name, c.description, c.prize_type, c.prize_value, true AS is_available,
       EXISTS (SELECT 1 FROM contest_attempts a WHERE a.round_id = c.id AND a.user_id = $1::int) AS already_played
     FROM (SELECT DISTINCT ON (r.template_id) r.id, r.starts_at, t.slug, t.name, t.description, t.prize_type, t.prize_value
       FROM contest_rounds r JOIN contest_templates t ON t.id = r.template_id AND t.is_enabled
       WHERE r.status = 'active' AND r.starts_at <= $2::timestamptz AND r.ends_at >= $2::timestamptz
       ORDER BY r.template_id, r.starts_at, r.id) c
     ORDER BY c.starts_at, c.id`,
    [userId, now],
  );
}

/** @returns null when the user has an attempt in the round: the unique key decides between two at once */
export async function insertAttempt(
  db: Db,
  attempt: { roundId: number; userId: number; answer: string; now: Date },
): Promise<number | null> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO contest_attempts (round_id, user_id, answer, created_at) VALUES ($1::int, $2::int, $3, $4::timestamptz)
     ON CONFLICT (round_id, user_id) DO NOTHING RETURNING id`,
    [attempt.roundId, attempt.userId, attempt.answer, attempt.now],
  );
  return row?.id ?? null;
}

/**
 * Claims one of the places for winners, under the lock of the round; the last one finishes the round, which is offered no longer then
 * (spec 10 O9).
 * @returns false when there is none left, or the round has been finished meanwhile
 */
export async function takeWinnersPlace(db: Db, roundId: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE contest_rounds SET winners_count = winners_count + 1, updated_at = $2::timestamptz,
       status = CASE WHEN winners_count + 1 >= max_winners THEN 'finished' ELSE status END
     WHERE id = $1::int AND status = 'active' AND winners_count < max_winners RETURNING id`,
    [roundId, now],
  );
  return rows.length > 0;
}

/** @param prizeTransactionId of a prize in money */
export async function markWinner(db: Db, attemptId: number, prizeTransactionId: number | null): Promise<void> {
  await db.sql('UPDATE contest_attempts SET is_winner = true, prize_transaction_id = $2::int WHERE id = $1::int RETURNING id', [
    attemptId,
    prizeTransactionId,
  ]);
}

/** Of two users who are to become one, and who both played a round, deletes the attempt of `userId` where only that of `otherId` has won. */
export async function deleteLostAttempts(db: Db, userId: number, otherId: number): Promise<void> {
  await db.sql(
    `DELETE FROM contest_attempts a USING contest_attempts o WHERE a.user_id = $1::int AND NOT a.is_winner
       AND o.user_id = $2::int AND o.round_id = a.round_id AND o.is_winner RETURNING a.id`,
    [userId, otherId],
  );
}

const ATTEMPT = columns('ContestAttempt', ['id', 'roundId', 'answer', 'isWinner', 'createdAt']);

/** Oldest first. An unknown round has none. */
export async function listAttempts(
  db: Db,
  { roundId, winnersOnly }: { roundId: number; winnersOnly: boolean },
  page: { limit: number; offset: number },
): Promise<{ items: AttemptView[]; total: number }> {
  const where = `WHERE a.round_id = $1::bigint ${winnersOnly ? 'AND a.is_winner' : ''}`;
  const rows = await db.sql<RowOf<typeof ATTEMPT> & ListedUserRow & { userId: number }>(
    `SELECT ${ATTEMPT.of('a')}, a.user_id, ${LISTED_USER.of('u')} FROM contest_attempts a JOIN users u ON u.id = a.user_id ${where}
     ORDER BY a.created_at, a.id LIMIT $2::int OFFSET $3::bigint`,
    [roundId, page.limit, page.offset],
  );
  const [count] = await db.sql<{ n: number }>(`SELECT count(*)::int AS n FROM contest_attempts a ${where}`, [roundId]);
  const items = rows.map(({ id, roundId: round, answer, isWinner, createdAt, userId, ...user }) => ({
    ...{ id, roundId: round, answer, isWinner, createdAt },
    user: listedUser({ id: userId, ...user }),
  }));
  return { items, total: count!.n };
}
