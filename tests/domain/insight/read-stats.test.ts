import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../src/core/clock.ts';
import type { Database } from '../../../src/core/db/database.ts';
import { readFullStats, readOverview } from '../../../src/domain/insight/read-stats.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { countTransactionsByDay } from '../../../src/domain/ledger/transactions.ts';
import type { Movement } from '../../../src/domain/ledger/types.ts';
import { aUser } from '../../support/builders.ts';
import { aStoredSubscription } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, TestClock, testApp } from '../../support/test-app.ts';
import { emptyDatabase } from '../../support/test-database.ts';

const NOW = new Date('2026-03-20T15:30:00Z');
const MIDNIGHT = new Date('2026-03-20T00:00:00Z');
const plus = (timestamp: Date, ms: number) => new Date(timestamp.getTime() + ms);

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

async function users(count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let index = 0; index < count; index++) ids.push((await aUser(t.app)).id);
  return ids;
}

/** A movement of a user, by default a top-up of now through a provider; kopeks. */
async function post(userId: number, amountKopeks: number, fields: Partial<Movement> = {}): Promise<number> {
  const posted = await postMovement(t.app, {
    userId,
    type: 'deposit',
    amountKopeks,
    contra: { kind: 'manual_adjustment' },
    paymentMethod: 'yookassa',
    description: null,
    ...fields,
  });
  if (posted.outcome !== 'posted') throw new Error(posted.outcome);
  return posted.transactionId;
}

/** Two rounds: one records the highest id, the next counts up to it. */
async function count(): Promise<void> {
  await countTransactionsByDay(t.app, -1);
  await countTransactionsByDay(t.app, -1);
}

test('an empty service has zeros and no keys', async () => {
  const stats = await readFullStats(t.app);
  expect(stats.overview).toEqual({
    users: { total: 0, active: 0, blocked: 0, balanceKopeks: 0 },
    subscriptions: { active: 0, expired: 0 },
    support: { openTickets: 0 },
    payments: { todayKopeks: 0 },
  });
  expect(stats.subscriptions).toMatchObject({ totalSubscriptions: 0, trialToPaidConversion: 0, renewalsCount: 0 });
  expect(stats.transactions).toMatchObject({
    period: { startDate: new Date('2020-01-01T00:00:00Z'), endDate: NOW },
    totals: { incomeKopeks: 0, expensesKopeks: 0, profitKopeks: 0, subscriptionIncomeKopeks: 0 },
    byType: {},
    byPaymentMethod: {},
  });
  expect(stats.referrals).toMatchObject({ usersWithReferrals: 0, activeReferrers: 0, topReferrers: [] });
});

// Each counter is given a wrong number, as no change of its source rows would: the answer shows it, so no source row was read.
test('spec 06 section 17, hazard 16: answers come from counters', async () => {
  const [userId] = (await users(1)) as [number];
  await aStoredSubscription(t.app, userId, { is_trial: true });
  await post(userId, 100, { createdAt: plus(NOW, -3 * DAY_MS) });
  await count();
  await sql('UPDATE transaction_day_counts SET total = 50, amount_kopeks = 7000');
  await sql('UPDATE transaction_count_mark SET wallet_kopeks = 8000');
  await sql('UPDATE user_counters SET users = 90');
  await sql("UPDATE user_day_counters SET users = 30, day = '2026-03-19'");
  await sql('UPDATE subscription_counters SET subscriptions = 60');
  await sql("UPDATE trial_day_counters SET trials = 20, day = '2026-03-19'");
  expect(await readFullStats(t.app)).toMatchObject({
    overview: { users: { total: 90, balanceKopeks: 8_000 } },
    users: { activeUsers: 90, newToday: 0, newWeek: 30 },
    subscriptions: { totalSubscriptions: 60, trialStatistics: { usedTrials: 60, activeTrials: 0, resettableTrials: 20 } },
    transactions: { totals: { incomeKopeks: 7_000 }, byType: { deposit: { count: 50, amount: 7_000 } } },
  });
});

