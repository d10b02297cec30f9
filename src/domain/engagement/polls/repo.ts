import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';
import type {
  MyPoll,
  NewPoll,
  Poll,
  PollAnswerView,
  PollQuestion,
  PollResponseView,
  PollStatistics,
  PollSummary,
} from './types.ts';

const HEAD = columns('Poll', [
  ...(['id', 'title', 'description', 'rewardEnabled', 'rewardAmountKopeks', 'createdAt', 'updatedAt'] as const),
]);

/** A poll without its questions. */
export type PollHead = RowOf<typeof HEAD>;

/** SQL of a poll's questions with their options as JSON; `poll` is SQL of the poll's id. */
const questionsSql = (poll: string) => `coalesce((SELECT json_agg(json_build_object('id', q.id, 'text', q.text,
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
  const [row] = await db.sql<Poll>(
    `SELECT ${HEAD.of('p')}, ${questionsSql('p.id')} AS questions FROM polls p WHERE p.id = $1::bigint`,
    [id],
  );
  return row ?? null;
}

/** Whether the poll exists; it cannot be deleted until the end of the transaction. */
export async function lockPollForShare(db: Db, id: number): Promise<boolean> {
  return (await db.sql('SELECT id FROM polls WHERE id = $1::bigint FOR KEY SHARE', [id])).length > 0;
}

/** Newest first. */
export async function list(db: Db, page: { limit: number; offset: number }): Promise<{ items: PollSummary[]; total: number }> {
  const items = await db.sql<PollSummary>(
    `SELECT ${HEAD.of('p')}, (SELECT count(*)::int FROM poll_questions q WHERE q.poll_id = p.id) AS questions_count,
       (SELECT count(*)::int FROM poll_responses r WHERE r.poll_id = p.id) AS responses_count
     FROM polls p ORDER BY p.created_at DESC, p.id DESC LIMIT $1::int OFFSET $2::bigint`,
    [page.limit, page.offset],
  );
  return { items, total: await db.prisma.poll.count() };
}

/** Deletes a poll with its questions, sends and responses. @returns false when there is none */
export async function remove(db: Db, id: number): Promise<boolean> {
  if (!isRowId(id)) return false;
  return (await db.prisma.poll.deleteMany({ where: { id } })).count > 0;
}

export async function findStatistics(db: Db, id: number): Promise<PollStatistics | null> {
  const [row] = await db.sql<PollStatistics>(
    `SELECT p.id AS poll_id, p.title AS poll_title,
       (SELECT count(*)::int FROM poll_responses r WHERE r.poll_id = p.id) AS total_responses,
       (SELECT count(*)::int FROM poll_responses r WHERE r.poll_id = p.id AND r.completed_at IS NOT NULL) AS completed_responses,
       (SELECT coalesce(sum(r.reward_amount_kopeks), 0)::bigint FROM poll_responses r
         WHERE r.poll_id = p.id AND r.reward_given) AS reward_sum_kopeks,
       coalesce((SELECT json_agg(json_build_object('id', q.id, 'text', q.text, 'order', q.sort_order, 'options',
           coalesce((SELECT json_agg(json_build_object('id', o.id, 'text', o.text,
             'count', (SELECT count(*) FROM poll_answers a WHERE a.question_id = q.id AND a.option_id = o.id)) ORDER BY o.sort_order)
             FROM poll_options o WHERE o.question_id = q.id), '[]')) ORDER BY q.sort_order)
         FROM poll_questions q WHERE q.poll_id = p.id), '[]') AS questions
     FROM polls p WHERE p.id = $1::bigint`,
    [id],
  );
  return row ?? null;
}

const RESPONSE = columns('PollResponse', [
  ...(['id', 'userId', 'sentAt', 'startedAt', 'completedAt', 'rewardGiven', 'rewardAmountKopeks'] as const),
]);

/** A response without its answers. */
export type ResponseHead = RowOf<typeof RESPONSE> & { userMessengerId: number | null; userUsername: string | null };

type ResponseRow = ResponseHead & { answers: (Omit<PollAnswerView, 'createdAt'> & { createdAt: string })[] };

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
    `SELECT ${RESPONSE.of('r')}, u.messenger_id AS user_messenger_id, u.username AS user_username,
       coalesce((SELECT json_agg(json_build_object('questionId', a.question_id, 'questionText', q.text, 'optionId', a.option_id,
           'optionText', o.text, 'createdAt', a.created_at) ORDER BY a.created_at, a.id)
         FROM poll_answers a JOIN poll_questions q ON q.id = a.question_id JOIN poll_options o ON o.id = a.option_id
         WHERE a.response_id = r.id), '[]') AS answers
     FROM poll_responses r LEFT JOIN users u ON u.id = r.user_id
     WHERE r.poll_id = $1::bigint ORDER BY r.sent_at, r.id LIMIT $2::int OFFSET $3::bigint`,
    [pollId, page.limit, page.offset],
  );
  const items = rows.map(({ answers, ...response }) => ({
    ...response,
    answers: answers.map((answer) => ({ ...answer, createdAt: new Date(answer.createdAt) })),
  }));
  return { items, total: poll.total };
}

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
