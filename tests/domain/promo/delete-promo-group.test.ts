import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { inTransaction } from '../../../src/core/db/transaction.ts';
import { joinPromoGroup } from '../../../src/domain/promo-groups/memberships.ts';
import { deletePromoGroup } from '../../../src/domain/promo-groups/promo-groups.ts';
import { aCrowd } from '../../support/audience-samples.ts';
import { aUser } from '../../support/builders.ts';
import { aGroup } from '../../support/promocode-samples.ts';
import { rowOf } from '../../support/sale-samples.ts';
import { storeRows } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

let t: TestApp;
let defaultId: number;
beforeAll(async () => {
  t = await testApp();
  defaultId = (await rowOf<{ id: number }>(t.app, 'SELECT id FROM promo_groups WHERE is_default')).id;
});

const ADMIN = { kind: 'system', name: 'test' } as const;

/** Everything that is known of the members of a group. */
const countsOf = (groupId: number) =>
  rowOf<{ groups: number; primary: number; members: number }>(
    t.app,
    `SELECT (SELECT count(*)::int FROM promo_groups WHERE id = $1::int) AS groups,
       (SELECT count(*)::int FROM users WHERE promo_group_id = $1::int) AS primary,
       (SELECT count(*)::int FROM user_promo_groups WHERE promo_group_id = $1::int) AS members`,
    [groupId],
  );
const enroll = (promoGroupId: number, userIds: readonly number[]) =>
  storeRows(
    t.app,
    'UserPromoGroup',
    userIds.map((userId) => ({ userId, promoGroupId, assignedBy: 'auto' })),
  );
const join = (userId: number, groupId: number) =>
  inTransaction(t.app, async (tx) => {
    await tx.db.sql('SELECT id FROM users WHERE id = $1::int FOR NO KEY UPDATE', [userId]);
    return joinPromoGroup(tx, userId, groupId, 'promocode');
  });

/** The app with something that happens before its n-th transaction begins, from 1. */
function watched(before: (n: number) => Promise<unknown> | undefined): App {
  let n = 0;
  const begin: NonNullable<App['db']['begin']> = async (work) => {
    n += 1;
    await before(n);
    return t.app.db.begin!(work);
  };
  return { ...t.app, db: { ...t.app.db, begin } };
}

describe('deletion of a group with many members (spec 04 section 8.4)', () => {
  test('they move one batch per transaction, and an interrupted deletion continues, so that each moves to the default group once', async () => {
    const group = await aGroup(t.app);
    const primary = await aCrowd(t.app, 400, { promo_group_id: group });
    const members = await aCrowd(t.app, 201, { promo_group_id: defaultId });
    await enroll(group, [...primary.slice(0, 350), ...members]);
    const dying = watched((n) => (n === 2 ? Promise.reject(new Error('killed')) : undefined));
    await expect(deletePromoGroup(dying, ADMIN, group)).rejects.toThrow('killed');
    const half = await countsOf(group);
    expect(half.groups).toBe(1);
    expect(half.members).toBeGreaterThan(0);
    expect(half.members).toBeLessThan(551);
    const records: unknown[] = [];
    const audit = { record: (record: unknown) => void records.push(record) } as unknown as NonNullable<App['audit']>;
    await deletePromoGroup({ ...t.app, audit }, ADMIN, group);
    expect(await countsOf(group)).toEqual({ groups: 0, primary: 0, members: 0 });
    const moved = await rowOf<{ n: number; by: string[] }>(
      t.app,
      `SELECT count(*)::int AS n, array_agg(DISTINCT m.assigned_by) AS by FROM user_promo_groups m JOIN users u ON u.id = m.user_id
       WHERE m.user_id = ANY($1::int[]) AND m.promo_group_id = $2::int AND u.promo_group_id = $2::int`,
      [[...primary, ...members], defaultId],
    );
    expect(moved).toEqual({ n: 601, by: ['system'] });
    expect(records).toEqual([
      { resourceId: group, before: expect.objectContaining({ id: group, membersCount: half.primary }), after: null },
    ]);
  });

  test('users who join between the last move and the deletion are moved too, also those with only a membership', async () => {
    const [group, higher] = [await aGroup(t.app, 1), await aGroup(t.app, 99)];
    const [first, late] = [await aUser(t.app), await aUser(t.app)];
    await join(first.id, group);
    await join(late.id, higher);
    // 1 moves the first, 2 finds nobody behind, 3 deletes.
    const app = watched((n) => (n === 3 ? join(late.id, group) : undefined));
    await deletePromoGroup(app, ADMIN, group);
    expect(await countsOf(group)).toEqual({ groups: 0, primary: 0, members: 0 });
    const rows = await t.app.db.sql(
      `SELECT m.promo_group_id AS id, m.assigned_by AS by, u.promo_group_id AS primary FROM user_promo_groups m
       JOIN users u ON u.id = m.user_id WHERE u.id = $1::int AND m.promo_group_id IN ($2::int, $3::int, $4::int) ORDER BY m.promo_group_id`,
      [late.id, defaultId, group, higher],
    );
    expect(rows).toEqual([
      { id: defaultId, by: 'system', primary: higher },
      { id: higher, by: 'promocode', primary: higher },
    ]);
  });

  test('users who keep joining make the call fail and change neither the group nor the memberships', async () => {
    const group = await aGroup(t.app);
    const user = await aUser(t.app);
    const app = watched((n) => (n > 100 ? Promise.reject(new Error('without end')) : join(user.id, group)));
    await expect(deletePromoGroup(app, ADMIN, group)).rejects.toThrow(`users keep joining promo group ${group}`);
    expect((await countsOf(group)).groups).toBe(1);
  });

  test('a group that becomes the default one during the deletion stays', async () => {
    const group = await aGroup(t.app);
    const mark = (id: number) =>
      t.app.db.sql('UPDATE promo_groups SET is_default = (id = $1::int) WHERE id = $1::int RETURNING id', [id]);
    const unmark = () => t.app.db.sql('UPDATE promo_groups SET is_default = false WHERE is_default RETURNING id');
    const app = watched((n) => (n === 2 ? unmark().then(() => mark(group)) : undefined));
    try {
      await join((await aUser(t.app)).id, group);
      await expect(deletePromoGroup(app, ADMIN, group)).rejects.toMatchObject({
        status: 400,
        detail: 'Cannot delete default promo group',
      });
    } finally {
      await unmark();
      await mark(defaultId);
    }
    expect((await countsOf(group)).groups).toBe(1);
  });
});
