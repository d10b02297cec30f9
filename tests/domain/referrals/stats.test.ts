import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addDays, startOfDay } from '../../../src/core/clock.ts';
import type { Rows } from '../../../src/core/db/columns.ts';
import {
  assignCampaignToPartner,
  readMyCampaignStats,
  readPartnerDetail,
} from '../../../src/domain/campaigns/partner-campaigns.ts';
import { listMyEarnings, listMyReferrals, readMyReferralInfo } from '../../../src/domain/referrals/my-referrals.ts';
import {
  comparePeriods,
  readDailyStats,
  readGlobalStats,
  readReferrerStats,
  readTopReferrals,
  readTopReferrers,
} from '../../../src/domain/referrals/stats/read-stats.ts';
import { aUser } from '../../support/builders.ts';
import { aCampaign } from '../../support/campaign-samples.ts';
import { setUser } from '../../support/merge-samples.ts';
import { anEarning, aReferralOf, aReferralPair } from '../../support/referral-samples.ts';
import { aStoredSubscription } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
  // Noon, so that "today" and "24 hours" differ.
  t.clock.set(new Date(startOfDay(t.clock.now()).getTime() + 12 * 3_600_000));
});
const ago = (days: number) => addDays(t.clock.now(), -days);
const day = (days: number) => ago(days).toISOString().slice(0, 10);

/** A referrer with referrals of 0.1, 0.9, 6.9, 29, 200 and 500 days ago and rewards beside them. */
async function aBusyReferrer() {
  const referrer = await aUser(t.app);
  const ages = [0.1, 0.9, 6.9, 29, 200, 500];
  for (const [index, age] of ages.entries()) {
    const referral = await aReferralOf(t.app, referrer.id, { created_at: ago(age), has_made_first_topup: index % 2 === 0 });
    await anEarning(t.app, { referrer, referral }, { kopeks: 10 ** index, at: ago(age) });
    if (index === 1) await aStoredSubscription(t.app, referral.id);
  }
  return referrer;
}

describe('statistics of a referrer (spec 04 section 5, item 1)', () => {
  test('windows are exact to the millisecond, today starts at midnight UTC', async () => {
    const referrer = await aBusyReferrer();
    expect(await readReferrerStats(t.app, referrer.id)).toEqual({
      totalReferrals: 6,
      paidReferrals: 3,
      activeReferrals: 1,
      allTime: { referralsCount: 6, earningsKopeks: 111_111 },
      year: { referralsCount: 5, earningsKopeks: 11_111 },
      month: { referralsCount: 4, earningsKopeks: 1_111 },
      week: { referralsCount: 3, earningsKopeks: 111 },
      today: { referralsCount: 1, earningsKopeks: 1 },
    });
    const edge = await aReferralPair(t.app, { referral: { created_at: new Date(ago(7).getTime() - 1) } });
    await anEarning(t.app, edge, { kopeks: 5, at: ago(7) });
    expect((await readReferrerStats(t.app, edge.referrer.id)).week).toEqual({ referralsCount: 0, earningsKopeks: 5 });
  });

  test('an unknown user has zeros', async () => {
    expect((await readReferrerStats(t.app, 2_147_000_000)).allTime).toEqual({ referralsCount: 0, earningsKopeks: 0 });
  });

  test('days end today', async () => {
    const referrer = await aBusyReferrer();
    const days = await readDailyStats(t.app, referrer.id, 8);
    expect(days).toHaveLength(8);
    expect(days.at(-1)).toEqual({ date: day(0), referralsCount: 1, earningsKopeks: 1 });
    expect(days.slice(0, 2)).toEqual([
      { date: day(7), referralsCount: 1, earningsKopeks: 100 },
      { date: day(6), referralsCount: 0, earningsKopeks: 0 },
    ]);
    expect(days.reduce((sum, each) => sum + each.earningsKopeks, 0)).toBe(111);
  });

  test('compared periods are half-open and of different lengths', async () => {
    const { referrer, referral } = await aReferralPair(t.app, { referral: { created_at: ago(3) } });
    for (const [age, kopeks] of [
      [0, 1],
      [7, 10],
      [7.0001, 100],
      [21, 1_000],
      [21.0001, 10_000],
    ] as const) {
      await anEarning(t.app, { referrer, referral }, { kopeks, at: ago(age) });
    }
    const compared = await comparePeriods(t.app, referrer.id, { current: 7, previous: 14 });
    expect(compared).toEqual({
      current: { days: 7, start: ago(7), end: ago(0), referralsCount: 1, earningsKopeks: 11 },
      previous: { days: 14, start: ago(21), end: ago(7), referralsCount: 0, earningsKopeks: 1_100 },
    });
  });

  test("spec 10 X24: top referrals are all of this referrer, and count this referrer's rewards only", async () => {
    const pair = await aReferralPair(t.app);
    const rich = await aReferralOf(t.app, pair.referrer.id);
    // Without any row of earnings, as an import brings referrals.
    const poor = await aUser(t.app);
    await setUser(t.app, poor.id, { referred_by_id: pair.referrer.id });
    await anEarning(t.app, pair, { kopeks: 10, at: ago(1) });
    await anEarning(t.app, { referrer: pair.referrer, referral: rich }, { kopeks: 20, at: ago(1) });
    await anEarning(t.app, { referrer: await aUser(t.app), referral: pair.referral }, { kopeks: 999, at: ago(1) });
    const top = await readTopReferrals(t.app, pair.referrer.id, 10);
    expect(top.map(({ id, totalEarningsKopeks }) => [id, totalEarningsKopeks])).toEqual([
      [rich.id, 20],
      [pair.referral.id, 10],
      [poor.id, 0],
    ]);
    expect(await readTopReferrals(t.app, pair.referrer.id, 1)).toHaveLength(1);
  });
});