describe('users', () => {
  test('by status: deleted ones are blocked in the full statistics only', async () => {
    const ids = await users(5);
    await sql("UPDATE users SET status = 'blocked' WHERE id = $1::int", [ids[0]]);
    await sql("UPDATE users SET status = 'deleted' WHERE id = $1::int", [ids[1]]);
    await post(ids[1]!, 700);
    await post(ids[2]!, 300);
    expect((await readOverview(t.app)).users).toEqual({ total: 5, active: 3, blocked: 1, balanceKopeks: 1000 });
    expect((await readFullStats(t.app)).users).toMatchObject({ totalUsers: 5, activeUsers: 3, blockedUsers: 2 });
  });

  test('new ones: since midnight UTC, and in 7 and 30 times 24 hours to the millisecond', async () => {
    const created = [
      MIDNIGHT,
      plus(MIDNIGHT, -1),
      plus(NOW, -7 * DAY_MS),
      plus(NOW, -7 * DAY_MS - 1),
      plus(NOW, -30 * DAY_MS),
      plus(NOW, -30 * DAY_MS - 1),
    ];
    const ids = await users(created.length + 1);
    for (const [index, timestamp] of created.entries())
      await sql('UPDATE users SET created_at = $2::timestamptz WHERE id = $1::int', [ids[index], timestamp]);
    await sql("UPDATE users SET status = 'blocked' WHERE id = $1::int", [ids.at(-1)]);
    expect((await readFullStats(t.app)).users).toMatchObject({ newToday: 1, newWeek: 3, newMonth: 5 });
  });

  test('the sum of balances counts internal movements and not what a provider was paid directly, before and after counting', async () => {
    const [first, second] = (await users(2)) as [number, number];
    await post(first, 5_000);
    await post(first, 40, { isInternal: true, paymentMethod: null });
    await post(first, -1_200, { type: 'subscription_payment', paymentMethod: 'balance' });
    await post(second, -9_900, { type: 'subscription_payment', paidThroughProvider: 'yookassa' });
    const balance = async () => (await readOverview(t.app)).users.balanceKopeks;
    expect(await balance()).toBe(3_840);
    await count();
    expect(await balance()).toBe(3_840);
    await post(second, 7);
    expect(await balance()).toBe(3_847);
  });
});

