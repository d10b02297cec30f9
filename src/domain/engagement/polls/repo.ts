import type { Db } from '../../../core/db/db.ts';
import type { NewPoll, Poll, PollHead, PollQuestion, PollResponseView, PollStatistics, PollSummary } from './types.ts';

interface HeadRow {
  id: number;
  title: string;
  description: string | null;
  rewardEnabled: boolean;
  rewardAmountKopeks: number;
  createdAt: Date;
  updatedAt: Date;
}

const HEAD = 'p.id, p.title, p.description, p.reward_enabled, p.reward_amount_kopeks, p.created_at, p.updated_at';

const toHead = (row: HeadRow): PollHead => ({
  id: row.id,
  title: row.title,
  description: row.description,
  rewardEnabled: row.rewardEnabled,
  rewardAmountKopeks: row.rewardAmountKopeks,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

/** SQL of a poll's questions with their options as JSON; `poll` is SQL of the poll's id. */
export const questionsSql = (poll: string) => `coalesce((SELECT json_agg(json_build_object('id', q.id, 'text', q.text,
    'order', q.sort_order, 'options', coalesce((SELECT json_agg(json_build_object('id', o.id, 'text', o.text, 'order', o.sort_order)
      ORDER BY o.sort_order) FROM poll_options o WHERE o.question_id = q.id), '[]')) ORDER BY q.sort_order)
  FROM poll_questions q WHERE q.poll_id = ${poll}), '[]')`;

/** Poll, questions and options in one statement. */
export async function insert(db: Db, poll: NewPoll, now: Date): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `WITH made AS (INSERT INTO polls (title, description, reward_enabled, reward_amount_kopeks, created_at, updated_at)
         VALUES ($1, $2, $3::boolean, $4::bigint, $6::timestamptz, $6::timestamptz) RETURNING id),
       asked AS (SELECT e.value, e.ordinality::int AS at FROM jsonb_array_elements($5::jsonb) WITH ORDINALITY e),
       questions AS (INSERT INTO poll_questions (poll_id, text, sort_order)
         SELECT made.id, asked.value ->> 'text', asked.at FROM made, asked RETURNING id, sort_order),
       options AS (INSERT INTO poll_options (question_id, text, sort_order)
         SELECT q.id, o.value ->> 'text', o.ordinality::int FROM questions q JOIN asked ON asked.at = q.sort_order
         CROSS JOIN LATERAL jsonb_array_elements(asked.value -> 'options') WITH ORDINALITY o)
     SELECT id FROM made`,
    [poll.title, poll.description, poll.rewardEnabled, poll.rewardAmountKopeks, JSON.stringify(poll.questions), now],
  );
  return row!.id;
}

export async function findById(db: Db, id: number): Promise<Poll | null> {
  const [row] = await db.sql<HeadRow & { questions: PollQuestion[] }>(
    `SELECT ${HEAD}, ${questionsSql('p.id')} AS questions FROM polls p WHERE p.id = $1::bigint`,
    [id],
  );
  return row ? { ...toHead(row), questions: row.questions } : null;
}

/** Whether there is such a poll; it cannot be deleted until the end of the transaction. */
export async function hold(db: Db, id: number): Promise<boolean> {
  return (await db.sql('SELECT id FROM polls WHERE id = $1::bigint FOR KEY SHARE', [id])).length > 0;
}

/** Newest first. */
export async function list(db: Db, page: { limit: number; offset: number }): Promise<{ items: PollSummary[]; total: number }> {
  const rows = await db.sql<HeadRow & { questionsCount: number; responsesCount: number }>(
    `SELECT ${HEAD}, (SELECT count(*)::int FROM poll_questions q WHERE q.poll_id = p.id) AS questions_count,
       (SELECT count(*)::int FROM poll_responses r WHERE r.poll_id = p.id) AS responses_count
     FROM polls p ORDER BY p.created_at DESC, p.id DESC LIMIT $1::int OFFSET $2::bigint`,
    [page.limit, page.offset],
  );
  const [count] = await db.sql<{ total: number }>('SELECT count(*)::int AS total FROM polls');
  const items = rows.map((row) => ({
    ...toHead(row),
    questionsCount: row.questionsCount,
    responsesCount: row.responsesCount,
  }));
  return { items, total: count!.total };
}

