import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/core/clock.ts';
import type { Database } from '../../../src/core/db/database.ts';
import { readDashboard } from '../../../src/domain/insight/admin/dashboard.ts';
import { readFullStats, readOverview } from '../../../src/domain/insight/read-stats.ts';
import type { PeriodRequest } from '../../../src/domain/insight/sales/period.ts';
import {
  countSales,
  readAddonStats,
  readDepositStats,
  readRenewalStats,
  readSalesSummary,
  readSubscriptionSales,
  readTrialStats,
} from '../../../src/domain/insight/sales/sales.ts';
import type { Movement } from '../../../src/domain/ledger/types.ts';
import { UNCOUNTED_ROWS } from '../../../src/domain/ledger/types.ts';
import { methodDefaults } from '../../../src/domain/payments/payment-methods.ts';
import { aUser } from '../../support/builders.ts';
import { between, countEverything, EVERYTHING, lastDays, type Product, payAt, postAt } from '../../support/statistics-setup.ts';
import { type TestApp, TestClock, testApp } from '../../support/test-app.ts';
import { emptyDatabase } from '../../support/test-database.ts';

const NOW = new Date('2026-11-20T15:30:00Z');
let t: TestApp;
let database: Database;
beforeEach(async () => {
  const clock = new TestClock();
  clock.set(NOW);
  t = await testApp({ clock });
  database = t.database;
});
afterEach(() => emptyDatabase(database));

const sql = (text: string, values: unknown[] = []) => t.app.db.sql(`${text} RETURNING 1 AS done`, values);

const post = (userId: number, at: string | Date, kopeks: number, fields: Partial<Movement> = {}) =>
  postAt(t.app, userId, at, kopeks, fields);
const pay = (userId: number, at: string | Date, kopeks: number, product: Product = 'tariff') =>
  payAt(t.app, userId, at, kopeks, product);
const count = () => countEverything(t.app);

/** Statistics in the days of a zone. */
async function useZone(zone: string): Promise<void> {
  t = await testApp({ clock: t.clock, environment: { TIMEZONE: zone } });
  await count();
}

/** Numbers that are the same in every run (Mulberry32). */
function seededRandom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

const isReal = (method: string) => methodDefaults(method) !== null;

interface Payment {
  userId: number;
  type: string;
  method: string;
  product: string;
  kopeks: number;
  at: Date;
  day: string;
}

/** Every completed visible payment as the ledger has it: the amount of the entry on the other side, and the account that names what was sold. */
function readPayments(zone: string): Promise<Payment[]> {
  return t.app.db.sql<Payment>(
    `SELECT t.user_id, t.type, coalesce(t.payment_method, '') AS method,
       CASE WHEN a.kind = 'sales_revenue' THEN split_part(a.key, ':', 2) ELSE '' END AS product, abs(e.kopeks)::bigint AS kopeks,
       t.created_at AS at, to_char(t.created_at AT TIME ZONE $1, 'YYYY-MM-DD') AS day
     FROM transactions t JOIN ledger_entries e ON e.transaction_id = t.id
     JOIN ledger_accounts a ON a.id = e.account_id
     WHERE t.type IN ('deposit', 'subscription_payment') AND t.is_completed AND NOT t.is_internal
       AND e.id = (SELECT max(x.id) FROM ledger_entries x WHERE x.transaction_id = t.id)`,
    [zone],
  );
}

const kopeks = (rows: readonly Payment[]) => rows.reduce((total, row) => total + row.kopeks, 0);
const byDay = (rows: readonly Payment[]) =>
  [...new Set(rows.map((row) => row.day))].sort().map((date) => {
    const ofDay = rows.filter((row) => row.day === date);
    return { date, count: ofDay.length, kopeks: kopeks(ofDay) };
  });

