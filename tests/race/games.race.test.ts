import { beforeAll, describe, expect, test } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import { answerQuestion, deletePoll } from '../../src/domain/engagement/polls/polls.ts';
import { deliverPoll, sendPoll } from '../../src/domain/engagement/polls/send-poll.ts';
import { spinWheel } from '../../src/domain/engagement/wheel/spin-wheel.ts';
import { createSpinInvoice, wheelStars } from '../../src/domain/engagement/wheel/stars-spin.ts';
import { changePrize } from '../../src/domain/engagement/wheel/wheel.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { MessengerError } from '../../src/domain/messaging/ports.ts';
import { creditStars } from '../../src/domain/payments/credit-stars.ts';
import { aSegment, withMessenger } from '../support/audience-samples.ts';
import { aUser } from '../support/builders.ts';
import { aPoll, given, lastSend, pollFacts } from '../support/poll-samples.ts';
import { aBuyer, aStoredSubscription } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';
import { aWheel, wheelFacts } from '../support/wheel-samples.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
});

describe('poll rewards at once (04 12.4)', () => {
  test('thirty last answers of one user: one reward', async () => {
    const user = await aUser(t.app);
    const poll = await aPoll(t.app, 2_500);
    const responseId = await given(t.app, poll, user.id);
    const answers = Array.from({ length: 30 }, (_, index) => {
      const question = poll.questions[index % 2]!;
      const answer = { responseId, questionId: question.id, optionId: question.options[index % 2]!.id };
      return answerQuestion(t.app, { kind: 'user', userId: user.id }, answer);
    });
    const results = await Promise.allSettled(answers);
    const paid = results.filter((result) => result.status === 'fulfilled' && result.value.rewardGrantedKopeks === 2_500);
    expect(paid).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ detail: 'This poll has already been completed' });
    expect(await pollFacts(t.app, responseId)).toEqual({
      completed: true,
      given: true,
      reward: 2_500,
      balance: 2_500,
      rewards: 1,
    });
    expect(await checkLedger(t.app)).toEqual([]);
  });
});

describe('a poll that several processes send (04 section 15)', () => {
  test('ten runs of the delivery at once: each member gets one message', async () => {
    const { target, users } = await aSegment(t.app, 75);
    const poll = await aPoll(t.app);
    let isHurried = true;
    const { app, sent } = withMessenger(t.app, () => {
      if (isHurried) throw new MessengerError({ kind: 'rate_limited', retryAfterSeconds: 1 }, 'slow');
    });
    await sendPoll(app, poll.id, target);
    isHurried = false;
    const { id: sendId } = await lastSend(t.app, poll.id);
    await Promise.all(Array.from({ length: 10 }, () => deliverPoll(app, { sendId })));
    expect(sent.map(({ chatId }) => chatId).sort()).toEqual(users.map(({ messengerId }) => messengerId).sort());
    expect(await lastSend(t.app, poll.id)).toMatchObject({ sent: 75, failed: 0, skipped: 0, total: 75 });
  });

  test('eight calls to one audience at once: one row and one message per member', async () => {
    const { target, users } = await aSegment(t.app, 40);
    const poll = await aPoll(t.app);
    const { app, sent } = withMessenger(t.app);
    const answers = await Promise.all(Array.from({ length: 8 }, () => sendPoll(app, poll.id, target)));
    expect(sent.map(({ chatId }) => chatId).sort()).toEqual(users.map(({ messengerId }) => messengerId).sort());
    expect(answers.reduce((sum, answer) => sum + answer.sent, 0)).toBe(40);
    for (const { sent: sentByCall, failed, skipped, total } of answers)
      expect([total, sentByCall + failed + skipped]).toEqual([40, 40]);
  });
});

describe('a poll that is deleted while it is in use', () => {
  test('sending and answering finish before the deletion, or find no poll', async () => {
    const user = await aUser(t.app);
    const actor = { kind: 'user', userId: user.id } as const;
    for (let round = 0; round < 25; round++) {
      const poll = await aPoll(t.app);
      const responseId = await given(t.app, poll, user.id);
      const [question] = poll.questions;
      const answer = { responseId, questionId: question!.id, optionId: question!.options[0]!.id };
      const results = await Promise.allSettled([
        sendPoll(t.app, poll.id, 'all'),
        answerQuestion(t.app, actor, answer),
        deletePoll(t.app, poll.id),
        sendPoll(t.app, poll.id, 'all'),
      ]);
      expect(results[2]!.status).toBe('fulfilled');
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 404, detail: 'Poll not found' });
    }
  });
});

