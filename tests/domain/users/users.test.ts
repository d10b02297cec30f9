import { beforeAll, describe, expect, test } from 'vitest';
import type { TokenActor } from '../../../src/core/actor.ts';
import { readSessionUser } from '../../../src/domain/identity/authenticate.ts';
import { openSession, refreshSession } from '../../../src/domain/identity/sessions/sessions.ts';
import { giveSubscription } from '../../../src/domain/users/account/give-subscription.ts';
import { readUser } from '../../../src/domain/users/account/read-user.ts';
import {
  type RegistrationRequest,
  registerUser,
  type UserChanges,
  updateUser,
} from '../../../src/domain/users/account/save-user.ts';
import { listUsers, type UserListRequest } from '../../../src/domain/users/list/list-users.ts';
import { aUser, unique } from '../../support/builders.ts';
import { recordedEvents } from '../../support/recorded-events.ts';
import { storeRow, storeRows } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';
import { aRegistration, userChanges } from '../../support/user-requests.ts';

const actor: TokenActor = { kind: 'token', tokenId: 1, name: 'test' };

let t: TestApp;
beforeAll(async () => {
  t = await testApp();
});

const everything: UserListRequest = {
  limit: 50,
  offset: 0,
  page: null,
  perPage: null,
  status: null,
  promoGroupId: null,
  search: null,
};
const list = (request: Partial<UserListRequest> = {}) => listUsers(t.app, { ...everything, ...request });
const found = async (search: string) => (await list({ search })).users.map((user) => user.id);

const register = (fields: Partial<RegistrationRequest> = {}) => registerUser(t.app, actor, aRegistration(fields));
const change = (id: number, changes: Partial<UserChanges>) => updateUser(t.app, actor, id, userChanges(changes));

async function aPromoGroup(fields: { priority?: number } = {}): Promise<number> {
  const row = await storeRow(t.app, 'PromoGroup', { name: `Group ${unique()}`, priority: fields.priority ?? 0 });
  return row.id;
}

async function memberships(userId: number): Promise<number[]> {
  const rows = await t.app.db.sql<{ id: number }>(
    'SELECT promo_group_id AS id FROM user_promo_groups WHERE user_id = $1::int ORDER BY 1',
    [userId],
  );
  return rows.map((row) => row.id);
}

describe('registering', () => {
  test('nothing is stored when a reference is wrong', async () => {
    const messengerId = 6_100_000_000 + unique();
    const before = await list();
    for (const wrong of [{ promoGroupId: 0 }, { promoGroupId: 2 ** 40 }, { promoGroupId: 999_999 }]) {
      await expect(register({ messengerId, ...wrong })).rejects.toMatchObject({ status: 400, detail: 'Promo group not found' });
    }
    for (const wrong of [{ referredById: -1 }, { referredById: 2 ** 40 }, { referredById: 999_999 }]) {
      await expect(register({ messengerId, ...wrong })).rejects.toMatchObject({ status: 400, detail: 'Referrer not found' });
    }
    expect((await list()).total).toBe(before.total);
    const groupId = await aPromoGroup();
    const referrer = await register();
    const made = await register({ messengerId, promoGroupId: groupId, referredById: referrer.id });
    expect(made).toMatchObject({ messengerId, referredById: referrer.id, promoGroup: { id: groupId }, subscription: null });
    expect(await memberships(made.id)).toEqual([groupId]);
  });

  test('a second one for a messenger id is refused and emits no event', async () => {
    const { messengerId } = await register();
    const events = () => recordedEvents(t.app, 'user.created');
    const before = (await events()).length;
    await expect(register({ messengerId })).rejects.toMatchObject({
      status: 400,
      detail: 'User with this messenger_id already exists',
    });
    expect((await events()).length).toBe(before);
  });

  test('names are made harmless, the language is normalised', async () => {
    const made = await register({ username: '<a>', firstName: ' A & B ', lastName: ' ', language: 'EN-us' });
    expect(made).toMatchObject({ username: '‹a›', firstName: 'A ＆ B', lastName: null, language: 'en' });
  });
});

