import { beforeAll, describe, expect, test } from 'vitest';
import { runOutsideTransaction } from '../../src/core/db/root-guard.ts';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { expireSubscriptions } from '../../src/domain/subscriptions/expire-subscriptions.ts';
import { purchaseTariff } from '../../src/domain/subscriptions/purchase-tariff.ts';
import { readSubscription } from '../../src/domain/subscriptions/read-subscription.ts';
import { renewSubscription } from '../../src/domain/subscriptions/renew-subscription.ts';
import { extendByDays } from '../../src/domain/subscriptions/web-subscriptions.ts';
import { settled } from '../support/parallel.ts';
import { aBuyer, anOffer, aStoredSubscription, aTariff, rowOf } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
});

const DAY = 86_400_000;
const TOKEN = { kind: 'token', tokenId: 1, name: 'race' } as const;

const countsOf = (userId: number) =>
  rowOf<{ payments: number; pushes: number; events: number; balance: number }>(
    t.app,
    `SELECT u.balance_kopeks AS balance,
       (SELECT count(*)::int FROM transactions x WHERE x.user_id = u.id AND x.type = 'subscription_payment') AS payments,
       (SELECT count(*)::int FROM subscription_events e WHERE e.user_id = u.id) AS events,
       (SELECT count(*)::int FROM jobs.job j JOIN subscriptions s ON s.user_id = u.id
         WHERE j.name = 'provisioning.push' AND j.data ->> 'subscriptionId' = s.id::text) AS pushes
     FROM users u WHERE u.id = $1::int`,
    [userId],
  );

describe('purchases at once', () => {
  test('with money for one: one is sold, nineteen are refused for insufficient funds', async () => {
    const tariffId = await aTariff(t.app);
    const buyer = await aBuyer(t.app, 30_000);
    const results = await settled(20, () =>
      purchaseTariff(t.app, buyer, { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: null }),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    const refusals = results.filter((result) => result.status === 'rejected').map((result) => result.reason);
    expect(refusals.map((refusal) => refusal.detail.code)).toEqual(Array(19).fill('insufficient_funds'));
    expect(await countsOf(buyer.userId)).toEqual({ balance: 0, payments: 1, events: 1, pushes: 1 });
    expect((await readSubscription(t.app, buyer))!.daysLeft).toBe(30);
    expect(await checkLedger(t.app)).toEqual([]);
  });

  test('200 with one key: one effect, 200 equal answers', async () => {
    const tariffId = await aTariff(t.app);
    const buyer = await aBuyer(t.app, 90_000);
    const order = { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: 'two hundred' };
    const results = await settled(200, () => purchaseTariff(t.app, buyer, order));
    const answers = results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason)));
    expect(answers[0]).toMatchObject({ success: true, balanceKopeks: 60_000 });
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await countsOf(buyer.userId)).toEqual({ balance: 60_000, payments: 1, events: 1, pushes: 1 });
  });

  test('one personal offer discounts one of them', async () => {
    const tariffId = await aTariff(t.app);
    const buyer = await aBuyer(t.app, 300_000);
    await anOffer(t.app, buyer.userId, 50);
    const results = await settled(5, () =>
      purchaseTariff(t.app, buyer, { tariffId, periodDays: 30, trafficGb: null, idempotencyKey: null }),
    );
    const charged = results
      .map((result) => (result.status === 'fulfilled' ? result.value.chargedAmount : -1))
      .sort((a, b) => a - b);
    expect(charged).toEqual([15_000, 30_000, 30_000, 30_000, 30_000]);
    expect(await countsOf(buyer.userId)).toMatchObject({ balance: 300_000 - 135_000, payments: 5 });
    expect((await readSubscription(t.app, buyer))!.daysLeft).toBe(150);
  });
});

describe('different writers of one subscription', () => {
  test('renewals and extensions at once lose no day', async () => {
    const tariffId = await aTariff(t.app);
    const buyer = await aBuyer(t.app, 300_000);
    const id = await aStoredSubscription(t.app, buyer.userId, { tariff_id: tariffId });
    const results = await settled(20, (index) =>
      index % 2 === 0
        ? renewSubscription(t.app, buyer, { periodDays: 30, idempotencyKey: null })
        : extendByDays(t.app, TOKEN, id, 1).then(() => ({})),
    );
    expect(results.filter((result) => result.status === 'rejected')).toEqual([]);
    expect((await readSubscription(t.app, buyer))!.daysLeft).toBe(10 + 10 * 30 + 10);
    expect(await countsOf(buyer.userId)).toMatchObject({ balance: 0, payments: 10 });
    const { version } = await rowOf<{ version: number }>(
      t.app,
      'SELECT provision_version AS version FROM subscriptions WHERE id = $1::int',
      [id],
    );
    expect(version).toBe(20);
  });

  test('a sale reads what another transaction committed while it waited for the row', async () => {
    const tariffId = await aTariff(t.app);
    const buyer = await aBuyer(t.app, 30_000);
    const id = await aStoredSubscription(t.app, buyer.userId, { tariff_id: tariffId });
    let renewal: Promise<unknown> = Promise.resolve();
    await inTransaction(t.app, async (other) => {
      await other.db.sql(
        `UPDATE subscriptions SET end_date = end_date + interval '5 days', device_limit = 1 WHERE id = $1::int RETURNING id`,
        [id],
      );
      renewal = new Promise((resolve, reject) => {
        runOutsideTransaction(() => renewSubscription(t.app, buyer, { periodDays: 30, idempotencyKey: null })).then(
          resolve,
          reject,
        );
      });
      await waitForLock();
    });
    await renewal;
    expect((await readSubscription(t.app, buyer))!.daysLeft).toBe(45);
  });

  test('expiry skips a row that a sale has locked, and finds it renewed afterwards', async () => {
    const tariffId = await aTariff(t.app);
    const buyer = await aBuyer(t.app, 30_000);
    const end = new Date(t.clock.now().getTime() - DAY);
    await aStoredSubscription(t.app, buyer.userId, { tariff_id: tariffId, end_date: end });
    await Promise.all([
      renewSubscription(t.app, buyer, { periodDays: 30, idempotencyKey: null }),
      ...Array.from({ length: 5 }, () => expireSubscriptions(t.app)),
    ]);
    expect(await expireSubscriptions(t.app)).toBe(0);
    expect(await readSubscription(t.app, buyer)).toMatchObject({ status: 'active', daysLeft: 30 });
  });
});

/** Resolves when a session of this database waits for a row. */
async function waitForLock(): Promise<void> {
  for (;;) {
    const [row] = await runOutsideTransaction(() =>
      t.app.db.sql<{ waiting: number }>(
        `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      ),
    );
    if (row!.waiting > 0) return;
  }
}
