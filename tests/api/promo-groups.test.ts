import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adminClient } from '../support/actors.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import { storeRow } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let web: ApiClient;
let admin: ApiClient;

const PERMISSIONS = ['promo_groups:read', 'promo_groups:create', 'promo_groups:edit', 'promo_groups:delete'];

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  web = await tokenClient(t.app, server);
  admin = await adminClient(t.app, server, PERMISSIONS);
});
afterAll(() => server.close());
beforeEach(async () => {
  const id = await defaultId();
  await t.app.db.sql('UPDATE users SET promo_group_id = $1::int WHERE promo_group_id <> $1::int RETURNING id', [id]);
  await t.app.db.sql('DELETE FROM promo_groups WHERE NOT is_default RETURNING id');
});

async function defaultId(): Promise<number> {
  const [row] = await t.app.db.sql<{ id: number }>('SELECT id FROM promo_groups WHERE is_default');
  return row!.id;
}

async function countDefaults(): Promise<number> {
  const [row] = await t.app.db.sql<{ n: number }>('SELECT count(*)::int AS n FROM promo_groups WHERE is_default');
  return row!.n;
}

async function primaryOf(userId: number): Promise<number | null> {
  const [row] = await t.app.db.sql<{ id: number | null }>('SELECT promo_group_id AS id FROM users WHERE id = $1::int', [userId]);
  return row!.id;
}

async function joined(userId: number, groupId: number, isPrimary: boolean): Promise<void> {
  await storeRow(t.app, 'UserPromoGroup', { userId, promoGroupId: groupId });
  if (isPrimary)
    await t.app.db.sql('UPDATE users SET promo_group_id = $2::int WHERE id = $1::int RETURNING id', [userId, groupId]);
}

const create = async (body: Record<string, unknown> = {}) => {
  const made = await web.post('/promo-groups', { name: `Group ${unique()}`, ...body });
  expect(made.status).toBe(200);
  return made.body;
};

const areas = [
  ['/promo-groups', () => web],
  ['/cabinet/admin/promo-groups', () => admin],
] as const;

describe.each(areas)('%s', (base, client) => {
  it('creates, reads, lists, changes and deletes a group', async () => {
    const name = `Group ${unique()}`;
    const made = await client().post(base, { name: `  ${name} `, server_discount_percent: 150, period_discounts: { '30': -5 } });
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({
      name,
      server_discount_percent: 100,
      traffic_discount_percent: 0,
      device_discount_percent: 0,
      period_discounts: { '30': 0 },
      apply_discounts_to_addons: true,
      is_default: false,
      members_count: 0,
    });
    const { id } = made.body;
    expect((await client().get(`${base}/${id}`)).body).toEqual(made.body);
    const list = await client().get(base, { query: { limit: 1, offset: 1 } });
    expect(list.body).toMatchObject({ total: 2, limit: 1, offset: 1 });
    expect(list.body.items).toHaveLength(1);
    const changed = await client().patch(`${base}/${id}`, { traffic_discount_percent: 7, name: null });
    expect(changed.body).toMatchObject({ name, traffic_discount_percent: 7, server_discount_percent: 100 });
    expect((await client().delete(`${base}/${id}`)).body).toEqual({ success: true });
    expect((await client().get(`${base}/${id}`)).body).toEqual({ detail: 'Promo group not found' });
  });

  it('holds the bounds of the list, both sides', async () => {
    for (const query of ['limit=0', 'limit=201', 'offset=-1', 'limit=x']) {
      expect((await client().get(`${base}?${query}`)).status).toBe(422);
    }
    for (const query of ['limit=1', 'limit=200', 'offset=0']) {
      expect((await client().get(`${base}?${query}`)).status).toBe(200);
    }
    expect((await client().get(base, { query: { offset: 1_000_000 } })).body.items).toEqual([]);
  });

  it('names the bound and the value in each 422 of the list', async () => {
    const issueOf = async (query: string) => (await client().get(`${base}?${query}`)).body;
    const below = (name: string, input: string, ge: number) => ({
      detail: [
        {
          loc: ['query', name],
          type: 'greater_than_equal',
          msg: `Input should be greater than or equal to ${ge}`,
          input,
          ctx: { ge },
        },
      ],
    });
    expect(await issueOf('limit=0')).toEqual(below('limit', '0', 1));
    expect(await issueOf('offset=-1')).toEqual(below('offset', '-1', 0));
    const msg = 'Input should be less than or equal to 200';
    expect(await issueOf('limit=201')).toEqual({
      detail: [{ loc: ['query', 'limit'], type: 'less_than_equal', msg, input: '201', ctx: { le: 200 } }],
    });
  });

  it('refuses a name twice, on creation and change', async () => {
    const [one, two] = [await create(), await create()];
    const detail = { detail: 'Promo group with this name already exists' };
    const again = await client().post(base, { name: ` ${one.name} ` });
    expect([again.status, again.body]).toEqual([400, detail]);
    const renamed = await client().patch(`${base}/${two.id}`, { name: one.name });
    expect([renamed.status, renamed.body]).toEqual([400, detail]);
    expect((await client().patch(`${base}/${one.id}`, { name: one.name })).status).toBe(200);
  });

  it('refuses a name of nothing or too long and a period that is no number, as 422', async () => {
    expect((await client().post(base, { name: '  ' })).body.detail[0]).toEqual({
      loc: ['body', 'name'],
      type: 'string_too_short',
      msg: 'String should have at least 1 character',
      input: '',
      ctx: { min_length: 1 },
    });
    expect((await client().post(base, { name: 'x'.repeat(256) })).body.detail[0]).toMatchObject({ type: 'string_too_long' });
    expect((await client().post(base, { name: 'x'.repeat(255) })).status).toBe(200);
    expect((await client().post(base, { name: 'p', period_discounts: { month: 5 } })).body.detail[0]).toMatchObject({
      loc: ['body', 'period_discounts', 'month'],
      type: 'int_parsing',
    });
    expect((await client().post(base, { name: 'p', period_discounts: { '30': 'x' } })).status).toBe(422);
  });

  it('keeps a threshold above 0 only, and clears it by 0 and the periods by {}', async () => {
    const made = await create({ auto_assign_total_spent_kopeks: 5_000_000_000, period_discounts: { '30': 5 } });
    expect(made.auto_assign_total_spent_kopeks).toBe(5_000_000_000);
    const kept = await client().patch(`${base}/${made.id}`, { auto_assign_total_spent_kopeks: null, period_discounts: null });
    expect(kept.body).toMatchObject({ auto_assign_total_spent_kopeks: 5_000_000_000, period_discounts: { '30': 5 } });
    const cleared = await client().patch(`${base}/${made.id}`, { auto_assign_total_spent_kopeks: 0, period_discounts: {} });
    expect(cleared.body.auto_assign_total_spent_kopeks ?? null).toBeNull();
    expect(cleared.body.period_discounts).toEqual({});
    const negative = await client().post(base, { name: `Group ${unique()}`, auto_assign_total_spent_kopeks: -1 });
    expect(negative.body.auto_assign_total_spent_kopeks ?? null).toBeNull();
  });

  it('has exactly one default group: a new default replaces it, a removed default is replaced by the oldest other group', async () => {
    const first = await defaultId();
    const made = await client().post(base, { name: `Group ${unique()}`, is_default: true });
    expect(made.body.is_default).toBe(true);
    expect(await defaultId()).toBe(made.body.id);
    const released = await client().patch(`${base}/${made.body.id}`, { is_default: false });
    expect(released.body.is_default).toBe(false);
    expect(await defaultId()).toBe(first);
    expect((await client().delete(`${base}/${first}`)).body).toEqual({ detail: 'Cannot delete default promo group' });
    expect((await client().delete(`${base}/${first}`)).status).toBe(400);
    expect(await countDefaults()).toBe(1);
  });

  it('leaves the only group the default', async () => {
    const only = await defaultId();
    expect((await client().patch(`${base}/${only}`, { is_default: false })).body.is_default).toBe(true);
  });

  it('answers 404 for unknown ids', async () => {
    for (const reply of [
      await client().get(`${base}/2147000000`),
      await client().patch(`${base}/2147000000`, {}),
      await client().delete(`${base}/2147000000`),
    ]) {
      expect([reply.status, reply.body]).toEqual([404, { detail: 'Promo group not found' }]);
    }
  });
});

