import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '../../../src/core/clock.ts';
import type { Database } from '../../../src/core/db/database.ts';
import {
  readAddonStats,
  readSalesSummary,
  readSubscriptionSales,
  readTrialStats,
} from '../../../src/domain/insight/sales/sales.ts';
import { aUser } from '../../support/builders.ts';
import { aStoredSubscription, aTariff } from '../../support/sale-samples.ts';
import { between, countEverything, lastDays, type Product, payAt, postAt } from '../../support/statistics-setup.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, TestClock, testApp } from '../../support/test-app.ts';
import { emptyDatabase } from '../../support/test-database.ts';

let t: TestApp;
let database: Database;
beforeEach(async () => {
  const clock = new TestClock();
  clock.set(new Date('2026-11-20T15:30:00Z'));
  t = await testApp({ clock });
  database = t.database;
});
afterEach(() => emptyDatabase(database));

const sql = (text: string, values: unknown[] = []) => t.app.db.sql(`${text} RETURNING 1 AS done`, values);
const pay = (userId: number, at: string | Date, kopeks: number, product: Product = 'tariff') =>
  payAt(t.app, userId, at, kopeks, product);

describe('spec 06 section 4.5: trials and subscriptions', () => {
  const DAY_1 = new Date('2026-11-01T10:00:00Z');
  const DAY_2 = new Date('2026-11-02T10:00:00Z');

  async function user(createdAt: Date, columns = ''): Promise<number> {
    const { id } = await aUser(t.app);
    await sql(`UPDATE users SET created_at = $1::timestamptz${columns && `, ${columns}`} WHERE id = $2::int`, [createdAt, id]);
    return id;
  }

  test('trials by provider: the first of the linked ways, then e-mail, else messenger, and linking later moves the trial', async () => {
    const trial = (id: number, created_at: Date) => aStoredSubscription(t.app, id, { is_trial: true, created_at });
    await trial(await user(DAY_1, "vk_id = 1, google_id = 'g'"), DAY_1);
    await trial(await user(DAY_1, "auth_type = 'email'"), DAY_2);
    const last = await user(DAY_1);
    await trial(last, DAY_2);
    const bought = await user(DAY_2);
    await aStoredSubscription(t.app, bought, { created_at: DAY_2 });
    const providers = async () =>
      (await readTrialStats(t.app, lastDays(30))).byProvider.map(({ provider, count: n }) => [provider, n]);
    expect(await providers()).toEqual([
      ['vk', 1],
      ['email', 1],
      ['messenger', 1],
    ]);
    await sql("UPDATE users SET google_id = 'later' WHERE id = $1::int", [last]);
    expect(await providers()).toEqual([
      ['vk', 1],
      ['google', 1],
      ['email', 1],
    ]);
    const stats = await readTrialStats(t.app, lastDays(30));
    expect(stats).toMatchObject({ totalTrials: 3, totalRegistrations: 4, conversionRate: 0, avgTrialDurationDays: 0 });
    expect(stats.daily).toEqual([
      { date: '2026-11-01', registrations: 3, trials: 1 },
      { date: '2026-11-02', registrations: 1, trials: 2 },
    ]);
    expect((await readTrialStats(t.app, between('2026-11-02T10:00:00Z', '2026-11-02'))).totalTrials).toBe(2);
    expect((await readTrialStats(t.app, between('2026-11-02T10:00:01Z', '2026-11-02'))).totalTrials).toBe(0);
  });

  test('conversion: the larger of conversions and paid registrations, in percent of it and new trials, with the mean duration of timed ones', async () => {
    const paid = await user(DAY_1, 'has_had_paid_subscription = true');
    await aStoredSubscription(t.app, await user(DAY_1), { is_trial: true, created_at: DAY_1 });
    const rate = async () => (await readSalesSummary(t.app, lastDays(30))).trialToPaidConversion;
    expect(await rate()).toBe(50);
    const convert = (days: number | null) =>
      storeRow(t.app, 'SubscriptionConversion', { userId: paid, convertedAt: DAY_2, trialDurationDays: days });
    await convert(3);
    await convert(4);
    await convert(null);
    expect(await rate()).toBe(75);
    expect((await readTrialStats(t.app, lastDays(30))).avgTrialDurationDays).toBe(3.5);
  });

  test('subscriptions that began in the period: by tariff, by days rounded to the nearest, by day and name', async () => {
    const [fast, slow] = [await aTariff(t.app, { name: 'Fast' }), await aTariff(t.app, { name: 'Slow' })];
    const sell = async (tariff_id: number | null, created_at: Date, days: number) =>
      aStoredSubscription(t.app, await user(DAY_1), {
        tariff_id,
        created_at,
        start_date: created_at,
        end_date: new Date(created_at.getTime() + days * DAY_MS),
      });
    await sell(fast, DAY_1, 30);
    await sell(slow, DAY_1, 29.5);
    await sell(slow, DAY_2, 90.4);
    const bare = await sell(null, DAY_2, 7);
    await aStoredSubscription(t.app, await user(DAY_1), { is_trial: true, created_at: DAY_1 });
    const payer = await user(DAY_1);
    await pay(payer, DAY_1, 1_001);
    await pay(payer, DAY_2, 1_000);
    expect(await readSubscriptionSales(t.app, lastDays(30))).toEqual({
      totalSales: 4,
      totalRevenueKopeks: 2_001,
      avgOrderKopeks: 500,
      topTariffName: 'Slow',
      byTariff: [
        { tariffId: slow, tariffName: 'Slow', count: 2 },
        { tariffId: fast, tariffName: 'Fast', count: 1 },
        { tariffId: 0, tariffName: 'Unknown', count: 1 },
      ],
      byPeriod: [
        { periodDays: 7, count: 1 },
        { periodDays: 30, count: 2 },
        { periodDays: 90, count: 1 },
      ],
      daily: [
        { date: '2026-11-01', count: 1, revenueKopeks: 1_001 },
        { date: '2026-11-02', count: 1, revenueKopeks: 1_000 },
      ],
      dailyByTariff: [
        { date: '2026-11-01', tariffName: 'Fast', count: 1 },
        { date: '2026-11-01', tariffName: 'Slow', count: 1 },
        { date: '2026-11-02', tariffName: 'Slow', count: 1 },
        { date: '2026-11-02', tariffName: 'Unknown', count: 1 },
      ],
    });
    // A renewal moves the subscription to another length, a deleted tariff to none.
    await sql("UPDATE subscriptions SET end_date = end_date + interval '30 days' WHERE id = $1::int", [bare]);
    await sql('DELETE FROM tariffs WHERE id = $1::int', [slow]);
    const after = await readSubscriptionSales(t.app, lastDays(30));
    expect(after.byPeriod.map((row) => row.periodDays)).toEqual([30, 37, 90]);
    expect(after.byTariff).toEqual([
      { tariffId: 0, tariffName: 'Unknown', count: 3 },
      { tariffId: fast, tariffName: 'Fast', count: 1 },
    ]);
  });

  test('traffic packages of the period, and devices by the account of the ledger, not by the text of the payment', async () => {
    const owner = await user(DAY_1);
    const subscription = await aStoredSubscription(t.app, owner);
    for (const [gb, at] of [
      [5, DAY_1],
      [5, DAY_2],
      [50, DAY_2],
    ] as const) {
      await storeRow(t.app, 'TrafficPurchase', { subscriptionId: subscription, trafficGb: gb, expiresAt: at, createdAt: at });
    }
    await pay(owner, DAY_1, 300, 'devices');
    await pay(owner, DAY_1, 500, 'traffic');
    await postAt(t.app, owner, DAY_2, -900, {
      type: 'subscription_payment',
      description: 'traffic devices трафик устройств',
      contra: { kind: 'sales_revenue', product: 'tariff' },
      paidThroughProvider: 'yookassa',
    });
    expect(await readAddonStats(t.app, lastDays(30))).toEqual({
      totalPurchases: 3,
      totalGbPurchased: 60,
      addonRevenueKopeks: 500,
      devicePurchases: 1,
      deviceRevenueKopeks: 300,
      byPackage: [
        { trafficGb: 5, count: 2 },
        { trafficGb: 50, count: 1 },
      ],
      daily: [
        { date: '2026-11-01', count: 1, totalGb: 5 },
        { date: '2026-11-02', count: 2, totalGb: 55 },
      ],
      dailyDevices: [{ date: '2026-11-01', count: 1 }],
    });
  });
});

test('spec 06 section 17, hazard 16: answers come from counters', async () => {
  const user = await aUser(t.app);
  await pay(user.id, '2026-11-10T12:00:00Z', 100);
  await aStoredSubscription(t.app, user.id, { created_at: new Date('2026-11-10') });
  await countEverything(t.app);
  // Wrong numbers, as no change of the source rows would give: the answers show them.
  await sql('UPDATE sales_days SET payments = 50, amount_kopeks = 7000');
  await sql("UPDATE statistics_days SET total = 30 WHERE kind = 'sold'");
  expect(await readSubscriptionSales(t.app, lastDays(30))).toMatchObject({ totalSales: 30, totalRevenueKopeks: 7000 });
  expect(await readSalesSummary(t.app, lastDays(30))).toMatchObject({ totalRevenueKopeks: 7000 });
  await t.app.db.sql("SELECT recount_statistics('UTC')::text AS done");
});