/** What the specification defines, computed from single rows. */
function expected(all: readonly Payment[], from: Date, to: Date, isEverything: boolean) {
  const inside = (row: Payment, a: Date, b: Date) => row.at >= a && row.at <= b;
  const payments = all.filter((row) => row.type === 'subscription_payment');
  const renewals = (a: Date, b: Date) => {
    const old = new Set(payments.filter((row) => row.at < a).map((row) => row.userId));
    return payments.filter((row) => inside(row, a, b) && old.has(row.userId));
  };
  const repeated = payments.filter((row) => payments.filter((other) => other.userId === row.userId).length > 1);
  const current = isEverything ? repeated.filter((row) => inside(row, from, to)) : renewals(from, to);
  const lengthMs = to.getTime() + 1 - from.getTime();
  const previous = isEverything ? [] : renewals(new Date(from.getTime() - lengthMs), new Date(from.getTime() - 1));
  const real = all.filter((row) => inside(row, from, to) && isReal(row.method));
  const manual = all.filter((row) => inside(row, from, to) && row.method === 'manual');
  const sold = payments.filter((row) => inside(row, from, to));
  const manualDeposits = manual.filter((row) => row.type === 'deposit');
  return {
    revenue: kopeks([...real, ...manualDeposits]),
    manual: kopeks(manualDeposits),
    traffic: kopeks(sold.filter((row) => row.product === 'traffic')),
    devices: byDay(sold.filter((row) => row.product === 'devices')),
    sold: byDay(sold),
    current: { count: current.length, revenueKopeks: kopeks(current) },
    previous: { count: previous.length, revenueKopeks: kopeks(previous) },
    renewalDays: byDay(current),
    deposits: byDay([...real, ...manual]),
  };
}

async function compare(request: PeriodRequest, from: Date, to: Date, zone: string, isEverything = false): Promise<void> {
  const shall = expected(await readPayments(zone), from, to, isEverything);
  const [summary, sales, renewals, addons, deposits] = await Promise.all([
    readSalesSummary(t.app, request),
    readSubscriptionSales(t.app, request),
    readRenewalStats(t.app, request),
    readAddonStats(t.app, request),
    readDepositStats(t.app, request),
  ]);
  const sum = (days: { count: number; kopeks: number }[]) => days.reduce((total, day) => total + day.kopeks, 0);
  const is = {
    revenue: summary.totalRevenueKopeks,
    manual: summary.manualTopupKopeks,
    traffic: summary.addonRevenueKopeks,
    devices: addons.dailyDevices,
    sold: sales.daily.map(({ date, count, revenueKopeks }) => ({ date, count, kopeks: revenueKopeks })),
    current: renewals.currentPeriod,
    previous: renewals.previousPeriod,
    renewalDays: renewals.daily,
    deposits: deposits.daily.map(({ date, count, amountKopeks }) => ({ date, count, kopeks: amountKopeks })),
  };
  const plain = (days: { date: string; count: number }[]) => days.map(({ date, count }) => ({ date, count }));
  expect({ request, zone, is }).toEqual({
    request,
    zone,
    is: { ...shall, devices: plain(shall.devices), renewalDays: plain(shall.renewalDays) },
  });
  expect(sales.totalRevenueKopeks).toBe(sum(shall.sold));
  expect(addons.addonRevenueKopeks).toBe(shall.traffic);
  expect(addons.deviceRevenueKopeks).toBe(sum(shall.devices));
  expect(deposits.totalAmountKopeks).toBe(sum(shall.deposits));
  expect(summary.renewalsCount).toBe(shall.current.count);
}

