import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addDays, startOfDay } from '../../../src/core/clock.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { applyCampaignAtSignIn } from '../../../src/domain/campaigns/apply-at-sign-in.ts';
import { deleteCampaign, readCampaignChart, readCampaignStats } from '../../../src/domain/campaigns/campaigns.ts';
import { campaignTotals, listCampaigns } from '../../../src/domain/campaigns/read-campaigns.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { purchaseTariff } from '../../../src/domain/subscriptions/purchase-tariff.ts';
import { aUser, unique } from '../../support/builders.ts';
import { aCampaign } from '../../support/campaign-samples.ts';
import { aPair, merge, setUser } from '../../support/merge-samples.ts';
import { aStoredSubscription, aTariff, rowOf, topUp } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
const token = { kind: 'token', tokenId: 1, name: 'test' } as const;

beforeAll(async () => {
  t = await testApp();
});
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM advertising_campaigns');
});

async function registrantOf(slug: string): Promise<number> {
  const { id } = await aUser(t.app);
  expect(await applyCampaignAtSignIn(t.app, id, slug)).not.toBeNull();
  return id;
}

/** A subscription payment past the service, at any time. */
async function pay(userId: number, kopeks: number, createdAt?: Date): Promise<number> {
  await topUp(t.app, userId, kopeks);
  const posting = await postMovement(t.app, {
    userId,
    type: 'subscription_payment',
    amountKopeks: -kopeks,
    paymentMethod: 'balance',
    description: 'test',
    contra: { kind: 'sales_revenue', product: 'tariff' },
    ...(createdAt ? { createdAt } : {}),
  });
  if (posting.outcome !== 'posted') throw new Error(posting.outcome);
  return posting.transactionId;
}

const stats = (id: number) => readCampaignStats(t.app, id);

/** Every figure of a campaign, as it is answered. */
async function everything(id: number) {
  const page = await listCampaigns(t.app, { includeInactive: true, limit: 100, offset: 0 });
  return { stats: await stats(id), chart: await readCampaignChart(t.app, id), totals: await campaignTotals(t.app), page };
}

/** What is counted along with the changes equals what a count of everything says. */
async function expectCounted(id: number): Promise<void> {
  const along = await everything(id);
  await t.app.db.sql('SELECT recount_campaigns()::text AS done');
  expect(await everything(id)).toEqual(along);
}

