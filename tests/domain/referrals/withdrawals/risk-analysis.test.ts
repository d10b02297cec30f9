import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../../../src/core/app.ts';
import { addDays } from '../../../../src/core/clock.ts';
import { readWithdrawal } from '../../../../src/domain/referrals/withdrawals/decide.ts';
import { setUser } from '../../../support/merge-samples.ts';
import { aDeposit, anEarning, aReferralOf } from '../../../support/referral-samples.ts';
import { rowOf, topUp } from '../../../support/sale-samples.ts';
import { storeRows } from '../../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../../support/test-app.ts';
import { anAdmin, anEarner, aRequest, requestRow, spend, WITHDRAWALS_ON } from '../../../support/withdrawal-samples.ts';

let t: TestApp;
let app: App;
beforeAll(async () => {
  t = await testApp({
    environment: {
      ...WITHDRAWALS_ON,
      REFERRAL_WITHDRAWAL_SUSPICIOUS_MAX_DEPOSITS_PER_MONTH: '2',
      REFERRAL_WITHDRAWAL_SUSPICIOUS_MIN_DEPOSIT_KOPEKS: '1000',
      REFERRAL_WITHDRAWAL_SUSPICIOUS_NO_PURCHASES_RATIO: '1.5',
    },
  });
  app = t.app;
});

const analysisOf = async (id: number) => JSON.parse((await requestRow(app, id)).riskAnalysis!);

/** A deposit of that age. */
async function depositedAgo(userId: number, kopeks: number, days: number): Promise<void> {
  const id = await aDeposit(app, userId, kopeks);
  await app.db.sql('UPDATE transactions SET created_at = $2::timestamptz WHERE id = $1::int', [
    id,
    addDays(t.clock.now(), -days),
  ]);
}