describe('subscriptions', () => {
  test('by stored status, whatever their end', async () => {
    const ids = await users(5);
    const ended = { end_date: plus(NOW, -DAY_MS) };
    await aStoredSubscription(t.app, ids[0]!, ended);
    await aStoredSubscription(t.app, ids[1]!, { is_trial: true });
    await aStoredSubscription(t.app, ids[2]!, { ...ended, status: 'expired' });
    await aStoredSubscription(t.app, ids[3]!, { status: 'disabled' });
    const stats = await readFullStats(t.app);
    expect(stats.overview.subscriptions).toEqual({ active: 2, expired: 1 });
    expect(stats.subscriptions).toMatchObject({
      totalSubscriptions: 4,
      activeSubscriptions: 2,
      trialSubscriptions: 1,
      paidSubscriptions: 1,
    });
  });

  test('the conversion is users who ever paid in percent of users with a subscription, to one decimal', async () => {
    const ids = await users(4);
    for (const id of ids.slice(0, 3)) await aStoredSubscription(t.app, id);
    await sql('UPDATE users SET has_had_paid_subscription = true WHERE id = ANY($1::int[])', [[ids[0], ids[3]]]);
    expect((await readFullStats(t.app)).subscriptions.trialToPaidConversion).toBe(66.7);
    await sql('UPDATE users SET has_had_paid_subscription = false WHERE id = $1::int', [ids[3]]);
    expect((await readFullStats(t.app)).subscriptions.trialToPaidConversion).toBe(33.3);
  });

  test('trials: used ones of any status, running ones, and ended ones of users who never paid', async () => {
    const trials: [status: string, end: Date, hasPaid: boolean][] = [
      // Running: today, tomorrow; the end itself is no longer running.
      ['trial', plus(NOW, 1), false],
      ['active', plus(NOW, 40 * HOUR_MS), true],
      ['trial', NOW, false],
      // Not running by their status.
      ['disabled', plus(NOW, DAY_MS), false],
      ['expired', plus(NOW, 1), false],
      // Ended: today, on another day, with a status that nobody has changed yet.
      ['expired', plus(MIDNIGHT, 1), false],
      ['expired', plus(MIDNIGHT, -1), false],
      ['active', plus(NOW, -20 * DAY_MS), false],
      ['expired', plus(NOW, -20 * DAY_MS), true],
      ['expired', plus(MIDNIGHT, 1), true],
    ];
    const ids = await users(trials.length + 1);
    for (const [index, [status, end_date, hasPaid]] of trials.entries()) {
      await aStoredSubscription(t.app, ids[index]!, { status, end_date, is_trial: true });
      if (hasPaid) await sql('UPDATE users SET has_had_paid_subscription = true WHERE id = $1::int', [ids[index]]);
    }
    await aStoredSubscription(t.app, ids.at(-1)!, { status: 'active', end_date: plus(NOW, -DAY_MS) });
    const read = async () => (await readFullStats(t.app)).subscriptions.trialStatistics;
    expect(await read()).toMatchObject({ usedTrials: 10, activeTrials: 2, resettableTrials: 4 });
    // A trial becomes a paid subscription, in one statement with its user as in a sale; another one is prolonged.
    await t.app.db.sql(
      `WITH buyer AS (UPDATE users SET has_had_paid_subscription = true WHERE id = $1::int RETURNING id)
       UPDATE subscriptions s SET is_trial = false, status = 'active' FROM buyer WHERE s.user_id = buyer.id RETURNING s.id`,
      [ids[6]],
    );
    await sql("UPDATE subscriptions SET end_date = $2::timestamptz, status = 'active' WHERE user_id = $1::int", [
      ids[9],
      plus(NOW, DAY_MS),
    ]);
    expect(await read()).toMatchObject({ usedTrials: 9, activeTrials: 3, resettableTrials: 3 });
    t.clock.set(plus(NOW, 2 * DAY_MS));
    expect(await read()).toMatchObject({ usedTrials: 9, activeTrials: 0, resettableTrials: 6 });
  });

  test('renewals are the changes from trial to paid of 30 times 24 hours', async () => {
    const [userId] = await users(1);
    for (const timestamp of [NOW, plus(NOW, -30 * DAY_MS), plus(NOW, -30 * DAY_MS - 1)])
      await storeRow(t.app, 'SubscriptionConversion', { userId, convertedAt: timestamp });
    expect((await readFullStats(t.app)).subscriptions.renewalsCount).toBe(2);
  });
});

test('open tickets are those with status open or answered', async () => {
  const [userId] = await users(1);
  for (const status of ['open', 'open', 'answered', 'pending', 'closed'] as const)
    await storeRow(t.app, 'Ticket', { userId: userId!, status, closedAt: status === 'closed' ? new Date() : null });
  expect((await readOverview(t.app)).support).toEqual({ openTickets: 3 });
});