describe('statistics of the service (spec 04 section 4 and section 5, item 3)', () => {
  beforeEach(async () => {
    await t.app.db.sql('DELETE FROM referral_earnings');
    await t.app.db.sql('UPDATE users SET referred_by_id = NULL WHERE referred_by_id IS NOT NULL');
  });

  test('sum what all referrers have', async () => {
    await aBusyReferrer();
    await aBusyReferrer();
    const stats = await readGlobalStats(t.app);
    expect(stats).toMatchObject({ totalReferrers: 2, totalReferrals: 12, paidReferrals: 6 });
    expect([stats.allTime, stats.year, stats.month, stats.week, stats.today]).toEqual([
      { referralsCount: 12, earningsKopeks: 222_222 },
      { referralsCount: 10, earningsKopeks: 22_222 },
      { referralsCount: 8, earningsKopeks: 2_222 },
      { referralsCount: 6, earningsKopeks: 222 },
      { referralsCount: 2, earningsKopeks: 2 },
    ]);
    expect((await readDailyStats(t.app, null, 2)).map((each) => each.earningsKopeks)).toEqual([20, 2]);
  });

  test('top referrers in a time by rewards, then by referrals, with deleted ones left out before the cut', async () => {
    const [old, fresh, idle, gone] = [
      await aReferralPair(t.app),
      await aReferralPair(t.app),
      await aUser(t.app),
      await aReferralPair(t.app),
    ];
    await anEarning(t.app, old, { kopeks: 500, at: ago(40) });
    await anEarning(t.app, fresh, { kopeks: 100, at: ago(5) });
    await anEarning(t.app, gone, { kopeks: 9_000, at: ago(1) });
    await setUser(t.app, gone.referrer.id, { status: 'deleted' });
    for (const pair of [old, fresh, gone]) await setUser(t.app, pair.referral.id, { created_at: ago(100) });
    await aReferralOf(t.app, idle.id, { created_at: ago(2) });
    const top = async (limit: number, days: number | null) =>
      (await readTopReferrers(t.app, limit, days)).map(({ id, referralsCount, totalEarningsKopeks }) => [
        id,
        referralsCount,
        totalEarningsKopeks,
      ]);
    expect(await top(10, null)).toEqual([
      [old.referrer.id, 1, 500],
      [fresh.referrer.id, 1, 100],
      [idle.id, 1, 0],
    ]);
    expect(await top(1, null)).toEqual([[old.referrer.id, 1, 500]]);
    expect(await top(10, 30)).toEqual([
      [fresh.referrer.id, 0, 100],
      [idle.id, 1, 0],
    ]);
    // 4.9 days: the reward of 5 days ago is out, although it lies on a day that is in.
    await anEarning(t.app, old, { kopeks: 7, at: ago(4.8) });
    expect(await top(10, 4.9)).toEqual([
      [old.referrer.id, 0, 7],
      [idle.id, 1, 0],
    ]);
  });
});