describe('finding one', () => {
  test('a number is a messenger id first, then an internal id', async () => {
    const first = await register();
    const second = await register({ messengerId: first.id });
    expect((await readUser(t.app, first.messengerId!)).id).toBe(first.id);
    expect((await readUser(t.app, first.id)).id).toBe(second.id);
    expect((await readUser(t.app, second.id)).id).toBe(second.id);
  });

  test.each([0, -1, 2 ** 31, Number.MAX_SAFE_INTEGER])('%d is not an id of a user', async (number) => {
    await expect(readUser(t.app, number)).rejects.toMatchObject({ status: 404, detail: 'User not found' });
  });

  test('the subscription is returned with its current state', async () => {
    const user = await register();
    const given = await giveSubscription(t.app, actor, user.id, {
      isTrial: false,
      durationDays: 30,
      trafficLimitGb: 0,
      deviceLimit: 2,
      squadUuid: null,
      connectedSquads: null,
      replaceExisting: false,
    });
    expect(given.subscription).toMatchObject({
      status: 'active',
      actualStatus: 'active',
      isTrial: false,
      deviceLimit: 2,
      connectedSquads: [],
      trafficLimitGb: t.app.settings.get('DEFAULT_TRAFFIC_LIMIT_GB'),
    });
    t.clock.advance(31 * 86_400_000);
    expect((await readUser(t.app, user.id)).subscription).toMatchObject({ status: 'active', actualStatus: 'expired' });
  });
});

describe('searching', () => {
  test('a text is found anywhere in a name or code, in any case, and taken literally', async () => {
    const key = `q${unique()}z`;
    const username = await register({ username: `Pre${key.toUpperCase()}post` });
    const firstName = await register({ firstName: `Жорж-${key}` });
    const lastName = await register({ lastName: `${key}50%_o'k\\x:*&` });
    const code = await register();
    await change(code.id, { referralCode: `R-${key}`.slice(0, 20) });
    expect(await found(key)).toEqual([code.id, lastName.id, firstName.id, username.id]);
    expect(await found(`жорж-${key}`)).toEqual([firstName.id]);
    expect(await found(`ЖОРЖ-${key}`)).toEqual([firstName.id]);
    for (const literal of ['50%', '50%_', "_o'k", '\\x', '%_', ':*']) {
      expect(await found(literal), literal).toContain(lastName.id);
    }
    for (const wildcard of [`${key}%50`, `${key}_0`, `${key.slice(0, -1)}_`, `\\${key}`])
      expect(await found(wildcard), wildcard).toEqual([]);
  });

  test('fields do not run into each other', async () => {
    const key = `w${unique()}v`;
    await register({ firstName: `${key}ab`, lastName: `cd${key}` });
    expect(await found(`${key}ab`)).toHaveLength(1);
    expect(await found(`${key}abcd`)).toEqual([]);
    expect(await found(`${key}ab cd`)).toEqual([]);
    expect(await found(`${key}ab\u0001cd`)).toEqual([]);
  });

  test('one or two characters are enough', async () => {
    const user = await register({ firstName: '龘靐' });
    expect(await found('靐')).toEqual([user.id]);
    expect(await found('龘靐')).toEqual([user.id]);
  });

  test('digits are also an id or a messenger id, whatever their size', async () => {
    const user = await register();
    expect(await found(String(user.id))).toContain(user.id);
    expect(await found(String(user.messengerId))).toEqual([user.id]);
    expect(await found('9'.repeat(30))).toEqual([]);
    expect(await found('9223372036854775808')).toEqual([]);
  });

  test('filters hold for matches by id too, and a total stands without its page', async () => {
    const key = `f${unique()}g`;
    const groupId = await aPromoGroup();
    const mine = await register({ firstName: key, promoGroupId: groupId });
    const other = await register({ firstName: key });
    await change(other.id, { status: 'blocked' });
    expect((await list({ search: key, promoGroupId: groupId })).users.map((user) => user.id)).toEqual([mine.id]);
    expect((await list({ search: key, status: 'blocked' })).users.map((user) => user.id)).toEqual([other.id]);
    expect((await list({ search: String(other.messengerId), promoGroupId: groupId })).total).toBe(0);
    expect(await list({ search: key, offset: 10 })).toMatchObject({ users: [], total: 2 });
    expect(await list({ search: key, offset: Number.MAX_SAFE_INTEGER })).toMatchObject({ users: [], total: 2 });
  });
});