describe('wheel spins at once (04 13.7)', () => {
  const PRICE = 1_300;
  const spins = (userId: number, count: number, payment: 'messenger_stars' | 'subscription_days', key: string | null = null) =>
    Promise.all(Array.from({ length: count }, () => spinWheel(t.app, { kind: 'user', userId }, payment, key)));
  const won = (outcomes: { isSuccess: boolean }[]) => outcomes.filter(({ isSuccess }) => isSuccess).length;

  test('forty spins, five allowed: five', async () => {
    await aWheel(t.app, [{}], { dailySpinLimit: 5 });
    const { userId } = await aBuyer(t.app, 100 * PRICE);
    expect(won(await spins(userId, 40, 'messenger_stars'))).toBe(5);
    expect(await wheelFacts(t.app, userId)).toMatchObject({ balance: 95 * PRICE, spins: 5, debits: 5 });
  });

  test('forty spins, money for three: three, and the balance is the rest', async () => {
    await aWheel(t.app, [{}], { dailySpinLimit: 0 });
    const { userId } = await aBuyer(t.app, 3 * PRICE + 7);
    expect(won(await spins(userId, 40, 'messenger_stars'))).toBe(3);
    expect(await wheelFacts(t.app, userId)).toMatchObject({ balance: 7, spins: 3, debits: 3 });
  });

  test('forty spins, days for two: no day is spent twice', async () => {
    await aWheel(t.app, [{}], { dailySpinLimit: 0 });
    const { userId } = await aBuyer(t.app);
    const now = t.app.clock.now();
    await aStoredSubscription(t.app, userId, { end_date: addDays(now, 5) });
    expect(won(await spins(userId, 40, 'subscription_days'))).toBe(2);
    expect((await wheelFacts(t.app, userId)).endDate).toEqual(addDays(now, 3));
  });

  test('twenty charges for one invoice, each reported twice: one spin, nineteen refunds', async () => {
    await aWheel(t.app, [{}], { dailySpinLimit: 0 });
    const user = await aUser(t.app);
    await aStoredSubscription(t.app, user.id, { end_date: addDays(t.app.clock.now(), 9) });
    await createSpinInvoice(t.app, { kind: 'user', userId: user.id });
    const [invoice] = await t.app.db.sql<{ orderId: string }>('SELECT order_id FROM payments WHERE user_id = $1::int', [user.id]);
    const charges = Array.from({ length: 40 }, (_, index) => ({
      updateId: index,
      kind: 'stars_paid' as const,
      chargeId: `race-${user.id}-${index % 20}`,
      payerMessengerId: user.messengerId,
      payload: invoice!.orderId,
      stars: 10,
    }));
    const results = await Promise.all(charges.map((paid) => creditStars(t.app, paid, [wheelStars])));
    expect(results.filter((result) => result === 'credited')).toHaveLength(20);
    expect(await wheelFacts(t.app, user.id)).toMatchObject({ balance: 19 * PRICE, spins: 1, debits: 1 });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('a double click with one key: one payment, one result', async () => {
    await aWheel(t.app, [{ prizeType: 'balance_bonus', prizeValue: 10, prizeValueKopeks: 10 }, {}], { dailySpinLimit: 0 });
    const { userId } = await aBuyer(t.app, 10 * PRICE);
    const outcomes = await spins(userId, 20, 'messenger_stars', 'click');
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    expect(await wheelFacts(t.app, userId)).toMatchObject({ spins: 1, debits: 1 });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('two changes that are valid separately never make a promo code that gives nothing: the later one is refused', async () => {
    for (let round = 0; round < 15; round++) {
      const [prize] = await aWheel(t.app, [{ promoBalanceBonusKopeks: 100 }]);
      const results = await Promise.allSettled([
        changePrize(t.app, prize!.id, { prizeType: 'promocode' }),
        changePrize(t.app, prize!.id, { promoBalanceBonusKopeks: 0 }),
      ]);
      expect(results.map((result) => result.status).sort()).toEqual(['fulfilled', 'rejected']);
    }
  });
});
