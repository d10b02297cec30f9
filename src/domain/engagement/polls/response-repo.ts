import type { Db } from '../../../core/db/db.ts';
import { questionsSql } from './repo.ts';
import type { MyPoll, PollQuestion } from './types.ts';

const MY_POLL = `SELECT r.poll_id, r.id AS response_id, p.title, p.description, r.completed_at IS NOT NULL AS is_completed,
    CASE WHEN p.reward_enabled THEN p.reward_amount_kopeks ELSE 0 END AS reward_amount_kopeks,
    (SELECT count(*)::int FROM poll_questions q WHERE q.poll_id = p.id) AS total_questions,
    (SELECT count(*)::int FROM poll_answers a WHERE a.response_id = r.id) AS answered_questions
  FROM poll_responses r JOIN polls p ON p.id = r.poll_id`;

export async function countOpen(db: Db, userId: number): Promise<number> {
  return db.prisma.pollResponse.count({ where: { userId, completedAt: null } });
}

/** Newest sent first. */
export async function listPollsOfUser(db: Db, userId: number): Promise<MyPoll[]> {
  return db.sql<MyPoll>(`${MY_POLL} WHERE r.user_id = $1::int ORDER BY r.sent_at DESC, r.id DESC`, [userId]);
}

/** Null also for a response of another user. */
export async function findPollOfUser(db: Db, userId: number, responseId: number): Promise<MyPoll | null> {
  const [row] = await db.sql<MyPoll>(`${MY_POLL} WHERE r.id = $2::bigint AND r.user_id = $1::int`, [userId, responseId]);
  return row ?? null;
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
 * Locks the user, locks the poll for share, then locks the user's response: a deletion locks poll and responses in this order. The data
 * is read under the locks, so that of two parallel last answers the second sees the first (spec 04 section 12.4). Null also for a
 * response of another user.
 */
export async function lockResponseOfUser(db: Db, userId: number, responseId: number): Promise<LockedResponse | null> {
  await db.sql('SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE', [userId]);
  // The poll cannot be deleted while the answer is written.
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
    rewardKopeks: poll.reward,
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

/** Stores completion and reward together. */
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
