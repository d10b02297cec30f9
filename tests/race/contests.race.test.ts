import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addDays, addMs, HOUR_MS } from '../../src/core/clock.ts';
import { playContest } from '../../src/domain/engagement/daily-contests/play-contest.ts';
import {
  changeContestTemplate,
  finishRound,
  rotateRounds,
  startRound,
} from '../../src/domain/engagement/daily-contests/rounds.ts';
import { scoreSubscriptionPayment } from '../../src/domain/engagement/referral-contests/scores.ts';
import { sendContestSummaries } from '../../src/domain/engagement/referral-contests/send-summaries.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { purchaseTariff } from '../../src/domain/subscriptions/purchase-tariff.ts';
import { withMessenger } from '../support/audience-samples.ts';
import { aContest, aPurchase, aRound, eventsOf, jobsOf, roundFacts, templateOf } from '../support/contest-samples.ts';
import { aPair, merge, setUser } from '../support/merge-samples.ts';
import { aReferralPair } from '../support/referral-samples.ts';
import { aBuyer, aStoredSubscription, aTariff, rowOf, topUp } from '../support/sale-samples.ts';
import { statementsDuring } from '../support/statement-recorder.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  const admins = { ADMIN_NOTIFICATIONS_ENABLED: 'true', ADMIN_NOTIFICATIONS_CHAT_ID: '-1005' };
  t = await testApp({ environment: { CONTESTS_ENABLED: 'true', ...admins } });
});
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM contest_rounds');
  await t.app.db.sql('DELETE FROM referral_contests');
  await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'engagement.score-payment'");
  await t.app.db.sql('UPDATE contest_templates SET is_enabled = false');
});

async function players(count: number) {
  const found = [];
  for (let player = 0; player < count; player++) {
    const buyer = await aBuyer(t.app);
    await aStoredSubscription(t.app, buyer.userId);
    found.push(buyer);
  }
  return found;
}

describe('a round that many play at once (spec 04 section 10.6, hazard 2)', () => {
  test('thirty right answers, three places: three winners with their prizes, and the others lose or come too late', async () => {
    const round = await aRound(t.app, { maxWinners: 3, prizeType: 'balance', prizeValue: '700' });
    const all = await players(30);
    const results = await Promise.allSettled(all.map((player) => playContest(t.app, player, { roundId: round.id, answer: '4' })));
    const late = results.filter((result) => result.status === 'rejected');
    // Spec 10 O9: the third winner finishes the round.
    for (const { reason } of late) expect(reason).toMatchObject({ status: 404 });
    expect(results.filter((result) => result.status === 'fulfilled' && result.value.isWinner)).toHaveLength(3);
    expect(await roundFacts(t.app, round.id)).toEqual({ winners: 3, attempts: 30 - late.length, won: 3, paid: 2_100 });
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('twenty answers of one player: one attempt, the others were played already', async () => {
    const round = await aRound(t.app, { maxWinners: 5 });
    const [player] = await players(1);
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => playContest(t.app, player!, { roundId: round.id, answer: String(index % 9) })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject({ status: 400, detail: 'You have already played this round' });
    }
    expect(await roundFacts(t.app, round.id)).toMatchObject({ attempts: 1 });
  });

  test('a double click with one key: one prize, one answer', async () => {
    const round = await aRound(t.app, { maxWinners: 5, prizeType: 'balance', prizeValue: '700' });
    const [player] = await players(1);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => playContest(t.app, player!, { roundId: round.id, answer: '4' }, 'click')),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await roundFacts(t.app, round.id)).toEqual({ winners: 1, attempts: 1, won: 1, paid: 700 });
  });

  test('days of two rounds won at once are added, none is lost', async () => {
    const [player] = await players(1);
    const now = t.app.clock.now();
    await t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE user_id = $1::int', [
      player!.userId,
      addDays(now, 5),
    ]);
    const quest = await aRound(t.app, { prizeType: 'days', prizeValue: '2' });
    const lockId = await templateOf(t.app, 'lock_hack');
    await changeContestTemplate(t.app, lockId, { prizeType: 'days', prizeValue: '3' });
    const locks = await startRound(t.app, lockId, { payload: { total: 20, secret_idx: 4 }, force: true });
    await Promise.all([quest, locks].map(({ id }) => playContest(t.app, player!, { roundId: id, answer: '4' })));
    const { endDate } = await rowOf<{ endDate: Date }>(t.app, 'SELECT end_date FROM subscriptions WHERE user_id = $1::int', [
      player!.userId,
    ]);
    expect(endDate).toEqual(addDays(now, 10));
  });

  test('playing while the round is finished: counters and attempts agree', async () => {
    for (let turn = 0; turn < 10; turn++) {
      const round = await aRound(t.app, { maxWinners: 10 });
      const all = await players(4);
      const results = await Promise.allSettled([
        ...all.map((player) => playContest(t.app, player, { roundId: round.id, answer: '4' })),
        finishRound(t.app, round.id),
      ]);
      for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 404 });
      const facts = await roundFacts(t.app, round.id);
      expect(facts.winners).toBe(facts.won);
      expect(facts.paid).toBe(facts.won * 5_000);
    }
  });
});