/** The dashboard and `/stats/full`, whose sums are until now. */
async function compareTotals(zone: string): Promise<void> {
  const all = (await readPayments(zone)).filter((row) => row.at <= NOW);
  const income = all.filter((row) => isReal(row.method));
  const [dashboard, stats] = await Promise.all([readDashboard(t.app), readFullStats(t.app)]);
  const [today, chartFrom] = [NOW.toISOString().slice(0, 10), new Date(NOW.getTime() - 30 * DAY_MS)];
  const [local] = await t.app.db.sql<{ day: string }>("SELECT to_char($1::timestamptz AT TIME ZONE $2, 'YYYY-MM-DD') AS day", [
    NOW,
    zone,
  ]);
  expect(dashboard.financial).toEqual({
    incomeTodayKopeks: kopeks(income.filter((row) => row.day === local!.day)),
    incomeMonthKopeks: kopeks(income.filter((row) => row.day >= `${local!.day.slice(0, 7)}-01`)),
    incomeTotalKopeks: kopeks(income),
    subscriptionIncomeKopeks: kopeks(all.filter((row) => row.type === 'subscription_payment')),
  });
  const chart = byDay(income.filter((row) => row.at >= chartFrom));
  expect(dashboard.revenueChart).toEqual(chart.map((day) => ({ date: day.date, amountKopeks: day.kopeks })));
  expect(stats.transactions.totals).toMatchObject({
    incomeKopeks: kopeks(income),
    subscriptionIncomeKopeks: kopeks(all.filter((row) => row.type === 'subscription_payment')),
  });
  // Days of /stats are those of UTC.
  const sinceMidnight = income.filter((row) => row.at.toISOString().slice(0, 10) === today);
  expect(stats.transactions.today.incomeKopeks).toBe(kopeks(sinceMidnight));
}

describe('spec 06 section 4.5: every sum of money equals the ledger, whatever is counted', () => {
  test.each(['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'America/Havana'])('%s', async (zone) => {
    await useZone(zone);
    const random = seededRandom(zone.length);
    const users: number[] = [];
    for (let index = 0; index < 12; index++) users.push((await aUser(t.app)).id);
    const timestamp = () => new Date(NOW.getTime() - random(60 * 24 * 60) * MINUTE_MS + (random(8) === 0 ? 2 * HOUR_MS : 0));
    const products: Product[] = ['tariff', 'traffic', 'devices', 'servers'];
    for (let step = 0; step < 150; step++) {
      const user = users[random(users.length)]!;
      switch (random(9)) {
        case 0:
          await post(user, timestamp(), 1 + random(9000), {
            paymentMethod: ['manual', 'yookassa', 'cryptobot', null][random(4)]!,
          });
          break;
        case 1:
          await sql(
            `UPDATE transactions SET ${['is_completed = NOT is_completed', 'is_internal = NOT is_internal'][random(2)]}
             WHERE id = (SELECT id FROM transactions ORDER BY md5(id::text || $1) LIMIT 1)`,
            [String(step)],
          );
          break;
        case 2:
          await sql('UPDATE transactions SET created_at = $1::timestamptz WHERE id = (SELECT max(id) FROM transactions)', [
            timestamp(),
          ]);
          break;
        default:
          await pay(user, timestamp(), 1 + random(9000), products[random(4)]!);
      }
      if (random(25) === 0) await count();
    }
    for (let index = 0; index < 12; index++) {
      // Also periods that begin and end within a day, and the days on which clocks are changed.
      const from = index % 3 === 0 ? new Date('2026-10-25T00:00:00Z') : timestamp();
      const to = new Date(from.getTime() + (1 + random(25)) * DAY_MS);
      const [last] = await t.app.db.sql<{ end: Date }>(
        `SELECT (date_trunc('day', $1::timestamptz AT TIME ZONE 'UTC') + interval '1 day') AT TIME ZONE 'UTC' AS end`,
        [to],
      );
      await compare(between(from.toISOString(), to.toISOString()), from, new Date(last!.end.getTime() - 1), zone);
      if (index === 6) await count();
    }
    await compare(EVERYTHING, new Date('2020-01-01'), NOW, zone, true);
    await compareTotals(zone);
    await count();
    await compare(EVERYTHING, new Date('2020-01-01'), NOW, zone, true);
    await compareTotals(zone);
  });
});