describe('a campaign of a partner (spec 04 section 5, item 2)', () => {
  test('counts his own referrals and rewards of this campaign', async () => {
    const partner = await aUser(t.app);
    await setUser(t.app, partner.id, { partner_status: 'approved' });
    const [campaign, other] = [await aCampaign(t.app), await aCampaign(t.app)];
    const actor = { kind: 'admin', userId: partner.id, level: 100, isConfigAdmin: false } as const;
    for (const { id } of [campaign, other]) await assignCampaignToPartner(t.app, actor, { userId: partner.id, campaignId: id });
    const register = (userId: number) =>
      storeRow(t.app, 'CampaignRegistration', { campaignId: campaign.id, userId, bonusType: 'none' });
    const [one, two, stranger] = [await aReferralOf(t.app, partner.id), await aReferralOf(t.app, partner.id), await aUser(t.app)];
    for (const user of [one, two, stranger]) await register(user.id);
    await setUser(t.app, one.id, { has_made_first_topup: true, first_name: null, last_name: null, username: null });
    const reward = (referral: { id: number }, kopeks: number, age: number, campaignId = campaign.id) =>
      anEarning(t.app, { referrer: partner, referral: referral as never }, { kopeks, at: ago(age), campaignId });
    await reward(one, 1_000, 0.1);
    await reward(one, 200, 8);
    await reward(two, 30, 8);
    await reward(two, 4, 29);
    await reward(two, 5_000, 0.1, other.id);
    const partnerActor = { kind: 'user', userId: partner.id } as const;
    const stats = await readMyCampaignStats(t.app, partnerActor, campaign.id);
    expect(stats).toMatchObject({
      campaignId: campaign.id,
      registrationsCount: 2,
      referralsCount: 2,
      earningsKopeks: 1_234,
      conversionRate: 100,
      earningsToday: 1_000,
      earningsWeek: 1_000,
      earningsMonth: 1_234,
      periodComparison: {
        current: { days: 7, referralsCount: 1, earningsKopeks: 1_000 },
        previous: { days: 7, referralsCount: 2, earningsKopeks: 230 },
        referralsChange: { absolute: -1, percent: -50, trend: 'down' },
        earningsChange: { absolute: 770, percent: 334.78, trend: 'up' },
      },
      topReferrals: [
        { id: one.id, totalEarningsKopeks: 1_200, hasPaid: true, isActive: false },
        { id: two.id, totalEarningsKopeks: 34, hasPaid: false },
      ],
    });
    expect(stats.dailyStats).toHaveLength(30);
    expect(stats.dailyStats.at(-1)).toEqual({ date: day(0), referralsCount: 1, earningsKopeks: 1_000 });
    expect(stats.dailyStats.at(-9)).toEqual({ date: day(8), referralsCount: 2, earningsKopeks: 230 });
    const detail = await readPartnerDetail(t.app, partner.id);
    expect(
      detail.campaigns.map(({ id, registrationsCount, referralsCount, earningsKopeks }) => [
        ...[id, registrationsCount, referralsCount, earningsKopeks],
      ]),
    ).toEqual([
      [other.id, 0, 1, 5_000],
      [campaign.id, 2, 2, 1_234],
    ]);
    await expect(readMyCampaignStats(t.app, { kind: 'user', userId: one.id }, campaign.id)).rejects.toMatchObject({
      status: 403,
    });
    const foreign = await aCampaign(t.app);
    await expect(readMyCampaignStats(t.app, partnerActor, foreign.id)).rejects.toMatchObject({ status: 404 });
  });
});

