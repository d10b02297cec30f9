import { beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../../src/core/clock.ts';
import { handlePollPress, type PollPress, receivePollUpdate } from '../../../src/domain/games/polls/answer-in-messenger.ts';
import { segmentCondition } from '../../../src/domain/games/polls/audience.ts';
import { deletePoll, readPollStatistics } from '../../../src/domain/games/polls/manage-polls.ts';
import { deliverPoll, sendPoll } from '../../../src/domain/games/polls/send-poll.ts';
import { answerQuestion, startPoll } from '../../../src/domain/games/polls/take-poll.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { MessengerError } from '../../../src/domain/messaging/ports.ts';
import type { MessageRequest } from '../../../src/domain/messaging/send-message.ts';
import { aUser } from '../../support/builders.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { aStoredSubscription, aTariff, topUp } from '../subscriptions/sale-samples.ts';
import { aPoll, given, pollFacts } from './poll-samples.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const actor = (userId: number) => ({ kind: 'user' as const, userId });

/** The app with a messenger that notes what it sends, or fails. */
function withMessenger(fail?: (chatId: number) => void) {
  const sent: { chatId: number; html: string; data: unknown }[] = [];
  const messenger = {
    ...t.app.ports.messenger,
    isConfigured: () => true,
    sendMessage: async (chatId: number, html: string, buttons?: readonly (readonly unknown[])[]) => {
      fail?.(chatId);
      sent.push({ chatId, html, data: buttons });
      return { messageId: 1 };
    },
  };
  return { app: { ...t.app, ports: { ...t.app.ports, messenger } }, sent };
}

/** A segment that holds exactly these users: one tariff of their own. */
async function anAudience(count: number): Promise<{ target: string; users: { id: number; messengerId: number }[] }> {
  const tariffId = await aTariff(t.app);
  const users = [];
  for (let n = 0; n < count; n++) {
    const user = await aUser(t.app, { language: 'en' });
    await aStoredSubscription(t.app, user.id, { tariff_id: tariffId });
    users.push(user);
  }
  return { target: `tariff_${tariffId}`, users };
}

describe('poll rewards (12.4)', () => {
  test('answer, completion and reward stand or fall together; the reward is paid once', async () => {
    const user = await aUser(t.app);
    const poll = await aPoll(t.app, 5_000);
    const responseId = await given(t.app, poll, user.id);
    const [first, second] = poll.questions;
    const answer = (questionId: number, optionId: number) =>
      answerQuestion(t.app, actor(user.id), { responseId, questionId, optionId });
    // Any order; an answer again replaces the first.
    expect(await answer(second!.id, second!.options[0]!.id)).toMatchObject({
      isCompleted: false,
      rewardGrantedKopeks: null,
      next: { index: 1, question: { id: first!.id } },
    });
    await answer(second!.id, second!.options[1]!.id);
    expect(await pollFacts(t.app, responseId)).toEqual({ completed: false, given: false, reward: 0, balance: 0, rewards: 0 });
    expect(await answer(first!.id, first!.options[0]!.id)).toMatchObject({
      isCompleted: true,
      rewardGrantedKopeks: 5_000,
      next: null,
    });
    const paid = { completed: true, given: true, reward: 5_000, balance: 5_000, rewards: 1 };
    expect(await pollFacts(t.app, responseId)).toEqual(paid);
    await expect(answer(first!.id, first!.options[0]!.id)).rejects.toMatchObject({
      status: 400,
      detail: 'This poll has already been completed',
    });
    expect(await pollFacts(t.app, responseId)).toEqual(paid);
    expect(await readPollStatistics(t.app, poll.id)).toMatchObject({
      totalResponses: 1,
      completedResponses: 1,
      rewardSumKopeks: 5_000,
      questions: [{ options: [{ count: 1 }, { count: 0 }] }, { options: [{ count: 0 }, { count: 1 }] }],
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('a reward that cannot be written takes answer and completion back with it', async () => {
    const user = await aUser(t.app);
    const poll = await aPoll(t.app, 5_000);
    const responseId = await given(t.app, poll, user.id);
    const [first, second] = poll.questions;
    await answerQuestion(t.app, actor(user.id), { responseId, questionId: first!.id, optionId: first!.options[0]!.id });
    await t.app.db.sql('ALTER TABLE poll_responses ADD CONSTRAINT test_no_reward CHECK (NOT reward_given) NOT VALID');
    const last = { responseId, questionId: second!.id, optionId: second!.options[0]!.id };
    try {
      await expect(answerQuestion(t.app, actor(user.id), last)).rejects.toThrow();
    } finally {
      await t.app.db.sql('ALTER TABLE poll_responses DROP CONSTRAINT test_no_reward');
    }
    expect(await pollFacts(t.app, responseId)).toEqual({ completed: false, given: false, reward: 0, balance: 0, rewards: 0 });
    expect(await answerQuestion(t.app, actor(user.id), last)).toMatchObject({ isCompleted: true, rewardGrantedKopeks: 5_000 });
  });

  test('without a reward 0 kopeks are granted and nothing is posted', async () => {
    const user = await aUser(t.app);
    const poll = await aPoll(t.app);
    const responseId = await given(t.app, poll, user.id);
    for (const question of poll.questions) {
      const last = await answerQuestion(t.app, actor(user.id), {
        responseId,
        questionId: question.id,
        optionId: question.options[0]!.id,
      });
      if (question === poll.questions[1]) expect(last.rewardGrantedKopeks).toBe(0);
    }
    expect(await pollFacts(t.app, responseId)).toEqual({ completed: true, given: false, reward: 0, balance: 0, rewards: 0 });
  });

  test('a poll deleted mid-way is 404', async () => {
    const user = await aUser(t.app);
    const poll = await aPoll(t.app, 100);
    const responseId = await given(t.app, poll, user.id);
    await startPoll(t.app, actor(user.id), responseId);
    await deletePoll(t.app, poll.id);
    const [question] = poll.questions;
    const answer = { responseId, questionId: question!.id, optionId: question!.options[0]!.id };
    await expect(answerQuestion(t.app, actor(user.id), answer)).rejects.toMatchObject({ status: 404, detail: 'Poll not found' });
  });
});

describe('sending a poll (12.4)', () => {
  test('rows are committed before a message leaves, and the text is escaped', async () => {
    const { target, users } = await anAudience(2);
    const poll = await aPoll(t.app, 1_000, '<b>1 < 2</b> & more');
    const seen: number[] = [];
    const { app, sent } = withMessenger();
    const sendMessage = app.ports.messenger.sendMessage;
    app.ports.messenger.sendMessage = async (...call) => {
      const [row] = await t.app.db.sql<{ n: number }>('SELECT count(*)::int AS n FROM poll_responses WHERE poll_id = $1::int', [
        poll.id,
      ]);
      seen.push(row!.n);
      return sendMessage(...call);
    };
    expect(await sendPoll(app, poll.id, target)).toEqual({ sent: 2, failed: 0, skipped: 0, total: 2 });
    expect(seen).toEqual([2, 2]);
    expect(sent.map(({ chatId }) => chatId).sort()).toEqual(users.map(({ messengerId }) => messengerId).sort());
    expect(sent[0]!.html).toContain('&lt;b&gt;1 &lt; 2&lt;/b&gt; &amp; more');
    expect(sent[0]!.data).toEqual([[{ text: 'Take the poll', callbackData: expect.stringMatching(/^poll_start:\d+$/) }]]);
    // Everybody has it: the second call writes to nobody.
    expect(await sendPoll(app, poll.id, target)).toEqual({ sent: 0, failed: 0, skipped: 2, total: 2 });
    expect(sent).toHaveLength(2);
  });

  test('users without messenger get the poll too, only without a message', async () => {
    const { target, users } = await anAudience(2);
    await t.app.db.sql(
      "UPDATE users SET messenger_id = NULL, email = 'poll' || id || '@example.com' WHERE id = $1::int RETURNING id",
      [users[0]!.id],
    );
    const poll = await aPoll(t.app);
    const { app, sent } = withMessenger();
    expect(await sendPoll(app, poll.id, target)).toEqual({ sent: 1, failed: 0, skipped: 1, total: 2 });
    expect(sent).toHaveLength(1);
    const rows = await t.app.db.sql('SELECT user_id FROM poll_responses WHERE poll_id = $1::int ORDER BY user_id', [poll.id]);
    expect(rows).toEqual(users.map(({ id }) => ({ user_id: id })));
  });

  test('who blocked the bot is skipped, other failures are counted, a hurried messenger is asked again later', async () => {
    const { target, users } = await anAudience(4);
    const poll = await aPoll(t.app);
    let isHurried = true;
    const { app, sent } = withMessenger((chatId) => {
      if (chatId === users[0]!.messengerId) throw new MessengerError({ kind: 'blocked' }, 'blocked');
      if (chatId === users[1]!.messengerId) throw new MessengerError({ kind: 'rejected' }, 'rejected');
      if (chatId === users[2]!.messengerId && isHurried)
        throw new MessengerError({ kind: 'rate_limited', retryAfterSeconds: 1 }, 'slow');
    });
    expect(await sendPoll(app, poll.id, target)).toEqual({ sent: 1, failed: 1, skipped: 1, total: 4 });
    const [job] = await t.app.db.sql<{ data: { sendId: number } }>(
      `SELECT data FROM jobs.job WHERE name = 'games.deliver-poll'
         AND (data ->> 'sendId')::int = (SELECT id FROM poll_sends WHERE poll_id = $1::int)`,
      [poll.id],
    );
    await expect(deliverPoll(app, job!.data)).rejects.toThrow();
    isHurried = false;
    await deliverPoll(app, job!.data);
    await deliverPoll(app, job!.data);
    expect(sent).toHaveLength(2);
    const [row] = await t.app.db.sql('SELECT sent, failed, skipped, total FROM poll_sends WHERE poll_id = $1::int', [poll.id]);
    expect(row).toEqual({ sent: 2, failed: 1, skipped: 1, total: 4 });
  });

  test('an unknown target reaches nobody, an empty one is refused', async () => {
    const poll = await aPoll(t.app);
    for (const target of ['tariff_x', 'tariff_', 'nobody', '__proto__', 'toString'])
      expect(await sendPoll(t.app, poll.id, target)).toEqual({ sent: 0, failed: 0, skipped: 0, total: 0 });
    await expect(sendPoll(t.app, poll.id, ' ')).rejects.toMatchObject({ status: 400, detail: 'Target must not be empty' });
  });
});

describe('answering in the messenger', () => {
  test('the buttons lead from the invitation to the reward, and nobody else can press them', async () => {
    const { app } = withMessenger();
    app.ports.messenger.answerCallback = async () => {
      throw new MessengerError({ kind: 'rejected' }, 'query is too old');
    };
    const [user, stranger] = [await aUser(t.app, { language: 'en' }), await aUser(t.app, { language: 'en' })];
    const poll = await aPoll(t.app, 5_000);
    const responseId = await given(t.app, poll, user.id);
    const press = async (messengerId: number, data: string) => {
      const update = {
        updateId: 1,
        kind: 'callback',
        queryId: `q-${data}`,
        fromMessengerId: messengerId,
        chatId: null,
        messageId: null,
        data,
      } as const;
      await receivePollUpdate(app, update);
      const rows = await app.db.sql<{ data: PollPress }>(
        "DELETE FROM jobs.job WHERE name = 'games.poll-press' AND data ->> 'queryId' = $1 RETURNING data",
        [update.queryId],
      );
      for (const job of rows) await handlePollPress(app, job.data);
      const [sent] = await app.db.sql<{ data: MessageRequest }>(
        "DELETE FROM jobs.job WHERE name = 'messenger.send' AND (data ->> 'messengerId')::bigint = $1::bigint RETURNING data",
        [messengerId],
      );
      return sent?.data;
    };
    const closed = 'This poll is closed, or you have completed it.';
    expect((await press(stranger.messengerId, `poll_start:${responseId}`))?.html).toBe(closed);
    expect(await press(user.messengerId, 'poll_start:x')).toBeUndefined();
    const [first, second] = poll.questions;
    const asked = await press(user.messengerId, `poll_start:${responseId}`);
    expect(asked).toMatchObject({ html: '<b>1/2</b> First' });
    expect(asked?.buttons?.map(([button]) => button)).toEqual(
      first!.options.map(({ id, text }) => ({ text, callbackData: `poll_answer:${responseId}:${first!.id}:${id}` })),
    );
    const answer = (index: 0 | 1) => {
      const question = [first!, second!][index]!;
      return press(user.messengerId, `poll_answer:${responseId}:${question.id}:${question.options[0]!.id}`);
    };
    expect((await answer(0))?.html).toBe('<b>2/2</b> Second');
    expect((await answer(1))?.html).toBe('Thank you for your answers! 50 ₽ was added to your balance.');
    expect((await answer(1))?.html).toBe(closed);
    expect(await pollFacts(t.app, responseId)).toEqual({
      completed: true,
      given: true,
      reward: 5_000,
      balance: 5_000,
      rewards: 1,
    });
  });
});

describe('segments (0.5)', () => {
  test('each holds who the table says', async () => {
    const now = t.app.clock.now();
    const tariffId = await aTariff(t.app);
    const dailyId = await aTariff(t.app, { is_daily: true });
    const people: Record<string, number> = {};
    const person = async (name: string, subscription: Record<string, unknown> | null) => {
      const user = await aUser(t.app);
      if (subscription) await aStoredSubscription(t.app, user.id, subscription);
      await t.app.db.sql('UPDATE users SET last_activity = $2::timestamptz WHERE id = $1::int RETURNING id', [user.id, now]);
      people[name] = user.id;
    };
    await person('long', { tariff_id: tariffId, end_date: addDays(now, 40), traffic_used_gb: 3 });
    await person('soon', { end_date: addDays(now, 2), traffic_used_gb: 3 });
    await person('week', { end_date: addDays(now, 6), traffic_used_gb: 0 });
    await person('daily', { tariff_id: dailyId, end_date: addDays(now, 1), traffic_used_gb: 3 });
    await person('trial', { is_trial: true, end_date: addDays(now, 1) });
    await person('trialOver', { is_trial: true, end_date: addDays(now, -1) });
    await person('disabled', { status: 'disabled' });
    await person('none', null);
    await person('former', null);
    await topUp(t.app, people.none!, 500);
    await t.app.db.sql(
      'UPDATE users SET has_had_paid_subscription = true, referred_by_id = $2::int, last_activity = $3::timestamptz WHERE id = $1::int RETURNING id',
      [people.former, people.long, addDays(now, -61)],
    );
    const ids = Object.values(people);
    const members = async (target: string) => {
      const rows = await t.app.db.sql<{ id: number }>(
        `SELECT u.id FROM users u LEFT JOIN subscriptions s ON s.user_id = u.id LEFT JOIN tariffs f ON f.id = s.tariff_id
         WHERE u.id = ANY($1::int[]) AND u.created_at <= $2::timestamptz AND ${segmentCondition(target, '$2::timestamptz')}`,
        [ids, now],
      );
      const found = new Set(rows.map(({ id }) => id));
      return Object.keys(people).filter((name) => found.has(people[name]!));
    };
    const expected: Record<string, string[]> = {
      all: Object.keys(people),
      active: ['long', 'soon', 'week', 'daily'],
      trial: ['trial', 'trialOver'],
      no: ['trialOver', 'disabled', 'none', 'former'],
      expiring: ['soon', 'trial'],
      expiring_subscribers: ['soon', 'week', 'trial'],
      expired: ['trialOver', 'disabled', 'former'],
      expired_subscribers: ['trialOver', 'disabled', 'former'],
      canceled_subscribers: ['disabled'],
      trial_ending: ['trial'],
      trial_expired: ['trialOver'],
      active_zero: ['week'],
      trial_zero: ['trial'],
      zero: ['week', 'trial'],
      autopay_failed: [],
      low_balance: ['none'],
      inactive_30d: ['former'],
      inactive_60d: ['former'],
      inactive_90d: [],
      [`tariff_${tariffId}`]: ['long'],
      custom_today: Object.keys(people),
      custom_week: Object.keys(people),
      custom_month: Object.keys(people),
      custom_active_today: Object.keys(people).filter((name) => name !== 'former'),
      custom_inactive_week: ['former'],
      custom_inactive_month: ['former'],
      custom_referrals: ['former'],
      custom_direct: Object.keys(people).filter((name) => name !== 'former'),
    };
    for (const [target, names] of Object.entries(expected)) expect([target, await members(target)]).toEqual([target, names]);
  });
});