test('spec 10 D2: a request reads a bounded number of uncounted transactions, and the statistics grow when the job has counted', async () => {
  const user = await aUser(t.app);
  await pay(user.id, '2026-11-01T10:00:00Z', 700);
  await count();
  const sums = async () => [
    (await readDepositStats(t.app, EVERYTHING)).totalAmountKopeks,
    (await readSubscriptionSales(t.app, EVERYTHING)).daily.reduce((sum, { revenueKopeks }) => sum + revenueKopeks, 0),
  ];
  expect(await sums()).toEqual([700, 700]);
  // As far above the mark as after an import of many.
  await t.app.db.sql("SELECT setval('transactions_id_seq', (SELECT max(id) FROM transactions) + $1::int)", [UNCOUNTED_ROWS]);
  const since = async () => (await readOverview(t.app)).payments.uncountedSince;
  expect(await since()).toBeUndefined();
  await pay(user.id, '2026-11-01T11:00:00Z', 50);
  expect(await sums()).toEqual([700, 700]);
  expect(await since()).toEqual(new Date('2026-11-01T11:00:00Z'));
  await count();
  expect(await sums()).toEqual([750, 750]);
  expect(await since()).toBeUndefined();
});

describe('spec 06 section 4.5: days of the time zone of the service', () => {
  test('a day of 23 hours and one of 25 hours', async () => {
    await useZone('Europe/Berlin');
    const [user] = [await aUser(t.app)];
    // The first and the last minute of the 29 March 2026 (23 hours), and of the 25 October 2026 (25 hours), and the minutes around them.
    const timestamps = ['2026-03-28T22:59', '2026-03-28T23:00', '2026-03-29T21:59', '2026-03-29T22:00'];
    timestamps.push('2026-10-24T21:59', '2026-10-24T22:00', '2026-10-25T22:59', '2026-10-25T23:00');
    for (const [index, timestamp] of timestamps.entries()) await pay(user!.id, `${timestamp}:30Z`, 10 ** index);
    for (let round = 0; round < 2; round++) {
      expect((await readSubscriptionSales(t.app, between('2026-03-29', '2026-03-29'))).daily).toEqual([
        { date: '2026-03-29', count: 2, revenueKopeks: 110 },
      ]);
      expect((await readSubscriptionSales(t.app, between('2026-10-25', '2026-10-25'))).daily).toEqual([
        { date: '2026-10-25', count: 2, revenueKopeks: 1_100_000 },
      ]);
      const { daily } = await readDepositStats(t.app, EVERYTHING);
      expect(daily.map((day) => [day.date, day.amountKopeks])).toEqual([
        ['2026-03-28', 1],
        ['2026-03-29', 110],
        ['2026-03-30', 1_000],
        ['2026-10-24', 10_000],
        ['2026-10-25', 1_100_000],
        ['2026-10-26', 10_000_000],
      ]);
      await count();
    }
  });

  test('a change of the zone counts everything again, and what is counted by triggers follows', async () => {
    const user = await aUser(t.app);
    await sql("UPDATE users SET created_at = '2026-11-10T20:30:00Z' WHERE id = $1::int", [user.id]);
    await pay(user.id, '2026-11-10T20:30:00Z', 700);
    const days = async () => [
      (await readDepositStats(t.app, lastDays(30))).daily.map((day) => day.date),
      (await readTrialStats(t.app, lastDays(30))).daily.map((day) => day.date),
    ];
    await count();
    expect(await days()).toEqual([['2026-11-10'], ['2026-11-10']]);
    await useZone('Asia/Yekaterinburg');
    expect(await days()).toEqual([['2026-11-11'], ['2026-11-11']]);
    expect((await readDepositStats(t.app, lastDays(30))).totalAmountKopeks).toBe(700);
  });

  test('a zone that the database does not know changes nothing', async () => {
    await count();
    const [before] = await t.app.db.sql('SELECT statistics_zone() AS zone');
    const app = { ...t.app, settings: { ...t.app.settings, get: () => 'Nowhere/Town' } } as unknown as typeof t.app;
    await countSales(app);
    expect((await t.app.db.sql('SELECT statistics_zone() AS zone'))[0]).toEqual(before);
  });
});
