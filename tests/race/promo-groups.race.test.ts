import { beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../src/core/db/transaction.ts';
import { joinPromoGroup } from '../../src/domain/promo-groups/memberships.ts';
import { deletePromoGroup } from '../../src/domain/promo-groups/promo-groups.ts';
import { aUser } from '../support/builders.ts';
import { someoneWaitsForALock } from '../support/lock-wait.ts';
import { aGroup } from '../support/promocode-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';
import { serverUrl } from '../support/test-database.ts';

let t: TestApp;
beforeAll(async () => {
  if (!serverUrl) throw new Error('Races need a PostgreSQL server: set TEST_DATABASE_URL');
  t = await testApp();
});

const ADMIN = { kind: 'system', name: 'test' } as const;

/**
 * @param onJoined called after all writes
 * @param beforeCommit awaited before the commit
 */
const join = (userId: number, groupId: number, onJoined?: () => void, beforeCommit?: Promise<unknown>) =>
  inTransaction(t.app, async (tx) => {
    await tx.db.sql('SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE', [userId]);
    const hasJoined = await joinPromoGroup(tx, userId, groupId, 'promocode');
    onJoined?.();
    await beforeCommit;
    return hasJoined;
  });

test('a deletion waits for a user who is joining the group, and moves the user (04 8.4)', async () => {
  const [group, higher] = [await aGroup(t.app, 1), await aGroup(t.app, 99)];
  const user = await aUser(t.app);
  await join(user.id, higher);
  const [joined, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const joining = join(user.id, group, joined.resolve, gate.promise);
  await joined.promise;
  const deletion = deletePromoGroup(t.app, ADMIN, group);
  await someoneWaitsForALock(t.app);
  gate.resolve();
  expect(await joining).toBe(true);
  await deletion;
  const rows = await t.app.db.sql(
    `SELECT m.promo_group_id = $2::int OR g.is_default AS expected, m.assigned_by AS by FROM user_promo_groups m
     JOIN promo_groups g ON g.id = m.promo_group_id WHERE m.user_id = $1::int AND m.assigned_at >= $3::timestamptz ORDER BY 2`,
    [user.id, higher, t.app.clock.now()],
  );
  expect(rows).toEqual([
    { expected: true, by: 'promocode' },
    { expected: true, by: 'system' },
  ]);
});

test('a group deleted twice while users join it: it is deleted, and they are in the default group (04 8.4)', async () => {
  const users = await Promise.all(Array.from({ length: 20 }, () => aUser(t.app)));
  const higher = await aGroup(t.app, 99);
  // Half of them have another primary group, so that only the membership refers to the deleted group.
  for (const user of users.slice(10)) await join(user.id, higher);
  for (let round = 0; round < 10; round++) {
    const group = await aGroup(t.app, 1);
    await t.app.db.sql(
      'DELETE FROM user_promo_groups WHERE promo_group_id = (SELECT id FROM promo_groups WHERE is_default) RETURNING user_id',
    );
    const remove = () => deletePromoGroup(t.app, ADMIN, group);
    const deletions = [remove(), remove()];
    const joins = await Promise.all(users.map((user) => join(user.id, group)));
    const results = await Promise.allSettled(deletions);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 404, detail: 'Promo group not found' });
    const rows = await t.app.db.sql<{ id: number }>(
      'SELECT user_id AS id FROM user_promo_groups WHERE promo_group_id = (SELECT id FROM promo_groups WHERE is_default) ORDER BY 1',
    );
    const cameIn = users.filter((_user, index) => joins[index]).map(({ id }) => id);
    expect(rows.map(({ id }) => id)).toEqual(cameIn.sort((a, b) => a - b));
  }
});