describe('statistics (spec 04 section 6.6)', () => {
  test('no registrations: zeros and no division by zero', async () => {
    const campaign = await aCampaign(t.app, { bonus_type: 'none' });
    expect(await stats(campaign.id)).toMatchObject({
      registrations: 0,
      totalRevenueKopeks: 0,
      avgRevenuePerUserKopeks: 0,
      avgFirstPaymentKopeks: 0,
      lastRegistration: null,
      conversionRate: 0,
      trialConversionRate: 0,
      paidUsersCount: 0,
      conversionCount: 0,
    });
    const chart = await readCampaignChart(t.app, campaign.id);
    expect(chart.days).toHaveLength(30);
    expect(chart.top).toEqual([]);
  });

  test('revenue is real deposits only: no bonus, no gift of an administrator, no purchase', async () => {
    const campaign = await aCampaign(t.app, { balance_bonus_kopeks: 700 });
    const [one, two] = [await registrantOf(campaign.slug), await registrantOf(campaign.slug), await registrantOf(campaign.slug)];
    await topUp(t.app, one, 10_000);
    await topUp(t.app, two, 5_001);
    for (const paymentMethod of ['manual', 'balance', null]) {
      await postMovement(t.app, {
        userId: one,
        type: 'deposit',
        amountKopeks: 900,
        paymentMethod,
        description: 'test',
        contra: { kind: 'manual_adjustment' },
      });
    }
    expect(await stats(campaign.id)).toMatchObject({
      registrations: 3,
      balanceIssuedKopeks: 2_100,
      totalRevenueKopeks: 15_001,
      avgRevenuePerUserKopeks: 5_000,
      paidUsersCount: 0,
      conversionRate: 0,
      lastRegistration: t.clock.now(),
    });
    await expectCounted(campaign.id);
  });

  test('paid users are those with payments, conversions or the flag, each once', async () => {
    const campaign = await aCampaign(t.app, { bonus_type: 'none' });
    const users = [];
    for (let index = 0; index < 6; index++) users.push(await registrantOf(campaign.slug));
    const [payer, converted, flagged] = users as [number, number, number];
    await pay(payer, 10_000);
    await pay(payer, 30_000);
    await storeRow(t.app, 'SubscriptionConversion', {
      userId: converted,
      convertedAt: t.clock.now(),
      firstPaymentAmountKopeks: 501,
    });
    expect(await stats(campaign.id)).toMatchObject({ paidUsersCount: 2, conversionCount: 2, conversionRate: 33.3 });
    for (const id of [flagged, payer, converted]) await setUser(t.app, id, { has_had_paid_subscription: true });
    expect(await stats(campaign.id)).toMatchObject({
      paidUsersCount: 3,
      conversionCount: 2,
      conversionRate: 50,
      avgFirstPaymentKopeks: 5_250,
    });
    await expectCounted(campaign.id);
    await setUser(t.app, flagged, { has_had_paid_subscription: false });
    await t.app.db.sql('DELETE FROM subscription_conversions WHERE user_id = $1::int RETURNING id', [converted]);
    expect(await stats(campaign.id)).toMatchObject({ paidUsersCount: 2, conversionCount: 1, avgFirstPaymentKopeks: 10_000 });
    await expectCounted(campaign.id);
  });

  test('the first payment is the earliest: a payment before the conversion takes its place, a later one does not', async () => {
    const campaign = await aCampaign(t.app, { bonus_type: 'none' });
    const user = await registrantOf(campaign.slug);
    const first = async () => (await stats(campaign.id)).avgFirstPaymentKopeks;
    await storeRow(t.app, 'SubscriptionConversion', { userId: user, convertedAt: t.clock.now(), firstPaymentAmountKopeks: 4000 });
    await pay(user, 9_000, t.clock.now());
    await pay(user, 9_000, addDays(t.clock.now(), 1));
    expect(await first()).toBe(4_000);
    const early = await pay(user, 2_000, addDays(t.clock.now(), -1));
    expect(await first()).toBe(2_000);
    await expectCounted(campaign.id);
    await t.app.db.sql('UPDATE transactions SET is_completed = false WHERE id = $1::int RETURNING id', [early]);
    expect(await first()).toBe(4_000);
    await expectCounted(campaign.id);
  });

  test('trials: who has one, who has a running one, and who bought after it', async () => {
    const campaign = await aCampaign(t.app, { bonus_type: 'subscription', subscription_duration_days: 3 });
    const [buyer, idle, over] = [
      await registrantOf(campaign.slug),
      await registrantOf(campaign.slug),
      await registrantOf(campaign.slug),
    ];
    expect(await stats(campaign.id)).toMatchObject({ trialUsersCount: 3, activeTrialsCount: 3, subscriptionIssued: 3 });
    await t.app.db.sql("UPDATE subscriptions SET status = 'expired' WHERE user_id = $1::int RETURNING id", [over]);
    expect(await stats(campaign.id)).toMatchObject({ trialUsersCount: 3, activeTrialsCount: 2 });
    await topUp(t.app, buyer, 30_000);
    const tariffId = await aTariff(t.app);
    await purchaseTariff(
      t.app,
      { kind: 'user', userId: buyer },
      { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: null },
    );
    expect(await stats(campaign.id)).toMatchObject({
      trialUsersCount: 2,
      activeTrialsCount: 1,
      conversionCount: 1,
      paidUsersCount: 1,
      conversionRate: 33.3,
      trialConversionRate: 50,
      avgFirstPaymentKopeks: 30_000,
    });
    await t.app.db.sql('DELETE FROM subscriptions WHERE user_id = $1::int RETURNING id', [idle]);
    expect(await stats(campaign.id)).toMatchObject({ trialUsersCount: 1, activeTrialsCount: 0 });
    await expectCounted(campaign.id);
  });

  test('an existing user is counted with the history', async () => {
    const campaign = await aCampaign(t.app, { bonus_type: 'none' });
    const { id } = await aUser(t.app);
    await pay(id, 6_000);
    await setUser(t.app, id, { has_had_paid_subscription: true });
    await aStoredSubscription(t.app, id, { is_trial: true });
    await applyCampaignAtSignIn(t.app, id, campaign.slug);
    expect(await stats(campaign.id)).toMatchObject({
      totalRevenueKopeks: 6_000,
      paidUsersCount: 1,
      trialUsersCount: 1,
      activeTrialsCount: 1,
      avgFirstPaymentKopeks: 6_000,
    });
    await expectCounted(campaign.id);
  });

  test('a merge of accounts moves the counters to the remaining account', async () => {
    const [mine, other] = [await aCampaign(t.app, { bonus_type: 'none' }), await aCampaign(t.app, { bonus_type: 'none' })];
    const pair = await aPair(t.app);
    await applyCampaignAtSignIn(t.app, pair.secondaryId, mine.slug);
    await topUp(t.app, pair.primaryId, 1_000);
    await pay(pair.secondaryId, 2_000);
    await merge(t.app, pair);
    expect(await stats(mine.id)).toMatchObject({ registrations: 1, totalRevenueKopeks: 3_000, paidUsersCount: 1 });
    await expectCounted(mine.id);

    const both = await aPair(t.app);
    await applyCampaignAtSignIn(t.app, both.primaryId, mine.slug);
    await applyCampaignAtSignIn(t.app, both.secondaryId, other.slug);
    await topUp(t.app, both.secondaryId, 500);
    await merge(t.app, both);
    // The registration stays with the account that is given up, its money does not.
    expect((await stats(other.id)).totalRevenueKopeks).toBe(0);
    expect((await stats(mine.id)).totalRevenueKopeks).toBe(3_500);
    await expectCounted(mine.id);
  });

  test('what is rolled back was never counted', async () => {
    const campaign = await aCampaign(t.app, { bonus_type: 'none' });
    const user = await registrantOf(campaign.slug);
    const failing = inTransaction(t.app, async (tx) => {
      await topUp(tx, user, 1_000);
      throw new Error('test');
    });
    await expect(failing).rejects.toThrow('test');
    expect((await stats(campaign.id)).totalRevenueKopeks).toBe(0);
    await expectCounted(campaign.id);
  });

  test('many changes fold into few rows and add up still', async () => {
    const campaign = await aCampaign(t.app, { bonus_type: 'none' });
    const user = await registrantOf(campaign.slug);
    for (let index = 0; index < 300; index++) await topUp(t.app, user, 100);
    expect((await stats(campaign.id)).totalRevenueKopeks).toBe(30_000);
    for (const table of ['campaign_counters', 'campaign_day_counters']) {
      const { rows } = await rowOf<{ rows: number }>(
        t.app,
        `SELECT count(*)::int AS rows FROM ${table} WHERE campaign_id = $1::int`,
        [campaign.id],
      );
      // One change in sixteen folds; that none of the last 150 did happens once in 16,000 runs.
      expect(rows).toBeLessThan(150);
    }
    await expectCounted(campaign.id);
  });

  test('the deletion of a campaign deletes its counters', async () => {
    const [gone, remaining] = [await aCampaign(t.app, { bonus_type: 'none' }), await aCampaign(t.app, { bonus_type: 'none' })];
    const user = await registrantOf(gone.slug);
    await topUp(t.app, user, 1_000);
    await registrantOf(remaining.slug);
    await deleteCampaign(t.app, token, gone.id);
    const left = await t.app.db.sql(
      `SELECT id FROM campaign_counters WHERE campaign_id = $1::int
       UNION ALL SELECT id FROM campaign_day_counters WHERE campaign_id = $1::int
       UNION ALL SELECT id FROM advertising_campaign_registrations WHERE campaign_id = $1::int`,
      [gone.id],
    );
    expect(left).toEqual([]);
    expect(await campaignTotals(t.app)).toMatchObject({ total: 1, totalRegistrations: 1 });
    await topUp(t.app, user, 1_000);
    await expectCounted(remaining.id);
  });
});