describe('members', () => {
  it('counts those whose primary group it is', async () => {
    const group = await create();
    const [one, two] = [await aUser(t.app), await aUser(t.app)];
    await joined(one.id, group.id, true);
    await joined(two.id, group.id, false);
    expect((await web.get(`/promo-groups/${group.id}`)).body.members_count).toBe(1);
  });

  it('moves everyone to the default group when theirs is deleted, once each', async () => {
    const fallback = await defaultId();
    const group = await create();
    const [primary, member, cached] = [await aUser(t.app), await aUser(t.app), await aUser(t.app)];
    await joined(primary.id, group.id, true);
    await joined(member.id, group.id, false);
    await joined(member.id, fallback, false);
    await t.app.db.sql('UPDATE users SET promo_group_id = $2::int WHERE id = $1::int RETURNING id', [cached.id, group.id]);
    expect((await web.delete(`/promo-groups/${group.id}`)).status).toBe(200);
    for (const user of [primary, member, cached]) {
      expect(await primaryOf(user.id)).toBe(fallback);
      const rows = await t.app.db.sql('SELECT promo_group_id FROM user_promo_groups WHERE user_id = $1::int', [user.id]);
      expect(rows).toEqual([{ promoGroupId: fallback }]);
    }
  });

  it('leaves no server without a group', async () => {
    const group = await create();
    const made = await web.post('/servers', { squadUuid: `sq-${unique()}`, displayName: 'x', promoGroupIds: [group.id] });
    expect(made.status).toBe(200);
    await web.delete(`/promo-groups/${group.id}`);
    const rows = await t.app.db.sql('SELECT promo_group_id FROM server_squad_promo_groups WHERE server_squad_id = $1::int', [
      made.body.id,
    ]);
    expect(rows).toEqual([{ promoGroupId: await defaultId() }]);
  });
});

describe('areas', () => {
  it('leaves fields without value out of the answers to tokens only', async () => {
    const group = await create();
    expect(group).not.toHaveProperty('auto_assign_total_spent_kopeks');
    const seen = await admin.get(`/cabinet/admin/promo-groups/${group.id}`);
    expect(seen.body.auto_assign_total_spent_kopeks).toBeNull();
  });

  it('requires the permission of the operation', async () => {
    const reader = await adminClient(t.app, server, ['promo_groups:read']);
    expect((await reader.get('/cabinet/admin/promo-groups')).status).toBe(200);
    expect((await reader.post('/cabinet/admin/promo-groups', { name: 'x' })).status).toBe(403);
    expect((await reader.delete('/cabinet/admin/promo-groups/1')).status).toBe(403);
    expect((await clientOf(server).get('/promo-groups')).status).toBe(401);
  });
});