describe('listing', () => {
  test('pages partition the list, newest first, from both ends', async () => {
    const groupId = await aPromoGroup();
    const made: number[] = [];
    for (let i = 0; i < 11; i++) {
      made.push((await register({ promoGroupId: groupId })).id);
      if (i % 3 === 0) t.clock.advance(1_000);
    }
    const pages: number[] = [];
    for (let offset = 0; offset < 14; offset += 2) {
      const page = await list({ promoGroupId: groupId, limit: 2, offset });
      expect(page).toMatchObject({ total: 11, limit: 2, offset });
      pages.push(...page.users.map((user) => user.id));
    }
    expect(pages).toEqual(made.reverse());
    expect(await list({ promoGroupId: groupId, page: 2, perPage: 4 })).toMatchObject({ limit: 4, offset: 4, total: 11 });
    expect((await list({ promoGroupId: groupId, page: 3, perPage: 4 })).users.map((user) => user.id)).toEqual(made.slice(8));
    expect((await list({ promoGroupId: 0 })).total).toBe((await list()).total);
    expect((await list({ promoGroupId: 2 ** 40 })).total).toBe(0);
  });

  test('totals follow every change, also many at once', async () => {
    const counted = () =>
      t.app.db.sql<{ differing: number }>(
        `SELECT count(*)::int AS differing FROM (
           SELECT status, promo_group_id, count(*)::int AS users FROM users GROUP BY 1, 2
           EXCEPT SELECT status, promo_group_id, sum(users)::int FROM user_counters GROUP BY 1, 2) d`,
      );
    const [first, second] = [await aPromoGroup(), await aPromoGroup()];
    const grouped = Array.from({ length: 300 }, (_, n) => ({
      messengerId: 6_500_000_000 + n,
      promoGroupId: n % 2 ? first : second,
    }));
    await storeRows(t.app, 'User', grouped);
    expect((await list({ promoGroupId: first })).total).toBe(150);
    await t.app.db.sql("UPDATE users SET status = 'blocked' WHERE promo_group_id = $1::int RETURNING id", [first]);
    expect((await list({ promoGroupId: first, status: 'blocked' })).total).toBe(150);
    expect((await list({ promoGroupId: first, status: 'active' })).total).toBe(0);
    await t.app.db.sql('UPDATE users SET promo_group_id = $2::int WHERE promo_group_id = $1::int RETURNING id', [first, second]);
    expect((await list({ promoGroupId: second })).total).toBe(300);
    await t.app.db.sql('DELETE FROM users WHERE promo_group_id = $1::int RETURNING id', [second]);
    expect((await list({ promoGroupId: second })).total).toBe(0);
    expect(await counted()).toEqual([{ differing: 0 }]);
    const [rows] = await t.app.db.sql<{ kept: number }>('SELECT count(*)::int AS kept FROM user_counters');
    expect(rows!.kept).toBeLessThan(150);
    await t.app.db.sql('SELECT recount_users()::text AS done');
    expect(await counted()).toEqual([{ differing: 0 }]);
  });
});

describe('a long list', () => {
  const COUNT = 21_000;
  let groupId: number;
  beforeAll(async () => {
    groupId = await aPromoGroup();
    // Raw SQL: 3,000 rows in a statement, whose triggers take a busy machine long.
    for (let from = 1; from <= COUNT; from += 3_000)
      await t.app.db.sql(
        `INSERT INTO users (messenger_id, username, referral_code, promo_group_id, status, created_at, updated_at)
       SELECT 6700000000 + i, 'common' || CASE WHEN i % 100 = 0 THEN 'rare' ELSE '' END || i, 'long' || i, $1::int,
         CASE WHEN i % 10 = 0 THEN 'blocked' ELSE 'active' END, '2020-01-01'::timestamptz + i * interval '1 second', now()
       FROM generate_series($2::int, $2::int + 2999) AS i RETURNING id`,
        [groupId, from],
      );
  });

  test('a rare text is found by the index, with an exact total', async () => {
    const page = await list({ search: 'RARE', promoGroupId: groupId, limit: 3 });
    expect(page.total).toBe(COUNT / 100);
    expect(page.users.map((user) => user.username)).toEqual(['commonrare21000', 'commonrare20900', 'commonrare20800']);
    expect((await list({ search: 'commonrare12', promoGroupId: groupId })).total).toBe(11);
    expect((await list({ search: 'r2', promoGroupId: groupId, limit: 1 })).total).toBe(0);
    expect((await list({ search: 'e2', promoGroupId: groupId, limit: 1 })).total).toBe(22);
    expect((await list({ search: 'common20999', promoGroupId: groupId })).users).toHaveLength(1);
  });

  test('a common text keeps the order, and its total is close, and exact at the end', async () => {
    const page = await list({ search: 'ommon', promoGroupId: groupId, limit: 2 });
    expect(page.users.map((user) => user.username)).toEqual(['commonrare21000', 'common20999']);
    expect(page.total).toBeGreaterThan(COUNT * 0.9);
    expect(page.total).toBeLessThanOrEqual(COUNT);
    const last = await list({ search: 'common', promoGroupId: groupId, limit: 10, offset: COUNT - 4 });
    expect(last.users.map((user) => user.username)).toEqual(['common4', 'common3', 'common2', 'common1']);
    expect(last.total).toBe(COUNT);
    expect((await list({ search: 'common', promoGroupId: groupId, offset: 10 ** 9 })).users).toEqual([]);
  });

  test('a common text in a small part of the list is counted', async () => {
    expect((await list({ search: 'common', promoGroupId: groupId, status: 'blocked', limit: 1 })).total).toBe(COUNT / 10);
  });
});