describe('chart', () => {
  test('thirty days with today, the week against the one before, and the five registrants with the highest payments', async () => {
    const campaign = await aCampaign(t.app, { bonus_type: 'none' });
    const users = [];
    for (let index = 0; index < 6; index++) users.push(await registrantOf(campaign.slug));
    const today = startOfDay(t.clock.now());
    const register = (userId: number, daysAgo: number) =>
      t.app.db.sql(
        'UPDATE advertising_campaign_registrations SET created_at = $2::timestamptz WHERE user_id = $1::int RETURNING id',
        [userId, addDays(today, -daysAgo)],
      );
    await register(users[1]!, 6);
    await register(users[2]!, 7);
    await register(users[3]!, 29);
    await register(users[4]!, 30);
    const deposit = (userId: number, kopeks: number, daysAgo: number) =>
      postMovement(t.app, {
        userId,
        type: 'deposit',
        amountKopeks: kopeks,
        paymentMethod: 'yookassa',
        description: 'test',
        externalId: `chart-${unique()}`,
        createdAt: addDays(today, -daysAgo),
        contra: { kind: 'provider_clearing', provider: 'yookassa' },
      });
    await deposit(users[0]!, 100, 0);
    await deposit(users[1]!, 400, 7);
    await deposit(users[2]!, 800, 29);
    await deposit(users[3]!, 3_000, 40);
    await pay(users[4]!, 60);
    const chart = await readCampaignChart(t.app, campaign.id);
    expect(chart.days.map((day) => day.date)).toEqual(
      Array.from({ length: 30 }, (_, index) =>
        addDays(today, index - 29)
          .toISOString()
          .slice(0, 10),
      ),
    );
    const day = (daysAgo: number) => chart.days.at(-1 - daysAgo);
    expect(day(0)).toMatchObject({ registrations: 2, depositsKopeks: 160 });
    expect(day(6)).toMatchObject({ registrations: 1, depositsKopeks: 0 });
    expect(day(7)).toMatchObject({ registrations: 1, depositsKopeks: 400 });
    expect(day(29)).toMatchObject({ registrations: 1, depositsKopeks: 800 });
    expect(chart).toMatchObject({
      depositsKopeks: 4_360,
      spentKopeks: 60,
      current: { days: 7, registrations: 3, depositsKopeks: 160 },
      previous: { days: 7, registrations: 1, depositsKopeks: 400 },
      registrationsChange: { absolute: 2, percent: 200, trend: 'up' },
      depositsChange: { absolute: -240, percent: -60, trend: 'down' },
    });
    expect(chart.top.map((registrant) => [registrant.id, registrant.kopeks])).toEqual([
      [users[3], 3_000],
      [users[2], 800],
      [users[1], 400],
      [users[4], 120],
      [users[0], 100],
    ]);
    expect(chart.top[0]).toMatchObject({ hasPaid: false, isActive: false, createdAt: addDays(today, -29) });
    await expectCounted(campaign.id);
  });

  test('who runs a subscription is active', async () => {
    const campaign = await aCampaign(t.app, { bonus_type: 'none' });
    const [runs, ended] = [await registrantOf(campaign.slug), await registrantOf(campaign.slug)];
    await aStoredSubscription(t.app, runs);
    await aStoredSubscription(t.app, ended, { end_date: addDays(t.clock.now(), -1) });
    const { top } = await readCampaignChart(t.app, campaign.id);
    expect(top.map((registrant) => [registrant.id, registrant.isActive])).toEqual([
      [ended, false],
      [runs, true],
    ]);
  });
});
