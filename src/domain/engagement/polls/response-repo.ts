import type { Db } from '../../../core/db/db.ts';
import { questionsSql } from './repo.ts';
import type { OwnPoll, PollQuestion } from './types.ts';

interface OwnRow {
  pollId: number;
  id: number;
  title: string;
  description: string | null;
  total: number;
  answered: number;
  completedAt: Date | null;
  reward: number;
}

const OWN = `SELECT r.poll_id, r.id, p.title, p.description, r.completed_at,
    CASE WHEN p.reward_enabled THEN p.reward_amount_kopeks ELSE 0 END AS reward,
    (SELECT count(*)::int FROM poll_questions q WHERE q.poll_id = p.id) AS total,
    (SELECT count(*)::int FROM poll_answers a WHERE a.response_id = r.id) AS answered
  FROM poll_responses r JOIN polls p ON p.id = r.poll_id`;

const toOwn = (row: OwnRow): OwnPoll => ({
  pollId: row.pollId,
  responseId: row.id,
  title: row.title,
  description: row.description,
  totalQuestions: row.total,
  answeredQuestions: row.answered,
  isCompleted: row.completedAt !== null,
  rewardAmountKopeks: Number(row.reward),
});

export async function countOpen(db: Db, userId: number): Promise<number> {
  const [row] = await db.sql<{ n: number }>(
    'SELECT count(*)::int AS n FROM poll_responses WHERE user_id = $1::int AND completed_at IS NULL',
    [userId],
  );
  return row!.n;
}

/** Newest sent first. */
export async function listOwn(db: Db, userId: number): Promise<OwnPoll[]> {
  const rows = await db.sql<OwnRow>(`${OWN} WHERE r.user_id = $1::int ORDER BY r.sent_at DESC, r.id DESC`, [userId]);
  return rows.map(toOwn);
}

/** Null also for a response of another user. */
export async function findOwn(db: Db, userId: number, responseId: number): Promise<OwnPoll | null> {
  const [row] = await db.sql<OwnRow>(`${OWN} WHERE r.id = $2::bigint AND r.user_id = $1::int`, [userId, responseId]);
  return row ? toOwn(row) : null;
}

export interface LockedResponse {
  id: number;
  pollId: number;
  isCompleted: boolean;
  language: string | null;
  /** Kopeks a completed response pays. */
  rewardKopeks: number;
  questions: PollQuestion[];
  answered: Set<number>;
}

/**
 * Locks the user, holds the poll, then locks the user's response: in the order in which a deletion takes poll and responses. What it
 * depends on is read with the locks in hand, so that two last answers at once see each other (spec 04 section 12.4). Null also for a
 * response of another user.
 */
export async function lockOwn(db: Db, userId: number, responseId: number): Promise<LockedResponse | null> {
  await db.sql('SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE', [userId]);
  // The poll cannot be deleted while its answer is written: the key lock of the reward's amount and of the questions.
  const [poll] = await db.sql<{ reward: number }>(
    `SELECT CASE WHEN reward_enabled THEN reward_amount_kopeks ELSE 0 END AS reward FROM polls
     WHERE id = (SELECT poll_id FROM poll_responses WHERE id = $2::bigint AND user_id = $1::int) FOR KEY SHARE`,
    [userId, responseId],
  );
  const [locked] = await db.sql<{ id: number; pollId: number; completedAt: Date | null }>(
    'SELECT id, poll_id, completed_at FROM poll_responses WHERE id = $2::bigint AND user_id = $1::int FOR UPDATE',
    [userId, responseId],
  );
  if (!poll || !locked) return null;
  const [row] = await db.sql<{ language: string | null; questions: PollQuestion[]; answered: number[] }>(
    `SELECT u.language, ${questionsSql('$2::int')} AS questions,
       coalesce((SELECT json_agg(a.question_id) FROM poll_answers a WHERE a.response_id = $3::int), '[]') AS answered
     FROM users u WHERE u.id = $1::int`,
    [userId, locked.pollId, locked.id],
  );
  return {
    id: locked.id,
    pollId: locked.pollId,
    isCompleted: locked.completedAt !== null,
    language: row!.language,
    rewardKopeks: Number(poll.reward),
    questions: row!.questions,
    answered: new Set(row!.answered),
  };
}

/** The first start counts. */
export async function markStarted(db: Db, responseId: number, now: Date): Promise<void> {
  await db.sql('UPDATE poll_responses SET started_at = $2::timestamptz WHERE id = $1::int AND started_at IS NULL RETURNING id', [
    responseId,
    now,
  ]);
}

/** A second answer to a question replaces the first. */
export async function saveAnswer(
  db: Db,
  answer: { responseId: number; questionId: number; optionId: number; now: Date },
): Promise<void> {
  await db.sql(
    `INSERT INTO poll_answers (response_id, question_id, option_id, created_at) VALUES ($1::int, $2::int, $3::int, $4::timestamptz)
     ON CONFLICT (response_id, question_id) DO UPDATE SET option_id = EXCLUDED.option_id, created_at = EXCLUDED.created_at
     RETURNING id`,
    [answer.responseId, answer.questionId, answer.optionId, answer.now],
  );
}

/** Completion and reward are one fact. */
export async function markCompleted(
  db: Db,
  responseId: number,
  reward: { transactionId: number; kopeks: number } | null,
  now: Date,
): Promise<void> {
  await db.sql(
    `UPDATE poll_responses SET completed_at = $2::timestamptz, reward_given = $3::int IS NOT NULL, reward_transaction_id = $3::int,
       reward_amount_kopeks = $4::bigint WHERE id = $1::int AND completed_at IS NULL RETURNING id`,
    [responseId, now, reward?.transactionId ?? null, reward?.kopeks ?? 0],
  );
}
