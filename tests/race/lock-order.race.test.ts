import { beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { mergeAccounts } from '../../src/domain/merge/merge-accounts.ts';
import { requestProvisioning } from '../../src/domain/provisioning/request-provisioning.ts';
import { lockUserSubscription } from '../../src/domain/subscriptions/manual/manual-changes.ts';
import { applyStatus } from '../../src/domain/users/account/change-account.ts';
import { aPair, tokenFor } from '../support/merge-samples.ts';
import { aSubscription } from '../support/provisioning-setup.ts';
import { rowOf } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
});

test('a transaction that has locked the subscription can write it twice while a sale waits for it', async () => {
  const { id, user } = await aSubscription(t.app);
  const [locked, release] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
  let runs = 0;
  const job = inTransaction(t.app, async (tx) => {
    runs += 1;
    await tx.db.sql("UPDATE subscriptions SET status = 'expired' WHERE id = $1::int RETURNING id", [id]);
    locked.resolve((await rowOf<{ pid: number }>(tx, 'SELECT pg_backend_pid() AS pid')).pid);
    await release.promise;
    // For a row version of its own transaction the database checks the foreign key to the user, which the sale has locked.
    await requestProvisioning(tx, id);
  });
  const pid = await locked.promise;
  const sale = inTransaction(t.app, async (tx) => {
    runs += 1;
    return lockUserSubscription(tx, user.id);
  });
  const waiting = 'SELECT count(*)::int AS n FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))';
  try {
    await expect.poll(() => rowOf(t.app, waiting, [pid])).toEqual({ n: 1 });
  } finally {
    release.resolve();
  }
  await job;
  expect(await sale).toMatchObject({ id, status: 'expired' });
  // After a deadlock the transaction would have run again.
  expect(runs).toBe(2);
});

test('a change of a user’s status waits for the subscription before it locks the counter of his traffic', async () => {
  const { id, user } = await aSubscription(t.app);
  const [locked, release] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
  const traffic = inTransaction(t.app, async (tx) => {
    await tx.db.sql('SELECT id FROM subscriptions WHERE id = $1::int FOR UPDATE', [id]);
    locked.resolve((await rowOf<{ pid: number }>(tx, 'SELECT pg_backend_pid() AS pid')).pid);
    await release.promise;
    await tx.db.sql('UPDATE subscriptions SET traffic_used_gb = 7 WHERE id = $1::int RETURNING id', [id]);
  });
  const pid = await locked.promise;
  const blocking = inTransaction(t.app, (tx) => applyStatus(tx, user.id, 'active', 'blocked'));
  try {
    const waiting = 'SELECT count(*)::int AS n FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))';
    await expect.poll(() => rowOf(t.app, waiting, [pid])).toEqual({ n: 1 });
    const counter = 'SELECT user_id FROM user_traffic WHERE user_id = $1::int FOR UPDATE NOWAIT';
    expect(await t.app.db.sql(counter, [user.id])).toEqual([{ userId: user.id }]);
  } finally {
    release.resolve();
  }
  await Promise.all([traffic, blocking]);
});

describe('spec 01 H17: a merge locks its two users by id', () => {
  test.each(['into the older account', 'into the newer account'])('%s', async (direction) => {
    const { primaryId: older, secondaryId: newer } = await aPair(t.app);
    const pair =
      direction === 'into the older account'
        ? { primaryId: older, secondaryId: newer }
        : { primaryId: newer, secondaryId: older };
    const token = await tokenFor(t.app, pair);
    const [locked, release] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
    const holder = inTransaction(t.app, async (tx) => {
      await tx.db.sql('SELECT id FROM users WHERE id = $1::int FOR UPDATE', [older]);
      locked.resolve((await rowOf<{ pid: number }>(tx, 'SELECT pg_backend_pid() AS pid')).pid);
      await release.promise;
    });
    const pid = await locked.promise;
    const merging = mergeAccounts(t.app, { token, keepSubscriptionFrom: pair.primaryId });
    try {
      const waiting = 'SELECT count(*)::int AS n FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))';
      await expect.poll(() => rowOf(t.app, waiting, [pid])).toEqual({ n: 1 });
      // It waits for the lower id and has no lock yet: a transaction that has locked the lower id can lock the other.
      const other = t.app.db.sql<{ id: number }>('SELECT id FROM users WHERE id = $1::int FOR UPDATE NOWAIT', [newer]);
      expect(await other).toEqual([{ id: newer }]);
    } finally {
      release.resolve();
      await holder;
    }
    expect((await merging).user.id).toBe(pair.primaryId);
  });
});
