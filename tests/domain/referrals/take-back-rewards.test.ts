import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { DAY_MS } from '../../../src/core/clock.ts';
import { checkLedger } from '../../../src/domain/ledger/check-ledger.ts';
import { findPayment } from '../../../src/domain/payments/repo.ts';
import { runAfterReversal } from '../../../src/domain/payments/reversals.ts';
import { topupBalance } from '../../../src/domain/payments/topup-balance.ts';
import { readMyReferralInfo } from '../../../src/domain/referrals/my-referrals.ts';
import { accrueReward, listDebts, readDebt, takeBackRewards } from '../../../src/domain/referrals/rewards.ts';
import { approveWithdrawal, readWithdrawal, rejectWithdrawal } from '../../../src/domain/referrals/withdrawals/decide.ts';
import { readMyWithdrawalBalance } from '../../../src/domain/referrals/withdrawals/my-withdrawals.ts';
import { unique } from '../../support/builders.ts';
import { merge, userRow } from '../../support/merge-samples.ts';
import { callback, casesOf, paymentFacts, reversePayment, runCallbackJobs } from '../../support/payment-samples.ts';
import { aReferralPair, countersAndCounts, earningsOf, type ReferralPair } from '../../support/referral-samples.ts';
import { ScriptedProvider, withProvider } from '../../support/scripted-provider.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { anAdmin, aRequest, earn, spend, WITHDRAWALS_ON } from '../../support/withdrawal-samples.ts';

/** Rewards whose payment goes back (spec 10 M4). By default: 25 % commission; the first top-up gives 100 rubles to each side. */
let t: TestApp;
let app: App;
let provider: ScriptedProvider;
beforeEach(async () => {
  t = await testApp({ environment: WITHDRAWALS_ON });
  provider = new ScriptedProvider();
  app = await withProvider(t.app, provider);
});

/** A top-up of the referral, credited; what it earns is not accrued yet. */
async function aTopup({ referral }: ReferralPair, amountKopeks: number) {
  const order = { amountKopeks, method: 'sandbox', option: null };
  const { paymentId } = await topupBalance(app, { kind: 'user', userId: referral.id }, order, { idempotencyKey: null });
  const { externalId } = await paymentFacts(app, paymentId);
  provider.set(externalId!, 'paid');
  await callback(app, externalId!);
  await runCallbackJobs(app, externalId!);
  const { transactionId } = (await findPayment(app.db, paymentId))!;
  return { paymentId, transactionId: transactionId! };
}

/** The provider gives back a part, or with null everything; the jobs that follow are run, twice. */
async function reverse(paymentId: number, amountKopeks: number | null): Promise<void> {
  const reversal = { reversalId: `refund-${unique()}`, kind: 'refund', amountKopeks } as const;
  await reversePayment(app, (await findPayment(app.db, paymentId))!, [reversal]);
  const [row] = await app.db.sql<{ id: number }>('SELECT id FROM payment_reversals WHERE reversal_id = $1', [
    reversal.reversalId,
  ]);
  await runAfterReversal(app, { reversalId: row!.id });
  const jobs = await app.db.sql<{ paymentId: number }>(
    `SELECT (data->>'paymentId')::int AS payment_id FROM jobs.job WHERE name = 'referrals.take-back' AND data->>'paymentId' = $1`,
    [String(paymentId)],
  );
  for (const job of [...jobs, ...jobs]) await takeBackRewards(app, job);
}

const balanceOf = async (user: { id: number }) => (await userRow(app, user.id)).balanceKopeks;
const kopeksOf = async (pair: ReferralPair) => (await earningsOf(app, pair)).map(({ amountKopeks }) => amountKopeks);

