import { beforeAll, describe, expect, test } from 'vitest';
import {
  answerQuestion,
  deletePoll,
  handlePollPress,
  type PollPress,
  readPollStatistics,
  receivePollUpdate,
  startPoll,
} from '../../../src/domain/engagement/polls/polls.ts';
import { deliverPoll, sendPoll } from '../../../src/domain/engagement/polls/send-poll.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { MessengerError } from '../../../src/domain/messaging/ports.ts';
import type { MessageRequest } from '../../../src/domain/messaging/send-message.ts';
import { aSegment, withMessenger } from '../../support/audience-samples.ts';
import { aUser } from '../../support/builders.ts';
import { aPoll, given, pollFacts } from '../../support/poll-samples.ts';
import { whileRefused } from '../../support/refused-writes.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const actor = (userId: number) => ({ kind: 'user' as const, userId });

describe('poll rewards (12.4)', () => {
  test('answer, completion and reward are one transaction, and the reward is paid once', async () => {
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

  test('a reward that cannot be written rolls back answer and completion', async () => {
    const user = await aUser(t.app);
    const poll = await aPoll(t.app, 5_000);
    const responseId = await given(t.app, poll, user.id);
    const [first, second] = poll.questions;
    await answerQuestion(t.app, actor(user.id), { responseId, questionId: first!.id, optionId: first!.options[0]!.id });
    const last = { responseId, questionId: second!.id, optionId: second!.options[0]!.id };
    const refused = () => expect(answerQuestion(t.app, actor(user.id), last)).rejects.toThrow('refused row of poll_responses');
    await whileRefused(t.app, 'poll_responses', refused, 'NEW.reward_given', 'UPDATE');
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
  test('rows are committed before a message is sent, and the text is escaped', async () => {
    const { target, users } = await aSegment(t.app, 2);
    const poll = await aPoll(t.app, 1_000, '<b>1 < 2</b> & more');
    const seen: number[] = [];
    const { app, sent } = withMessenger(t.app);
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
    expect(sent[0]!.buttons).toEqual([[{ text: 'Take the poll', callbackData: expect.stringMatching(/^poll_start:\d+$/) }]]);
    // Everybody has it: the second call writes to nobody.
    expect(await sendPoll(app, poll.id, target)).toEqual({ sent: 0, failed: 0, skipped: 2, total: 2 });
    expect(sent).toHaveLength(2);
  });

  test('users without messenger get the poll too, only without a message', async () => {
    const { target, users } = await aSegment(t.app, 2);
    await t.app.db.sql(
      "UPDATE users SET messenger_id = NULL, email = 'poll' || id || '@example.com' WHERE id = $1::int RETURNING id",
      [users[0]!.id],
    );
    const poll = await aPoll(t.app);
    const { app, sent } = withMessenger(t.app);
    expect(await sendPoll(app, poll.id, target)).toEqual({ sent: 1, failed: 0, skipped: 1, total: 2 });
    expect(sent).toHaveLength(1);
    const rows = await t.app.db.sql('SELECT user_id FROM poll_responses WHERE poll_id = $1::int ORDER BY user_id', [poll.id]);
    expect(rows).toEqual(users.map(({ id }) => ({ userId: id })));
  });

  test('who blocked the bot is skipped, other failures are counted, a rate-limited messenger gets the message later', async () => {
    const { target, users } = await aSegment(t.app, 4);
    const poll = await aPoll(t.app);
    let isHurried = true;
    const { app, sent } = withMessenger(t.app, (chatId) => {
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
    await deliverPoll(app, job!.data);
    expect(sent).toHaveLength(1);
    isHurried = false;
    await deliverPoll(app, job!.data);
    await deliverPoll(app, job!.data);
    expect(sent).toHaveLength(2);
    const [row] = await t.app.db.sql('SELECT sent, failed, skipped, total FROM poll_sends WHERE poll_id = $1::int', [poll.id]);
    expect(row).toEqual({ sent: 2, failed: 1, skipped: 1, total: 4 });
  });

  test('an unknown target has no members, an empty one is refused', async () => {
    const poll = await aPoll(t.app);
    for (const target of ['tariff_x', 'tariff_', 'nobody', '__proto__', 'toString'])
      expect(await sendPoll(t.app, poll.id, target)).toEqual({ sent: 0, failed: 0, skipped: 0, total: 0 });
    await expect(sendPoll(t.app, poll.id, ' ')).rejects.toMatchObject({ status: 400, detail: 'Target must not be empty' });
  });
});

describe('answering in the messenger', () => {
  test('the buttons work from the invitation to the reward, only for the user of the response', async () => {
    const { app } = withMessenger(t.app);
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