describe('changing', () => {
  test('only what is given changes', async () => {
    const user = await register({ username: 'before', firstName: 'First' });
    t.clock.advance(5_000);
    expect(await change(user.id, {})).toEqual(user);
    const after = await change(user.messengerId!, {
      firstName: ' <b> ',
      lastName: '',
      language: ' EN-gb',
      hasMadeFirstTopup: true,
    });
    expect(after).toEqual({
      ...user,
      firstName: '‹b›',
      lastName: null,
      language: 'en',
      hasMadeFirstTopup: true,
      updatedAt: t.clock.now(),
    });
  });

  test('refusals change nothing', async () => {
    const user = await register();
    const other = await register();
    const refusals: [Partial<UserChanges>, object][] = [
      [{ status: 'gone' }, { status: 400, detail: 'Invalid status' }],
      [{ promoGroupId: 0 }, { status: 400, detail: 'Promo group not found' }],
      [{ promoGroupId: 2 ** 33 }, { status: 400, detail: 'Promo group not found' }],
      [{ referralCode: other.referralCode }, { status: 400, detail: 'Referral code already in use' }],
      [{ referralCode: ' ' }, { status: 422 }],
      [{ referralCode: 'x'.repeat(21) }, { status: 422 }],
      [{ referralCode: 'merged_7' }, { status: 422 }],
      [{ referralCode: ' erased:7' }, { status: 422 }],
    ];
    for (const [changes, refusal] of refusals) {
      await expect(change(user.id, { firstName: 'changed', ...changes })).rejects.toMatchObject(refusal);
    }
    expect(await readUser(t.app, user.id)).toEqual(user);
    expect((await change(user.id, { referralCode: user.referralCode })).referralCode).toBe(user.referralCode);
    await expect(change(999_999, { firstName: 'x' })).rejects.toMatchObject({ status: 404, detail: 'User not found' });
  });

  test('a promo group becomes the only one, whatever the priority of the others', async () => {
    const [low, high] = [await aPromoGroup(), await aPromoGroup({ priority: 100 })];
    const user = await register({ promoGroupId: high });
    expect(await change(user.id, { promoGroupId: low })).toMatchObject({ promoGroup: { id: low } });
    expect(await memberships(user.id)).toEqual([low]);
    await change(user.id, { promoGroupId: low });
    expect(await memberships(user.id)).toEqual([low]);
  });

  test.each(['blocked', 'deleted'])('a user set to %s loses all sessions at once', async (status) => {
    const user = await aUser(t.app);
    const session = await openSession(t.app, user.id);
    expect((await readSessionUser(t.app, user.id))?.status).toBe('active');
    await change(user.id, { status });
    // The word of the change travels with the commit, and so shortly after the answer.
    await expect.poll(async () => (await readSessionUser(t.app, user.id))?.status).toBe(status);
    await change(user.id, { status: 'active' });
    await expect(refreshSession(t.app, session.refreshToken)).rejects.toMatchObject({ status: 401 });
    const other = await aUser(t.app);
    const kept = await openSession(t.app, other.id);
    await change(other.id, { status: 'active', firstName: 'still here' });
    await expect(refreshSession(t.app, kept.refreshToken)).resolves.toMatchObject({ expiresIn: expect.any(Number) });
  });
});
