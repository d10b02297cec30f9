import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { activatePromocode } from '../../../src/domain/promo/codes/activate-promocode.ts';
import { assignGroupBySpending } from '../../../src/domain/promo-groups/auto-assign.ts';
import { leavePromoGroup } from '../../../src/domain/promo-groups/memberships.ts';
import { updateUser } from '../../../src/domain/users/account/save-user.ts';
import { aGroup, aPromocode, aRedeemer, groupsOf } from '../../support/promocode-samples.ts';
import { topUp } from '../../support/sale-samples.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { userChanges } from '../../support/user-requests.ts';

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});
afterEach(async () => {
  await t.app.db.sql('UPDATE promo_groups SET auto_assign_total_spent_kopeks = NULL RETURNING id');
});

async function aThreshold(kopeks: number, priority = 10): Promise<number> {
  const id = await aGroup(t.app, priority);
  await t.app.db.sql('UPDATE promo_groups SET auto_assign_total_spent_kopeks = $2::bigint WHERE id = $1::int RETURNING id', [
    id,
    kopeks,
  ]);
  return id;
}

async function spend(userId: number, kopeks: number): Promise<void> {
  await topUp(t.app, userId, kopeks);
  await postMovement(t.app, {
    userId,
    type: 'subscription_payment',
    amountKopeks: -kopeks,
    contra: { kind: 'sales_revenue', product: 'tariff' },
    paymentMethod: 'balance',
    description: null,
  });
}

const waiting = (userId: number) =>
  t.app.db.sql(`SELECT data FROM jobs.job WHERE name = 'promo.assign-group' AND singleton_key = $1 AND state = 'created'`, [
    String(userId),
  ]);
const changesOf = (userId: number) =>
  t.app.db.sql<{ extra: Record<string, unknown> }>(
    `SELECT extra FROM subscription_events WHERE event_type = 'promo_group_change' AND user_id = $1::int ORDER BY id`,
    [userId],
  );

describe('groups by total spent (spec 04 section 8.3)', () => {
  test('a movement sends the job once, and only while a group has a threshold', async () => {
    const user = await aRedeemer(t.app);
    await topUp(t.app, user.userId, 100);
    expect(await waiting(user.userId)).toEqual([]);
    await aThreshold(1_000);
    await topUp(t.app, user.userId, 100);
    await topUp(t.app, user.userId, 100);
    expect(await waiting(user.userId)).toEqual([{ data: { userId: user.userId } }]);
  });

  test('the largest threshold reached is given, once, and top-ups do not count as spending', async () => {
    const [low, high] = [await aThreshold(1_000), await aThreshold(5_000)];
    const user = await aRedeemer(t.app);
    await topUp(t.app, user.userId, 10_000);
    await assignGroupBySpending(t.app, user);
    expect((await groupsOf(t.app, user.userId)).members).toEqual([]);
    await spend(user.userId, 1_000);
    await assignGroupBySpending(t.app, user);
    await assignGroupBySpending(t.app, user);
    expect(await groupsOf(t.app, user.userId)).toEqual({ primary: low, members: [{ id: low, by: 'auto' }] });
    expect(await changesOf(user.userId)).toMatchObject([
      { extra: { new_promo_group_id: low, threshold_kopeks: 1_000, reason: 'spending', initiator_id: null, automatic: true } },
    ]);
    await spend(user.userId, 4_000);
    await assignGroupBySpending(t.app, user);
    expect(await groupsOf(t.app, user.userId)).toEqual({ primary: high, members: [{ id: high, by: 'auto' }] });
    expect(await changesOf(user.userId)).toHaveLength(2);
    const [row] = await t.app.db.sql(
      'SELECT auto_promo_group_assigned AS done, auto_promo_group_threshold_kopeks AS kopeks FROM users WHERE id = $1::int',
      [user.userId],
    );
    expect(row).toEqual({ done: true, kopeks: 5_000 });
  });

  test('one kopek below the threshold is not enough', async () => {
    const group = await aThreshold(1_000);
    const user = await aRedeemer(t.app);
    await spend(user.userId, 999);
    await assignGroupBySpending(t.app, user);
    expect((await groupsOf(t.app, user.userId)).members).toEqual([]);
    await spend(user.userId, 1);
    await assignGroupBySpending(t.app, user);
    expect((await groupsOf(t.app, user.userId)).primary).toBe(group);
  });

  test("an administrator's group stays and ranks by priority, while a promo code's ends", async () => {
    const [earned, assigned, granted] = [await aThreshold(1_000, 10), await aGroup(t.app, 20), await aGroup(t.app, 30)];
    const user = await aRedeemer(t.app);
    await storeRow(t.app, 'UserPromoGroup', { userId: user.userId, promoGroupId: assigned, assignedBy: 'admin' });
    const code = await aPromocode(t.app, { type: 'promo_group', promoGroupId: granted });
    await activatePromocode(t.app, user, code.code, null);
    expect((await groupsOf(t.app, user.userId)).primary).toBe(granted);
    await spend(user.userId, 1_000);
    await assignGroupBySpending(t.app, user);
    const { primary, members } = await groupsOf(t.app, user.userId);
    expect(primary).toBe(assigned);
    expect(members).toEqual([
      { id: earned, by: 'auto' },
      { id: assigned, by: 'admin' },
    ]);
  });

  test('a user removed from the last group gets the default one', async () => {
    const [fallback] = await t.app.db.sql<{ id: number }>('SELECT id FROM promo_groups WHERE is_default');
    const group = await aThreshold(1_000);
    const user = await aRedeemer(t.app);
    await spend(user.userId, 1_000);
    await assignGroupBySpending(t.app, user);
    expect(await leavePromoGroup(t.app, user.userId, group, ['promocode'])).toBe(false);
    expect(await leavePromoGroup(t.app, user.userId, group, ['auto'])).toBe(true);
    expect((await groupsOf(t.app, user.userId)).primary).toBe(fallback!.id);
  });
});

test('a group set by the Web API is recorded, the same one again is not (spec 05 section 9.2)', async () => {
  const user = await aRedeemer(t.app);
  const group = await aGroup(t.app, 10);
  const actor = { kind: 'token', tokenId: 1, name: 'test' } as const;
  for (const promoGroupId of [group, group, null]) await updateUser(t.app, actor, user.userId, userChanges({ promoGroupId }));
  const extra = { new_promo_group_id: group, reason: 'manual', initiator_id: null, automatic: false };
  expect(await changesOf(user.userId)).toMatchObject([{ extra }]);
});