describe('transactions', () => {
  /** @returns what must not depend on how far the job has counted */
  const read = async () => {
    const { transactions, subscriptions, overview } = await readFullStats(t.app);
    const { purchasedToday, purchasedWeek, purchasedMonth } = subscriptions;
    const { totals, today, byType, byPaymentMethod } = transactions;
    const purchased = [purchasedToday, purchasedWeek, purchasedMonth];
    return { totals, today, byType, byPaymentMethod, purchased, paidIn: overview.payments.todayKopeks };
  };

  /** The definitions of spec 06 section 4.2, row by row. */
  const recount = async () => {
    const real = `payment_method IN ('messenger_stars', 'tribute', 'yookassa', 'cryptobot', 'heleket', 'mulenpay', 'pal24', 'wata', 'platega',
      'cloudpayments', 'freekassa', 'kassa_ai', 'riopay', 'severpay')`;
    const completed = `FROM transactions WHERE is_completed AND NOT is_internal AND created_at >= '2020-01-01Z' AND created_at <= $1::timestamptz`;
    const one = async (value: string, condition = 'true') => {
      const text = `SELECT coalesce(${value}, 0)::bigint AS value ${completed} AND ${condition} AND $2::timestamptz IS NOT NULL`;
      return (await t.app.db.sql<{ value: number }>(text, [NOW, MIDNIGHT]))[0]!.value;
    };
    const groups = async (key: string, condition: string) =>
      Object.fromEntries(
        (
          await t.app.db.sql<{ key: string; count: number; amount: number }>(
            `SELECT ${key} AS key, count(*)::int AS count, sum(abs(amount_kopeks))::bigint AS amount ${completed} AND ${condition} GROUP BY 1`,
            [NOW],
          )
        ).map((row) => [row.key, { count: row.count, amount: row.amount }]),
      );
    const amount = 'sum(abs(amount_kopeks))';
    const paid = "type IN ('deposit', 'subscription_payment')";
    const purchases = "type = 'subscription_payment'";
    const incomeKopeks = await one(amount, `${paid} AND ${real}`);
    const expensesKopeks = await one(amount, "type = 'withdrawal'");
    const since = (days: number) => `created_at >= $2::timestamptz - interval '${days * 24} hours'`;
    return {
      totals: {
        incomeKopeks,
        expensesKopeks,
        profitKopeks: incomeKopeks - expensesKopeks,
        subscriptionIncomeKopeks: await one(amount, purchases),
      },
      today: {
        transactionsCount: await one('count(*)', since(0)),
        incomeKopeks: await one(amount, `${since(0)} AND ${paid} AND ${real}`),
        depositKopeks: await one(amount, `${since(0)} AND type = 'deposit' AND ${real}`),
      },
      byType: await groups('type', 'true'),
      byPaymentMethod: await groups("coalesce(payment_method, 'None')", paid),
      purchased: [
        await one('count(*)', `${since(0)} AND ${purchases}`),
        await one('count(*)', `${since(7)} AND ${purchases}`),
        await one('count(*)', `${since(30)} AND ${purchases}`),
      ],
      paidIn: await one(amount, `${since(0)} AND type = 'deposit' AND ${real}`),
    };
  };

  test('spec 10 X17: income is what providers were paid, once, and rows without a method are those of `None`', async () => {
    const [userId] = (await users(1)) as [number];
    await post(userId, 50_000);
    await post(userId, 1_000, { paymentMethod: 'manual' });
    await post(userId, 500, { paymentMethod: null });
    await post(userId, -30_000, { type: 'subscription_payment', paymentMethod: 'balance' });
    await post(userId, -20_000, { type: 'subscription_payment', paymentMethod: 'cryptobot', paidThroughProvider: 'cryptobot' });
    await post(userId, -15_000, { type: 'withdrawal', paymentMethod: 'manual' });
    await post(userId, 9, { isInternal: true });
    const expected = {
      totals: { incomeKopeks: 70_000, expensesKopeks: 15_000, profitKopeks: 55_000, subscriptionIncomeKopeks: 50_000 },
      today: { transactionsCount: 6, incomeKopeks: 70_000, depositKopeks: 50_000 },
      byType: {
        deposit: { count: 3, amount: 51_500 },
        subscription_payment: { count: 2, amount: 50_000 },
        withdrawal: { count: 1, amount: 15_000 },
      },
      byPaymentMethod: {
        yookassa: { count: 1, amount: 50_000 },
        manual: { count: 1, amount: 1_000 },
        None: { count: 1, amount: 500 },
        balance: { count: 1, amount: 30_000 },
        cryptobot: { count: 1, amount: 20_000 },
      },
      purchased: [2, 2, 2],
      paidIn: 50_000,
    };
    expect(await read()).toEqual(expected);
    await count();
    expect(await read()).toEqual(expected);
  });

  test('equal a recount at every edge of a day, however far the job has counted', async () => {
    const [userId] = (await users(1)) as [number];
    await post(userId, 10_000_000, { createdAt: new Date('2019-12-31T23:59:59.999Z') });
    const timestamps = [
      new Date('2020-01-01T00:00:00Z'),
      ...[0, 7, 30].flatMap((days) => [plus(MIDNIGHT, -days * DAY_MS), plus(MIDNIGHT, -days * DAY_MS - 1)]),
      NOW,
      plus(NOW, 1),
      plus(MIDNIGHT, DAY_MS - 1),
      plus(MIDNIGHT, DAY_MS),
    ];
    const ids: number[] = [];
    for (const [index, createdAt] of timestamps.entries()) {
      ids.push(await post(userId, 1_000 + index, { createdAt, paymentMethod: index % 3 === 0 ? 'manual' : 'heleket' }));
      ids.push(await post(userId, -100 - index, { createdAt, type: 'subscription_payment', paymentMethod: 'balance' }));
    }
    expect(await read()).toEqual(await recount());
    await count();
    expect(await read()).toEqual(await recount());
    // Rows after the mark beside counted ones that change their group.
    await post(userId, 77);
    await post(userId, -55, { type: 'withdrawal', paymentMethod: null, createdAt: plus(NOW, -DAY_MS) });
    await sql('UPDATE transactions SET is_completed = false WHERE id = ANY($1::int[])', [[ids[0], ids[5], ids[14]]]);
    await sql('UPDATE transactions SET created_at = $2::timestamptz WHERE id = $1::int', [ids[3], plus(NOW, -1)]);
    expect(await read()).toEqual(await recount());
    expect((await read()).today.transactionsCount).toBeGreaterThan(3);
  });
});

