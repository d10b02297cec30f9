import { beforeAll, describe, expect, test } from 'vitest';
import type { AdminActor } from '../../src/core/actor.ts';
import type { App } from '../../src/core/app.ts';
import { checkLedger } from '../../src/domain/ledger/check-ledger.ts';
import { runSubscriptionAction } from '../../src/domain/subscriptions/manual/run-action.ts';
import { changeUserStatus } from '../../src/domain/users/account/change-account.ts';
import { changeUserBalance } from '../../src/domain/users/account/change-balance.ts';
import { eraseUser, resetSubscription } from '../../src/domain/users/removal.ts';
import { COUNTERS } from '../domain/core/counter-table.ts';
import { anAction } from '../support/admin-setup.ts';
import { anAdmin } from '../support/admins.ts';
import { aUser, unique } from '../support/builders.ts';
import { refusals, settled, won } from '../support/parallel.ts';
import { testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

// With one connection everything is sequential: there is nothing to race.
describe.runIf(serverUrl !== null)('administrators raced', () => {
  let app: App;
  let admin: AdminActor;
  beforeAll(async () => {
    ({ app } = await testApp());
    admin = await anAdmin(app);
  });

  const balance = (userId: number, amountKopeks: number, key: string | null = null) =>
    changeUserBalance(app, admin, { userId, amountKopeks, description: 'race', isShown: true }, key);
  const countDiffering = async () => {
    const [row] = await app.db.sql<{ differing: number }>(
      `SELECT count(*)::int AS differing FROM users u JOIN user_stats f ON f.user_id = u.id JOIN user_traffic t ON t.user_id = u.id
         LEFT JOIN subscriptions s ON s.user_id = u.id
       WHERE f.balance_kopeks <> u.balance_kopeks OR f.status <> listed_status(u.status, u.id, u.referral_code) OR t.status <> f.status
         OR t.traffic_used_gb <> coalesce(s.traffic_used_gb, 0)
         OR (f.total_spent_kopeks, f.purchase_count) <> (SELECT coalesce(sum(abs(amount_kopeks)), 0), count(*) FROM transactions
           WHERE user_id = u.id AND type = 'subscription_payment' AND is_completed)`,
    );
    return row!.differing;
  };

  test('spec 01 H16: withdrawals at once never overdraw', async () => {
    const { id } = await aUser(app);
    await balance(id, 1_000);
    const results = await settled(30, () => balance(id, -100));
    expect(won(results)).toHaveLength(10);
    expect(new Set(refusals(results))).toEqual(new Set(['Insufficient balance. Current: 0, requested: 100']));
    expect(new Set(won(results).map((change) => change.newBalanceKopeks)).size).toBe(10);
    expect(await checkLedger(app)).toEqual([]);
  });

  test('one idempotency key runs once', async () => {
    const { id } = await aUser(app);
    const key = `race-${unique()}`;
    const results = await settled(20, () => balance(id, 300, key));
    expect(new Set(won(results).map((change) => JSON.stringify(change)))).toEqual(
      new Set(['{"oldBalanceKopeks":0,"newBalanceKopeks":300}']),
    );
    expect(won(results)).toHaveLength(20);
  });

  test('one of many creates the subscription', async () => {
    const { id } = await aUser(app);
    const results = await settled(20, () => runSubscriptionAction(app, admin, id, anAction('create')));
    expect(won(results)).toHaveLength(1);
    expect(new Set(refusals(results))).toEqual(new Set(['User already has a subscription']));
  });

  test('actions at once add up', async () => {
    const { id } = await aUser(app);
    const made = await runSubscriptionAction(app, admin, id, anAction('create', { days: 10, trafficLimitGb: 50 }));
    const results = await settled(40, (n) =>
      runSubscriptionAction(
        app,
        admin,
        id,
        n % 2 === 0 ? anAction('extend', { days: 3 }) : anAction('add_traffic', { trafficGb: 2 }),
      ),
    );
    expect(refusals(results)).toEqual([]);
    const [row] = await app.db.sql<{ endDate: Date; trafficLimitGb: number; purchasedTrafficGb: number; purchases: number }>(
      `SELECT end_date, traffic_limit_gb, purchased_traffic_gb,
         (SELECT count(*)::int FROM traffic_purchases p WHERE p.subscription_id = s.id) AS purchases
       FROM subscriptions s WHERE user_id = $1::int`,
      [id],
    );
    expect(row).toEqual({
      endDate: new Date(made.subscription.endDate.getTime() + 60 * 86_400_000),
      trafficLimitGb: 90,
      purchasedTrafficGb: 40,
      purchases: 20,
    });
  });

  test('spec 01 H18: full deletion against money, status and subscription changes loses nothing', async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await aUser(app);
      await balance(id, 1_000);
      await runSubscriptionAction(app, admin, id, anAction('create'));
      const results = await Promise.allSettled([
        ...Array.from({ length: 6 }, () => balance(id, 50)),
        eraseUser(app, admin, id, { deletesFromPanel: true, reason: null }),
        changeUserStatus(app, admin, id, 'blocked', null),
        runSubscriptionAction(app, admin, id, anAction('extend', { days: 1 })),
        resetSubscription(app, admin, id, { disablesInPanel: true, reason: null }),
        eraseUser(app, admin, id, { deletesFromPanel: true, reason: null }),
      ]);
      const unexpected = refusals(results).filter(
        // Spec 10 U8: whoever comes after the deletion finds nobody.
        (detail) => detail !== 'User has no subscription' && detail !== 'User not found',
      );
      expect(unexpected).toEqual([]);
      const [row] = await app.db.sql<{ code: string; messenger: number | null }>(
        'SELECT referral_code AS code, messenger_id AS messenger FROM users WHERE id = $1::int',
        [id],
      );
      expect(row).toEqual({ code: `erased:${id}`, messenger: null });
    }
    expect(await countDiffering()).toBe(0);
    for (const counter of COUNTERS.filter(({ name }) => name.startsWith('user_'))) {
      expect(await app.db.sql(counter.maintained), counter.name).toEqual(await app.db.sql(counter.counted));
    }
    expect(await checkLedger(app)).toEqual([]);
  });

  test('the counters stay correct during concurrent changes', async () => {
    const users = await Promise.all(Array.from({ length: 6 }, () => aUser(app)));
    for (const { id } of users) await runSubscriptionAction(app, admin, id, anAction('create'));
    const results = await settled<unknown>(120, (n) => {
      const { id } = users[n % 6]!;
      const kinds: (() => Promise<unknown>)[] = [
        () => balance(id, 10),
        () => runSubscriptionAction(app, admin, id, anAction('set_traffic', { trafficUsedGb: n })),
        () => changeUserStatus(app, admin, id, n % 3 === 0 ? 'blocked' : 'active', null),
        () =>
          app.db.sql('UPDATE subscriptions SET traffic_used_gb = $2::float8 WHERE user_id = $1::int RETURNING id', [id, n / 7]),
      ];
      return kinds[Math.floor(n / 6) % 4]!();
    });
    expect(refusals(results)).toEqual([]);
    expect(await countDiffering()).toBe(0);
  });
});