describe('rounds that several instances start (04 10.3)', () => {
  test('ten runs of the schedule: one round, one announcement', async () => {
    const id = await templateOf(t.app, 'anagram');
    await changeContestTemplate(t.app, id, { scheduleTimes: '00:00', timesPerDay: 1, cooldownHours: 24, isEnabled: true });
    const { app } = withMessenger(t.app);
    await Promise.all(Array.from({ length: 10 }, () => rotateRounds(app)));
    const rounds = await t.app.db.sql<{ id: number }>('SELECT id FROM contest_rounds WHERE template_id = $1::int', [id]);
    expect(rounds).toHaveLength(1);
    const sends = await t.app.db.sql("SELECT id FROM mass_sends WHERE kind = 'contest_round' AND source_id = $1::int", [
      rounds[0]!.id,
    ]);
    expect(sends).toHaveLength(1);
  });

  test('ten administrators start a round at once: one succeeds, the others get that answer', async () => {
    const id = await templateOf(t.app, 'anagram');
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => startRound(t.app, id, { force: false })));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 409 });
  });

  test('with force each of them replaces the one before: one is left', async () => {
    const id = await templateOf(t.app, 'anagram');
    await Promise.all(Array.from({ length: 6 }, () => startRound(t.app, id, { force: true })));
    const row = await rowOf(
      t.app,
      "SELECT count(*) FILTER (WHERE status = 'active')::int AS active, count(*)::int AS total FROM contest_rounds",
    );
    expect(row).toEqual({ active: 1, total: 6 });
  });
});

describe('payments of a referral that are scored at once (04 11.2)', () => {
  test('the sum is that of all payments, in whatever order the jobs run', async () => {
    const contest = await aContest(t.app);
    const { referral } = await aReferralPair(t.app);
    await topUp(t.app, referral.id, 100_000);
    const scored: Promise<void>[] = [];
    for (let kopeks = 1; kopeks <= 20; kopeks++) {
      const transactionId = await aPurchase(t.app, referral.id, kopeks);
      scored.push(scoreSubscriptionPayment(t.app, { transactionId }));
    }
    await Promise.all(scored);
    expect(await eventsOf(t.app, contest.id)).toMatchObject([{ amountKopeks: 210 }]);
  });

  test('a purchase has no further statement while a contest runs', async () => {
    await aContest(t.app);
    const { referral } = await aReferralPair(t.app);
    await topUp(t.app, referral.id, 100_000);
    const tariffId = await aTariff(t.app);
    const order = { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: 'purchase' };
    const { transactions } = await statementsDuring(() => purchaseTariff(t.app, { kind: 'user', userId: referral.id }, order));
    expect(transactions.map((statements) => statements.length)).toEqual([5]);
    expect(await jobsOf(t.app, 'engagement.score-payment')).toHaveLength(1);
  });

  test('while the accounts are merged: one event with the payments of both', async () => {
    const contest = await aContest(t.app);
    for (let turn = 0; turn < 5; turn++) {
      await t.app.db.sql('DELETE FROM referral_contest_events');
      const { referrer } = await aReferralPair(t.app);
      const pair = await aPair(t.app);
      const payments: number[] = [];
      for (const id of [pair.primaryId, pair.secondaryId]) {
        await setUser(t.app, id, { referred_by_id: referrer.id });
        await topUp(t.app, id, 1_000);
        payments.push(await aPurchase(t.app, id, 100));
      }
      const score = (transactionId: number) => scoreSubscriptionPayment(t.app, { transactionId });
      const [merged] = await Promise.allSettled([merge(t.app, pair), ...payments.map(score)]);
      expect(merged.status).toBe('fulfilled');
      // A run that met the merge is repeated by the queue.
      for (const transactionId of payments) await score(transactionId);
      expect(await eventsOf(t.app, contest.id)).toMatchObject([{ referralId: pair.primaryId, amountKopeks: 200 }]);
    }
  });
});

describe('summaries that several instances send (04 11.3)', () => {
  test('ten runs at once: one message', async () => {
    const now = t.app.clock.now();
    const { app } = withMessenger(t.app);
    await aContest(app, {
      endAt: addMs(now, -HOUR_MS).toISOString(),
      startAt: addDays(now, -3).toISOString(),
      dailySummaryTimes: '00:00',
    });
    await t.app.db.sql("DELETE FROM jobs.job WHERE name = 'messenger.send'");
    await Promise.all(Array.from({ length: 10 }, () => sendContestSummaries(app)));
    expect(await jobsOf(t.app, 'messenger.send')).toHaveLength(1);
  });
});