describe("a user's own page (spec 04 section 2)", () => {
  const withdraw = (userId: number, kopeks: number, status: Rows['WithdrawalRequest']['status']) =>
    storeRow(t.app, 'WithdrawalRequest', { userId, amountKopeks: kopeks, status });

  test('what may be withdrawn: earned less withdrawn and waiting, never more than the balance, never below zero', async () => {
    const pair = await aReferralPair(t.app, { referrer: { referral_commission_percent: 12.5 } });
    const actor = { kind: 'user', userId: pair.referrer.id } as const;
    await anEarning(t.app, pair, { kopeks: 100_000, at: ago(1) });
    await anEarning(t.app, { referrer: await aUser(t.app), referral: pair.referrer }, { kopeks: 1, at: ago(1) });
    const available = async () => (await readMyReferralInfo(t.app, actor)).availableBalanceKopeks;
    // The only balance is the deposit of 100 kopeks that `anEarning` of the other one made.
    expect(await available()).toBe(100);
    for (const [kopeks, status] of [
      [40_000, 'completed'],
      [50_000, 'approved'],
      [9_950, 'pending'],
      [70_000, 'rejected'],
      [70_000, 'cancelled'],
    ] as const) {
      await withdraw(pair.referrer.id, kopeks, status);
    }
    expect(await available()).toBe(50);
    expect(await readMyReferralInfo(t.app, actor)).toMatchObject({
      totalReferrals: 1,
      activeReferrals: 0,
      totalEarningsKopeks: 100_000,
      commissionPercent: 12.5,
      withdrawnKopeks: 90_000,
    });
    await withdraw(pair.referrer.id, 90_000, 'completed');
    expect(await available()).toBe(0);
  });

  test('links continue a query, and there is none into a cabinet that is not set', async () => {
    const user = await aUser(t.app);
    await setUser(t.app, user.id, { referral_code: `a&${user.id}` });
    const info = async (CABINET_URL: string) =>
      readMyReferralInfo((await testApp({ environment: { CABINET_URL } })).app, { kind: 'user', userId: user.id });
    expect((await info('https://my.example.org/app')).referralLink).toBe(`https://my.example.org/app?ref=a%26${user.id}`);
    expect((await info('https://my.example.org/?x=1')).referralLink).toBe(`https://my.example.org/?x=1&ref=a%26${user.id}`);
    expect((await info('https://example.com/cabinet')).referralLink).toBe('');
    expect((await info('')).botReferralLink).toBe(`https://t.me/test_bot?start=a&${user.id}`);
  });

  test('lists are newest first with rewards of nothing, and the sum is over all pages', async () => {
    const pair = await aReferralPair(t.app);
    const second = await aReferralOf(t.app, pair.referrer.id, { has_had_paid_subscription: true, created_at: ago(-1) });
    await aStoredSubscription(t.app, second.id);
    const actor = { kind: 'user', userId: pair.referrer.id } as const;
    const { items, total } = await listMyReferrals(t.app, actor, { page: 1, perPage: 1 });
    expect([total, items]).toMatchObject([2, [{ id: second.id, hasSubscription: true, hasPaid: true }]]);
    await anEarning(t.app, pair, { kopeks: 70, at: ago(-1) });
    const first = await listMyEarnings(t.app, actor, { page: 1, perPage: 1 });
    expect(first).toMatchObject({
      total: 3,
      totalAmountKopeks: 70,
      items: [{ amountKopeks: 70, reason: 'referral_commission_topup' }],
    });
    const rest = await listMyEarnings(t.app, actor, { page: 2, perPage: 1 });
    expect(rest).toMatchObject({
      total: 3,
      totalAmountKopeks: 70,
      items: [{ amountKopeks: 0, reason: 'referral_registration_pending' }],
    });
    expect((await listMyEarnings(t.app, actor, { page: 9_007_199_254_740_991, perPage: 100 })).items).toEqual([]);
  });
});