describe('a payment that goes back', () => {
  test('takes the bonuses of both sides with it, once, in lists and statistics too', async () => {
    const pair = await aReferralPair(app);
    const { paymentId, transactionId } = await aTopup(pair, 50_000);
    await accrueReward(app, { transactionId });
    expect([await balanceOf(pair.referral), await balanceOf(pair.referrer)]).toEqual([60_000, 22_500]);
    await reverse(paymentId, null);
    expect([await balanceOf(pair.referral), await balanceOf(pair.referrer)]).toEqual([0, 0]);
    expect(await kopeksOf(pair)).toEqual([0]);
    const actor = { kind: 'user', userId: pair.referrer.id } as const;
    expect(await readMyReferralInfo(app, actor)).toMatchObject({ totalEarningsKopeks: 0, availableBalanceKopeks: 0 });
    await accrueReward(app, { transactionId });
    expect(await kopeksOf(pair)).toEqual([0]);
    const { stored, counted } = await countersAndCounts(app);
    expect(stored).toEqual(counted);
    expect(await casesOf(app, paymentId)).toEqual([]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('before its reward was accrued earns nothing, and in part its part', async () => {
    const [whole, part] = [await aReferralPair(app), await aReferralPair(app)];
    const [first, second] = [await aTopup(whole, 50_000), await aTopup(part, 50_000)];
    await reverse(first.paymentId, null);
    await reverse(second.paymentId, 10_000);
    await accrueReward(app, first);
    await accrueReward(app, second);
    expect(await earningsOf(app, whole)).toMatchObject([{ reason: 'referral_registration_pending', amountKopeks: 0 }]);
    expect([await balanceOf(whole.referral), await balanceOf(whole.referrer)]).toEqual([0, 0]);
    // Of 22,500 and of the bonus of 10,000 a fifth went back, as of the 50,000.
    expect([await kopeksOf(part), await balanceOf(part.referral), await balanceOf(part.referrer)]).toEqual([
      [18_000],
      48_000,
      18_000,
    ]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('in parts takes parts: never more in all than the whole', async () => {
    const pair = await aReferralPair(app);
    const { paymentId, transactionId } = await aTopup(pair, 10_001);
    await accrueReward(app, { transactionId });
    expect(await kopeksOf(pair)).toEqual([12_500]);
    await reverse(paymentId, 3_333);
    // floor(12,500 * 3,333 / 10,001) = 4,165 and floor(10,000 * 3,333 / 10,001) = 3,332.
    expect([await kopeksOf(pair), await balanceOf(pair.referral)]).toEqual([[8_335], 20_001 - 3_333 - 3_332]);
    await reverse(paymentId, 3_333);
    await reverse(paymentId, 3_335);
    expect([await kopeksOf(pair), await balanceOf(pair.referrer), await balanceOf(pair.referral)]).toEqual([[0], 0, 0]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test.each([
    ['the whole, before the job of the reward: nothing is earned', null, [], 0, 0],
    ['a part, before the job of the reward: the rest is earned', 20_000, [13_500], 13_500, 36_000],
  ])('%s', async (_name, amount, earned, referrerHas, referralHas) => {
    const pair = await aReferralPair(app);
    const { paymentId, transactionId } = await aTopup(pair, 50_000);
    await reverse(paymentId, amount);
    await accrueReward(app, { transactionId });
    await takeBackRewards(app, { paymentId });
    expect((await kopeksOf(pair)).filter((kopeks) => kopeks > 0)).toEqual(earned);
    expect([await balanceOf(pair.referrer), await balanceOf(pair.referral)]).toEqual([referrerHas, referralHas]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('the bonus that the payer has spent is a case, never a balance below zero', async () => {
    const pair = await aReferralPair(app);
    const { paymentId, transactionId } = await aTopup(pair, 50_000);
    await accrueReward(app, { transactionId });
    await spend(app, pair.referral.id, 6_000);
    await reverse(paymentId, null);
    expect(await balanceOf(pair.referral)).toBe(0);
    expect(await casesOf(app, paymentId)).toEqual([{ kind: 'reversal_remainder', amountKopeks: 6_000, status: 'open' }]);
    expect(await checkLedger(app)).toEqual([]);
  });
});

describe('earnings that were spent or withdrawn become a debt', () => {
  /** A referrer who has earned 22,500 by one top-up. */
  async function anEarner() {
    const pair = await aReferralPair(app);
    const topup = await aTopup(pair, 50_000);
    await accrueReward(app, { transactionId: topup.transactionId });
    return { pair, ...topup, userId: pair.referrer.id };
  }

  test('that later earnings pay first, in full or in part', async () => {
    const { pair, paymentId, userId } = await anEarner();
    await spend(app, userId, 20_000);
    await reverse(paymentId, null);
    expect([await balanceOf(pair.referrer), await readDebt(app, userId)]).toEqual([0, 20_000]);
    const second = await aTopup(pair, 60_000);
    await accrueReward(app, { transactionId: second.transactionId });
    expect([await balanceOf(pair.referrer), await readDebt(app, userId)]).toEqual([0, 5_000]);
    const third = await aTopup(pair, 60_000);
    await accrueReward(app, { transactionId: third.transactionId });
    expect([await balanceOf(pair.referrer), await readDebt(app, userId)]).toEqual([10_000, 0]);
    const rows = await app.db.sql(
      "SELECT amount_kopeks, description FROM transactions WHERE user_id = $1::int AND type = 'refund' AND NOT is_internal ORDER BY id",
      [userId],
    );
    expect(rows).toEqual([
      { amountKopeks: -2_500, description: 'Referral reward taken back: the payment was refunded' },
      { amountKopeks: -15_000, description: 'Referral rewards owed, paid from a later one' },
      { amountKopeks: -5_000, description: 'Referral rewards owed, paid from a later one' },
    ]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('withdrawn ones are not taken from money of the user, and the administrator sees the debt', async () => {
    const { pair, paymentId, userId } = await anEarner();
    const admin = await anAdmin(app);
    const id = await aRequest(app, { userId }, 22_500);
    await approveWithdrawal(app, admin, { id }, null);
    await aTopup({ referrer: pair.referral, referral: pair.referrer }, 30_000);
    await reverse(paymentId, null);
    expect([await balanceOf(pair.referrer), await readDebt(app, userId)]).toEqual([30_000, 22_500]);
    expect(await readWithdrawal(app, admin, id)).toMatchObject({ referralDebtKopeks: 22_500 });
    const { debtors, totalKopeks } = await listDebts(app, 500);
    expect(debtors).toContainEqual({ userId, kopeks: 22_500, updatedAt: app.clock.now() });
    expect(totalKopeks).toBe(debtors.reduce((sum, { kopeks }) => sum + kopeks, 0));
    expect(await checkLedger(app)).toEqual([]);
  });

  test('those that a request holds pay the debt when the request is refused', async () => {
    const { pair, paymentId, userId } = await anEarner();
    await earn(app, pair, 10_000);
    const id = await aRequest(app, { userId }, 32_500);
    await reverse(paymentId, null);
    expect([await balanceOf(pair.referrer), await readDebt(app, userId)]).toEqual([0, 22_500]);
    await rejectWithdrawal(app, await anAdmin(app), { id }, null);
    expect([await balanceOf(pair.referrer), await readDebt(app, userId)]).toEqual([10_000, 0]);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('and go with a merge of accounts', async () => {
    const { paymentId, userId } = await anEarner();
    await spend(app, userId, 22_500);
    await reverse(paymentId, null);
    const other = await anEarner();
    await merge(app, { primaryId: other.userId, secondaryId: userId });
    expect([await readDebt(app, userId), await readDebt(app, other.userId)]).toEqual([0, 22_500]);
    expect(await checkLedger(app)).toEqual([]);
  });
});

test('REFERRAL_EARNINGS_HOLD_DAYS: earnings can be withdrawn after the hold', async () => {
  const strict = (await testApp({ environment: { ...WITHDRAWALS_ON, REFERRAL_EARNINGS_HOLD_DAYS: '14' }, clock: t.clock })).app;
  const pair = await aReferralPair(app);
  const actor = { kind: 'user', userId: pair.referrer.id } as const;
  await earn(app, pair, 20_000);
  t.clock.advance(10 * DAY_MS);
  await earn(app, pair, 5_000);
  const available = async (by: App) => (await readMyWithdrawalBalance(by, actor)).availableTotalKopeks;
  expect([await available(app), await available(strict)]).toEqual([25_000, 0]);
  expect((await readMyReferralInfo(strict, actor)).availableBalanceKopeks).toBe(0);
  t.clock.advance(4 * DAY_MS);
  expect([await available(app), await available(strict)]).toEqual([25_000, 20_000]);
});

test('any parts of any payments in any order: what is left of rewards is what their payments left, and the ledger is clean', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('pay'), kopeks: fc.integer({ min: 10_000, max: 60_000 }) }),
    fc.record({ kind: fc.constantFrom('accrue', 'spend', 'take-back'), which: fc.nat(5) }),
    fc.record({ kind: fc.constant('reverse'), which: fc.nat(5), kopeks: fc.integer({ min: 1, max: 40_000 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
      const pair = await aReferralPair(app);
      const payments: { paymentId: number; transactionId: number; kopeks: number; left: number }[] = [];
      for (const now of steps) {
        if (now.kind === 'pay') payments.push({ ...(await aTopup(pair, now.kopeks)), kopeks: now.kopeks, left: now.kopeks });
        const payment = 'which' in now ? payments[now.which % payments.length] : undefined;
        if (now.kind === 'spend') await spend(app, pair.referrer.id, Math.floor((await balanceOf(pair.referrer)) / 2));
        if (!payment) continue;
        if (now.kind === 'accrue') await accrueReward(app, payment);
        if (now.kind === 'take-back') await takeBackRewards(app, payment);
        if (now.kind !== 'reverse' || payment.left === 0) continue;
        await reverse(payment.paymentId, now.kopeks);
        payment.left = Math.max(payment.left - now.kopeks, 0);
      }
      for (const payment of payments) {
        await accrueReward(app, payment);
        await takeBackRewards(app, payment);
        const [left] = await app.db.sql<{ kopeks: number; earned: number; taken: number }>(
          `SELECT coalesce(sum(e.amount_kopeks), 0)::bigint AS earned,
             coalesce((SELECT sum(w.amount_kopeks) FROM reward_reversals w JOIN referral_earnings x ON x.id = w.earning_id
               WHERE x.referral_transaction_id = $1::int), 0)::bigint AS taken,
             reversed_of_transaction($1::int) AS kopeks FROM referral_earnings e WHERE e.referral_transaction_id = $1::int`,
          [payment.transactionId],
        );
        const { earned, taken, kopeks: reversed } = left!;
        expect(taken).toBe(Math.floor(((earned + taken) * Math.min(reversed, payment.kopeks)) / payment.kopeks));
      }
      expect(await checkLedger(app)).toEqual([]);
    }),
    { numRuns: 12 },
  );
});
