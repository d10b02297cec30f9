import type { App } from '../../src/core/app.ts';
import { createPoll } from '../../src/domain/engagement/polls/polls.ts';
import type { Poll } from '../../src/domain/engagement/polls/types.ts';
import { unique } from './builders.ts';

/** A poll of two questions with two options each. */
export function aPoll(app: App, rewardKopeks = 0, title = `Poll ${unique()}`): Promise<Poll> {
  return createPoll(app, {
    title,
    description: null,
    rewardEnabled: rewardKopeks > 0,
    rewardAmountKopeks: rewardKopeks,
    questions: ['First', 'Second'].map((text) => ({ text, options: [{ text: 'Yes' }, { text: 'No' }] })),
  });
}

/** The user has the poll. @returns the id of the response */
export async function given(app: App, poll: Poll, userId: number): Promise<number> {
  const [row] = await app.db.sql<{ id: number }>(
    'INSERT INTO poll_responses (poll_id, user_id, sent_at) VALUES ($1::int, $2::int, $3::timestamptz) RETURNING id',
    [poll.id, userId, app.clock.now()],
  );
  return row!.id;
}

/** What a user's answers and money have come to. */
export async function pollFacts(app: App, responseId: number) {
  const [row] = await app.db.sql<{ completed: boolean; given: boolean; reward: number; balance: number; rewards: number }>(
    `SELECT r.completed_at IS NOT NULL AS completed, r.reward_given AS given, r.reward_amount_kopeks AS reward,
       u.balance_kopeks AS balance,
       (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id AND x.type = 'poll_reward') AS rewards
     FROM poll_responses r JOIN users u ON u.id = r.user_id WHERE r.id = $1::int`,
    [responseId],
  );
  return row!;
}

/** The last call of a poll: its counters, and whether it is finished. */
export async function lastSend(app: App, pollId: number) {
  const [row] = await app.db.sql<{ id: number; sent: number; failed: number; skipped: number; total: number; finished: boolean }>(
    `SELECT id, sent, failed, skipped, total, finished_at IS NOT NULL AS finished FROM poll_sends WHERE poll_id = $1::int
     ORDER BY id DESC LIMIT 1`,
    [pollId],
  );
  return row!;
}
