import { beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { addDays } from '../../../src/core/clock.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { listReferralsForAdmin, listUsersForAdmin } from '../../../src/domain/users/list/list-users.ts';
import { planSearch, SORTED_BOUNDS } from '../../../src/domain/users/list/rules.ts';
import type { UserSort } from '../../../src/domain/users/types.ts';
import { setUser } from '../../support/admin-setup.ts';
import { aUser, type BuiltUser, unique } from '../../support/builders.ts';
import { aStoredSubscription, topUp } from '../../support/sale-samples.ts';
import { type TestClock, testApp } from '../../support/test-app.ts';

let app: App;
let clock: TestClock;
beforeAll(async () => {
  ({ app, clock } = await testApp());
});

const request = { offset: 0, limit: 50, search: null, email: null, status: null, sortBy: 'created_at' as UserSort };
const idsOf = async (given: Partial<Parameters<typeof listUsersForAdmin>[1]>) =>
  (await listUsersForAdmin(app, { ...request, ...given })).users.map((user) => user.id);

/** Users who are found by one name, created one minute after the other. */
async function namesakes(count: number): Promise<{ name: string; users: BuiltUser[] }> {
  const name = `nm${unique()}x`;
  const users: BuiltUser[] = [];
  for (let n = 0; n < count; n++) {
    clock.advance(60_000);
    const user = await aUser(app);
    await setUser(app, user, { first_name: name });
    users.push(user);
  }
  return { name, users };
}

async function buy(userId: number, kopeks: number): Promise<void> {
  await topUp(app, userId, kopeks);
  await postMovement(app, {
    userId,
    type: 'subscription_payment',
    amountKopeks: -kopeks,
    contra: { kind: 'sales_revenue', product: 'tariff' },
    paymentMethod: 'balance',
    description: 'sale',
  });
}

describe('orders', () => {
  test('every order has the highest value first, then the newest user', async () => {
    const { name, users } = await namesakes(4);
    const [a, b, c, d] = users as [BuiltUser, BuiltUser, BuiltUser, BuiltUser];
    await topUp(app, b.id, 500);
    await topUp(app, a.id, 900);
    await buy(c.id, 100);
    await buy(c.id, 100);
    await buy(a.id, 700);
    await aStoredSubscription(app, d.id, { traffic_used_gb: 1.5 });
    await aStoredSubscription(app, b.id, { traffic_used_gb: 7.25 });
    await setUser(app, a, { last_activity: addDays(clock.now(), -1) });
    await setUser(app, b, { last_activity: null });
    await setUser(app, c, { last_activity: addDays(clock.now(), 1) });
    await setUser(app, d, { last_activity: addDays(clock.now(), -2) });
    const order = (sortBy: UserSort) => idsOf({ sortBy, search: name });
    expect(await order('created_at')).toEqual([d.id, c.id, b.id, a.id]);
    expect(await order('balance')).toEqual([a.id, b.id, d.id, c.id]);
    expect(await order('traffic')).toEqual([b.id, d.id, c.id, a.id]);
    expect(await order('total_spent')).toEqual([a.id, c.id, d.id, b.id]);
    expect(await order('purchase_count')).toEqual([c.id, a.id, d.id, b.id]);
    // Nobody saw b: last, whatever the direction.
    expect(await order('last_activity')).toEqual([c.id, a.id, d.id, b.id]);
  });

  test.each(['created_at', 'balance', 'traffic', 'last_activity', 'total_spent', 'purchase_count'] as const)(
    'pages by %s hold every user once, in one order, with and without a status',
    async (sortBy) => {
      await namesakes(3);
      const blocked = await aUser(app);
      await setUser(app, blocked, { status: 'blocked' });
      for (const status of [null, 'active', 'blocked'] as const) {
        const { total } = await listUsersForAdmin(app, { ...request, sortBy, status });
        const seen: number[] = [];
        for (let offset = 0; offset < total; offset += 7) seen.push(...(await idsOf({ sortBy, status, offset, limit: 7 })));
        expect(new Set(seen).size).toBe(total);
        expect(seen).toHaveLength(total);
        expect(await idsOf({ sortBy, status, offset: total })).toEqual([]);
        expect(seen.slice(0, 50)).toEqual(await idsOf({ sortBy, status }));
      }
    },
  );
});

describe('filters', () => {
  test('search looks at names and username in any case, and at a messenger id', async () => {
    const { name, users } = await namesakes(2);
    await setUser(app, users[0]!, { last_name: `Ивано${name}` });
    expect(await idsOf({ search: name.toUpperCase() })).toEqual([users[1]!.id, users[0]!.id]);
    expect(await idsOf({ search: `ИВАНО${name}` })).toEqual([users[0]!.id]);
    expect(await idsOf({ search: String(users[1]!.messengerId) })).toEqual([users[1]!.id]);
    expect(await idsOf({ search: String(users[1]!.id + 5_000_000) })).toEqual([]);
  });

  test('search does not look at referral codes or e-mails', async () => {
    const { users } = await namesakes(1);
    const mark = `zq${unique()}`;
    await setUser(app, users[0]!, { referral_code: mark, email: `${mark}@example.com` });
    expect(await idsOf({ search: mark })).toEqual([]);
    expect(await idsOf({ email: mark.toUpperCase() })).toEqual([users[0]!.id]);
    expect(await idsOf({ email: `${mark}@EXAMPLE` })).toEqual([users[0]!.id]);
  });

  test('filters add up', async () => {
    const { name, users } = await namesakes(3);
    await setUser(app, users[0]!, { status: 'blocked', email: `${name}@a.example` });
    await setUser(app, users[1]!, { email: `${name}@b.example` });
    expect(await idsOf({ search: name, status: 'blocked' })).toEqual([users[0]!.id]);
    expect(await idsOf({ search: name, email: '@b.example' })).toEqual([users[1]!.id]);
    expect(await idsOf({ email: name, status: 'active' })).toEqual([users[1]!.id]);
  });

  test('spec 01 H23: wildcards are letters, and a number that no id can be is text', async () => {
    const { name, users } = await namesakes(2);
    await setUser(app, users[0]!, { last_name: `100%_${name}` });
    expect(await idsOf({ search: `%_${name}` })).toEqual([users[0]!.id]);
    expect(await idsOf({ search: `1__%_${name}` })).toEqual([]);
    for (const search of ['99999999999999999999', '9007199254740993', '4294967296000', '\\', "'; --", '\u0000']) {
      expect(Array.isArray(await idsOf({ search })), search).toBe(true);
    }
  });
});

test('spec 01 H24: referrals are paged in SQL, newest first, with their total', async () => {
  const referrer = await aUser(app);
  const { users } = await namesakes(3);
  for (const user of users) await setUser(app, user, { referred_by_id: referrer.id });
  const page = await listReferralsForAdmin(app, referrer.id, { offset: 1, limit: 1 });
  expect(page).toMatchObject({ total: 3, offset: 1, limit: 1, users: [{ id: users[1]!.id }] });
  expect((await listReferralsForAdmin(app, referrer.id, { offset: 9, limit: 5 })).users).toEqual([]);
  await expect(listReferralsForAdmin(app, 2_000_000_000, { offset: 0, limit: 5 })).rejects.toMatchObject({ status: 404 });
});

test('the plan of a search follows the number of matches', () => {
  expect(planSearch(10_000, 10_000, 1, SORTED_BOUNDS)).toBe('scan');
  expect(planSearch(1_000_000, 1_000_000, 0.001, SORTED_BOUNDS)).toBe('index');
  expect(planSearch(1_000_000, 1_000_000, 0.2, SORTED_BOUNDS)).toBe('walk');
  expect(planSearch(1_000_000, 4_000, 0.2, SORTED_BOUNDS)).toBe('scan');
});