/** Everything of the poll goes with it. @returns false when there is none */
export async function remove(db: Db, id: number): Promise<boolean> {
  const rows = await db.sql<{ id: number }>('DELETE FROM polls WHERE id = $1::bigint RETURNING id', [id]);
  return rows.length > 0;
}

export async function findStatistics(db: Db, id: number): Promise<PollStatistics | null> {
  const [row] = await db.sql<{
    title: string;
    total: number;
    completed: number;
    rewards: number;
    questions: PollStatistics['questions'];
  }>(
    `SELECT p.title, (SELECT count(*)::int FROM poll_responses r WHERE r.poll_id = p.id) AS total,
       (SELECT count(*)::int FROM poll_responses r WHERE r.poll_id = p.id AND r.completed_at IS NOT NULL) AS completed,
       (SELECT coalesce(sum(r.reward_amount_kopeks), 0)::bigint FROM poll_responses r
         WHERE r.poll_id = p.id AND r.reward_given) AS rewards,
       coalesce((SELECT json_agg(json_build_object('id', q.id, 'text', q.text, 'order', q.sort_order, 'options',
           coalesce((SELECT json_agg(json_build_object('id', o.id, 'text', o.text,
             'count', (SELECT count(*) FROM poll_answers a WHERE a.question_id = q.id AND a.option_id = o.id)) ORDER BY o.sort_order)
             FROM poll_options o WHERE o.question_id = q.id), '[]')) ORDER BY q.sort_order)
         FROM poll_questions q WHERE q.poll_id = p.id), '[]') AS questions
     FROM polls p WHERE p.id = $1::bigint`,
    [id],
  );
  if (!row) return null;
  return {
    pollId: id,
    pollTitle: row.title,
    totalResponses: row.total,
    completedResponses: row.completed,
    rewardSumKopeks: Number(row.rewards),
    questions: row.questions,
  };
}

interface ResponseRow {
  id: number;
  userId: number | null;
  messengerId: number | null;
  username: string | null;
  sentAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
  rewardGiven: boolean;
  rewardAmountKopeks: number;
  answers: { question_id: number; question_text: string; option_id: number; option_text: string; created_at: string }[];
}

/** Oldest first; null for an unknown poll. */
export async function listResponses(
  db: Db,
  pollId: number,
  page: { limit: number; offset: number },
): Promise<{ items: PollResponseView[]; total: number } | null> {
  const [poll] = await db.sql<{ total: number }>(
    'SELECT (SELECT count(*)::int FROM poll_responses r WHERE r.poll_id = p.id) AS total FROM polls p WHERE p.id = $1::bigint',
    [pollId],
  );
  if (!poll) return null;
  const rows = await db.sql<ResponseRow>(
    `SELECT r.id, r.user_id, u.messenger_id, u.username, r.sent_at, r.started_at, r.completed_at, r.reward_given,
       r.reward_amount_kopeks,
       coalesce((SELECT json_agg(json_build_object('question_id', a.question_id, 'question_text', q.text, 'option_id', a.option_id,
           'option_text', o.text, 'created_at', a.created_at) ORDER BY a.created_at, a.id)
         FROM poll_answers a JOIN poll_questions q ON q.id = a.question_id JOIN poll_options o ON o.id = a.option_id
         WHERE a.response_id = r.id), '[]') AS answers
     FROM poll_responses r LEFT JOIN users u ON u.id = r.user_id
     WHERE r.poll_id = $1::bigint ORDER BY r.sent_at, r.id LIMIT $2::int OFFSET $3::bigint`,
    [pollId, page.limit, page.offset],
  );
  return { items: rows.map(toResponse), total: poll.total };
}

function toResponse(row: ResponseRow): PollResponseView {
  return {
    id: row.id,
    userId: row.userId,
    userMessengerId: row.messengerId,
    userUsername: row.username,
    sentAt: row.sentAt,
    startedAt: row.startedAt,
    completedAt: row.completedAt,
    rewardGiven: row.rewardGiven,
    rewardAmountKopeks: row.rewardAmountKopeks,
    answers: row.answers.map((answer) => ({
      questionId: answer.question_id,
      questionText: answer.question_text,
      optionId: answer.option_id,
      optionText: answer.option_text,
      createdAt: new Date(answer.created_at),
    })),
  };
}