describe('risk analysis (spec 03 section 6)', () => {
  test('is stored with the request in the form of the specification', async () => {
    const earner = await anEarner(app, 60_000);
    const { referral } = earner.pair;
    await setUser(app, referral.id, { first_name: 'Anna', last_name: 'B' });
    for (const kopeks of [500, 300, 100]) await aDeposit(app, referral.id, kopeks);
    const quiet = await aReferralOf(app, earner.userId);
    await depositedAgo(quiet.id, 90_000, 31);
    await topUp(app, earner.userId, 40_000);
    await spend(app, earner.userId, 10_000);
    const id = await aRequest(app, earner, 5_000);
    // 25: 400 rubles of deposits against 100 spent; 15: four deposits (one of them with the earning) in a month; 10: their sum of 1,000 is not above.
    expect(await analysisOf(id)).toEqual({
      risk_score: 40,
      risk_level: 'medium',
      recommendation: 'review',
      recommendation_text: 'Check the user and the referrals before you approve the request.',
      flags: ['Top-ups far above the purchases', 'Too many top-ups of a referral in 30 days'],
      details: {
        balance_stats: {
          total_earned: 60_000,
          own_deposits: 40_000,
          spending: 10_000,
          referral_spent: 10_000,
          withdrawn: 0,
          pending: 0,
          available_referral: 60_000,
          available_total: 60_000,
          only_referral_mode: true,
        },
        referral_count: 2,
        suspicious_referrals: [
          {
            name: 'Anna B',
            deposits_count: 4,
            deposits_total: 1_000,
            flags: ['Too many top-ups of a referral in 30 days'],
          },
        ],
        referral_deposits: { paying_referrals: 2, total_deposits: 5, total_amount: 91_000 },
        earnings_by_reason: {
          referral_commission_topup: { count: 1, total: 60_000 },
          referral_registration_pending: { count: 2, total: 0 },
        },
        recent_activity: { week_earnings_count: 1, week_earnings_amount: 60_000 },
      },
    });
    expect(await requestRow(app, id)).toMatchObject({ riskScore: 40 });
  });

  test('every suspicious referral counts, while bonuses, hidden movements and those without a method are no deposits', async () => {
    const earner = await anEarner(app, 60_000);
    for (let n = 0; n < 3; n++) await aDeposit(app, (await aReferralOf(app, earner.userId)).id, 1_001);
    const bonus = await aReferralOf(app, earner.userId);
    await app.db.sql(
      `SELECT outcome FROM post_transaction($1::int, 'deposit', 99000, 'bonus_expense', 'bonus:wheel', NULL, NULL, 'bonus', now())`,
      [bonus.id],
    );
    await app.db.sql(
      `SELECT outcome FROM post_transaction($1::int, 'deposit', 99000, 'account_merge', 'account_merge', 'balance', NULL, 'hidden', now(),
         NULL, true)`,
      [bonus.id],
    );
    const id = await aRequest(app, earner, 5_000);
    const analysis = await analysisOf(id);
    expect(analysis).toMatchObject({ risk_score: 30, risk_level: 'medium' });
    expect(analysis.details.suspicious_referrals).toHaveLength(3);
    expect(analysis.details.referral_deposits).toMatchObject({ paying_referrals: 4, total_deposits: 4 });
  });

  test('deposits without any purchase, a single paying referral, and many earnings of a week', async () => {
    const earner = await anEarner(app, 60_000);
    await topUp(app, earner.userId, 100);
    for (let n = 0; n < 20; n++) await anEarning(app, earner.pair, { kopeks: 1, at: addDays(t.clock.now(), -6) });
    await app.db.sql('UPDATE transactions SET created_at = $2::timestamptz WHERE user_id = $1::int', [
      earner.pair.referral.id,
      addDays(t.clock.now(), -40),
    ]);
    const analysis = await analysisOf(await aRequest(app, earner, 5_000));
    expect(analysis).toMatchObject({ risk_score: 40 + 20 + 15, risk_level: 'critical', recommendation: 'reject' });
    expect(analysis.details).not.toHaveProperty('suspicious_referrals');
    expect(analysis.details.recent_activity).toEqual({ week_earnings_count: 21, week_earnings_amount: 60_020 });
  });

  test('a referrer who has no referrals left', async () => {
    const earner = await anEarner(app, 60_000);
    await setUser(app, earner.pair.referral.id, { referred_by_id: null });
    const analysis = await analysisOf(await aRequest(app, earner, 5_000));
    expect(analysis).toMatchObject({ risk_score: 50, risk_level: 'high', details: { referral_count: 0 } });
    expect(analysis.details).not.toHaveProperty('referral_deposits');
  });

  test('spec 10 U7: notes are shown in the language of the administrator, whatever they were stored in', async () => {
    const id = await aRequest(app, await anEarner(app, 60_000), 5_000);
    const admin = await anAdmin(app);
    for (const [language, flag] of [
      ['en', 'All earnings come from one referral'],
      ['ru', 'Все начисления от одного реферала'],
    ] as const) {
      await setUser(app, admin.userId, { language });
      expect((await readWithdrawal(app, admin, id)).riskAnalysis).toMatchObject({ flags: [flag] });
    }
    await app.db.sql(`UPDATE withdrawal_requests SET risk_analysis = '{"flags": ["Своё"]}' WHERE id = $1::int`, [id]);
    expect((await readWithdrawal(app, admin, id)).riskAnalysis).toEqual({ flags: ['Своё'] });
  });

  test('an analysis that cannot be read is shown as none', async () => {
    const earner = await anEarner(app, 60_000);
    const id = await aRequest(app, earner, 5_000);
    const admin = await anAdmin(app);
    const shown = await readWithdrawal(app, admin, id);
    expect(shown).toMatchObject({ balanceKopeks: 55_000, totalReferrals: 1, totalEarningsKopeks: 60_000, riskLevel: 'low' });
    expect(shown.riskAnalysis).toMatchObject({ risk_score: 20 });
    for (const stored of ['{broken', '[]', '"text"', 'null', '']) {
      await app.db.sql('UPDATE withdrawal_requests SET risk_analysis = $2 WHERE id = $1::int', [id, stored]);
      expect((await readWithdrawal(app, admin, id)).riskAnalysis).toBeNull();
    }
  });

  test('names up to fifty referrals, and counts all of them', async () => {
    const earner = await anEarner(app, 60_000);
    const { suffix } = await rowOf<{ suffix: number }>(app, 'SELECT max(id)::int AS suffix FROM users');
    const referrals = Array.from({ length: 60 }, (_, n) => ({ referralCode: `many${suffix}-${n}`, referredById: earner.userId }));
    await storeRows(app, 'User', referrals);
    await app.db.sql(
      `SELECT post_transaction(u.id, 'deposit', 5000, 'provider_clearing', 'provider:test', 'test', 'many-' || u.id, NULL, $2::timestamptz)
       FROM users u WHERE u.referral_code LIKE 'many' || $1::int || '-%'`,
      [suffix, t.clock.now()],
    );
    const analysis = await analysisOf(await aRequest(app, earner, 5_000));
    expect(analysis.risk_score).toBe(100);
    expect(analysis.details.suspicious_referrals).toHaveLength(50);
    expect(analysis.details.referral_deposits.paying_referrals).toBe(61);
  });
});