describe('referrals', () => {
  async function earn(userId: number, referralId: number, kopeks: number, at: Date): Promise<void> {
    const source = await post(referralId, 1, { paymentMethod: null });
    await storeRow(t.app, 'ReferralEarning', {
      userId,
      referralId,
      amountKopeks: kopeks,
      reason: 'referral_commission',
      referralTransactionId: source,
      createdAt: at,
    });
  }

  test('sums by period, and the five first by reward, referrals and id', async () => {
    const ids = await users(8);
    const [a, b, c, d, e, f, g, h] = ids as [number, number, number, number, number, number, number, number];
    const refer = (referral: number, referrer: number) =>
      sql('UPDATE users SET referred_by_id = $2::int WHERE id = $1::int', [referral, referrer]);
    await refer(b, a);
    await refer(c, a);
    await refer(d, b);
    await refer(e, c);
    await refer(g, f);
    await refer(h, e);
    await earn(a, b, 500, NOW);
    await earn(b, d, 500, plus(MIDNIGHT, -1));
    await earn(c, e, 900, plus(NOW, -7 * DAY_MS - 1));
    await earn(d, h, 30, plus(NOW, -30 * DAY_MS - 1));
    await earn(e, h, 500, plus(NOW, -7 * DAY_MS));
    await sql("UPDATE users SET first_name = 'Ann', last_name = 'Lee' WHERE id = $1::int", [c]);
    await sql("UPDATE users SET first_name = NULL, last_name = 'Lee', username = 'ann' WHERE id = $1::int", [a]);
    await sql('UPDATE users SET first_name = NULL, username = NULL, messenger_id = 77 WHERE id = $1::int', [b]);
    await sql(
      "UPDATE users SET first_name = NULL, username = NULL, messenger_id = NULL, email = 'e@example.com', auth_type = 'email' WHERE id = $1::int",
      [e],
    );
    await sql('UPDATE users SET first_name = NULL, username = NULL, messenger_id = NULL WHERE id = $1::int', [d]);
    const { topReferrers, ...sums } = (await readFullStats(t.app)).referrals;
    expect(sums).toEqual({
      usersWithReferrals: 6,
      activeReferrers: 5,
      totalPaidKopeks: 2_430,
      todayEarningsKopeks: 500,
      weekEarningsKopeks: 1_500,
      monthEarningsKopeks: 2_400,
    });
    const shown = topReferrers.map((one) => [one.userId, one.displayName, one.totalEarnedKopeks, one.referralsCount]);
    expect(shown).toEqual([
      [c, 'Ann Lee', 900, 1],
      [a, '@ann', 500, 2],
      [b, 'ID77', 500, 1],
      [e, 'e@example.com', 500, 1],
      [d, `#${d}`, 30, 0],
    ]);
    expect(topReferrers[4]).toMatchObject({ username: null, messengerId: null });
    expect(f).toBeGreaterThan(d);
  });
});
