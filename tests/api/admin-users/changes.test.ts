import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ActorClient, adminClient, userClient } from '../../support/actors.ts';
import { clientOf, testServer, tokenClient } from '../../support/api.ts';
import { aUser, type BuiltUser } from '../../support/builders.ts';
import { aMembership, aStoredSubscription, rowOf } from '../../support/sale-samples.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const CONFIGURED = 'configured@example.com';

let t: TestApp;
let server: FastifyInstance;
let api: ActorClient;
beforeAll(async () => {
  t = await testApp({ environment: { ADMIN_EMAILS: CONFIGURED } });
  server = await testServer(t.app);
  api = await adminClient(t.app, server, ['users:*']);
});
afterAll(() => server.close());

const ROOT = '/cabinet/admin/users';

/** Every write: method, path behind the id, body, permission. */
const WRITES: ['post' | 'delete', string, unknown, string][] = [
  ['post', '/balance', { amount_kopeks: 100 }, 'users:balance'],
  ['post', '/subscription', { action: 'create' }, 'users:subscription'],
  ['post', '/status', { status: 'active' }, 'users:edit'],
  ['post', '/block', undefined, 'users:block'],
  ['post', '/unblock', undefined, 'users:block'],
  ['post', '/restrictions', {}, 'users:edit'],
  ['post', '/promo-group', {}, 'users:promo_group'],
  ['post', '/referral-commission', {}, 'users:referral'],
  ['delete', '/devices', undefined, 'users:edit'],
  ['delete', '/devices/abc', undefined, 'users:edit'],
  ['delete', '', undefined, 'users:delete'],
  ['delete', '/full', undefined, 'users:delete'],
  ['post', '/reset-trial', undefined, 'users:subscription'],
  ['post', '/reset-subscription', undefined, 'users:subscription'],
  ['post', '/disable', undefined, 'users:block'],
  ['post', '/sync/from-panel', undefined, 'users:sync'],
  ['post', '/sync/to-panel', undefined, 'users:sync'],
];

const send = (client: Pick<ActorClient, 'post' | 'delete'>, method: 'post' | 'delete', path: string, body: unknown) =>
  method === 'post' ? client.post(ROOT + path, body) : client.delete(ROOT + path, { body });

describe('access', () => {
  test.each(WRITES)('%s %s: who may, and whom', async (method, path, body, permission) => {
    const user = await aUser(t.app);
    const before = await rowOf(t.app, 'SELECT * FROM users WHERE id = $1::int', [user.id]);
    const target = `/${user.id}${path}`;
    expect((await send(clientOf(server), method, target, body)).status).toBe(401);
    expect((await send(await userClient(t.app, server), method, target, body)).status).toBe(403);
    const others = WRITES.map(([, , , name]) => name).filter((name) => name !== permission);
    expect((await send(await adminClient(t.app, server, ['users:read', ...others]), method, target, body)).status).toBe(403);
    expect(await rowOf(t.app, 'SELECT * FROM users WHERE id = $1::int', [user.id])).toEqual(before);
    const right = await adminClient(t.app, server, [permission]);
    expect([200, 400]).toContain((await send(right, method, target, body)).status);
    const unknown = await send(right, method, `/2000000000${path}`, body);
    expect(unknown).toMatchObject({ status: 404, body: { detail: 'User not found' } });
  });

  test('spec 01 H5: administrators cannot change others of the same level, nor themselves', async () => {
    const colleague = await adminClient(t.app, server, ['users:*']);
    for (const [method, path, body] of WRITES) {
      expect((await send(api, method, `/${colleague.user.id}${path}`, body)).status, path).toBe(403);
      if (path !== '/unblock' && path !== '/status')
        expect((await send(api, method, `/${api.user.id}${path}`, body)).status, path).toBe(403);
    }
    const row = await rowOf(t.app, 'SELECT status, balance_kopeks FROM users WHERE id = $1::int', [colleague.user.id]);
    expect(row).toEqual({ status: 'active', balanceKopeks: 0 });
  });

  test('spec 01 H5: nobody changes an administrator of the configuration', async () => {
    const { id } = await aUser(t.app, { email: CONFIGURED });
    for (const [method, path, body] of WRITES) {
      const { status, body: answer } = await send(api, method, `/${id}${path}`, body);
      expect([path, status, answer.detail]).toEqual([path, 403, 'Cannot act on a configured administrator']);
    }
  });

  test('every write leaves an audit row with before and after', async () => {
    const user = await aUser(t.app);
    await api.post(`${ROOT}/${user.id}/balance`, { amount_kopeks: 700 });
    await api.post(`${ROOT}/${user.id}/block`, undefined, { query: { reason: 'spam' } });
    await expect
      .poll(async () => {
        const rows = await t.app.db.sql<{ action: string; details: Record<string, unknown> }>(
          'SELECT action, details FROM admin_audit_log WHERE user_id = $1::int AND request_path LIKE $2 ORDER BY id',
          [api.user.id, `%/users/${user.id}/%`],
        );
        return rows.map((row) => [row.action, row.details.before, row.details.after]);
      })
      .toEqual([
        ['users:balance', { balanceKopeks: 0 }, { balanceKopeks: 700 }],
        ['users:block', { status: 'active' }, { status: 'blocked', reason: 'spam' }],
      ]);
  });
});

describe('balance', () => {
  test('adds and takes, and says what was and is', async () => {
    const { id } = await aUser(t.app);
    const change = (body: unknown, headers = {}) => api.post(`${ROOT}/${id}/balance`, body, { headers });
    expect((await change({ amount_kopeks: 900 })).body).toMatchObject({
      success: true,
      old_balance_kopeks: 0,
      new_balance_kopeks: 900,
    });
    expect(await change({ amount_kopeks: -901 })).toMatchObject({
      status: 400,
      body: { detail: 'Insufficient balance. Current: 900, requested: 901' },
    });
    const once = { 'idempotency-key': `balance-${id}` };
    for (let n = 0; n < 3; n++) {
      expect((await change({ amount_kopeks: -400 }, once)).body).toMatchObject({
        old_balance_kopeks: 900,
        new_balance_kopeks: 500,
      });
    }
    expect((await change({ amount_kopeks: 0 })).body).toMatchObject({ old_balance_kopeks: 500, new_balance_kopeks: 500 });
    const rows = await t.app.db.sql('SELECT amount_kopeks, description FROM transactions WHERE user_id = $1::int ORDER BY id', [
      id,
    ]);
    expect(rows).toEqual([
      { amountKopeks: 900, description: 'Admin balance adjustment' },
      { amountKopeks: -400, description: 'Admin balance adjustment' },
    ]);
  });

  test.each([
    [{}, 'amount_kopeks', 'missing'],
    [{ amount_kopeks: 2_000_000_001 }, 'amount_kopeks', 'less_than_equal'],
    [{ amount_kopeks: -2_000_000_001 }, 'amount_kopeks', 'greater_than_equal'],
    [{ amount_kopeks: 1.5 }, 'amount_kopeks', 'int_from_float'],
    [{ amount_kopeks: 1, description: 'x'.repeat(501) }, 'description', 'string_too_long'],
    [{ amount_kopeks: 1, create_transaction: 'perhaps' }, 'create_transaction', 'bool_type'],
  ])('%j is 422', async (body, field, type) => {
    const { id } = await aUser(t.app);
    const reply = await api.post(`${ROOT}/${id}/balance`, body);
    expect(reply).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field], type }] } });
  });
});

describe('account', () => {
  test('status, block and unblock', async () => {
    const { id } = await aUser(t.app);
    expect((await api.post(`${ROOT}/${id}/status`, { status: 'active' })).body).toEqual({
      success: true,
      old_status: 'active',
      new_status: 'active',
      message: 'Status unchanged',
    });
    expect((await api.post(`${ROOT}/${id}/block`)).body).toMatchObject({ old_status: 'active', new_status: 'blocked' });
    expect((await api.post(`${ROOT}/${id}/unblock`)).body).toMatchObject({ old_status: 'blocked', new_status: 'active' });
    const bad = await api.post(`${ROOT}/${id}/status`, { status: 'gone' });
    expect(bad).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'status'] }] } });
  });

  test('a blocked user is out at once', async () => {
    const user = await userClient(t.app, server);
    expect((await user.get('/cabinet/auth/me')).status).toBe(200);
    await api.post(`${ROOT}/${user.user.id}/block`);
    await expect.poll(async () => (await user.get('/cabinet/auth/me')).status).toBe(403);
  });

  test('restrictions: null is unchanged, an empty reason clears', async () => {
    const { id } = await aUser(t.app);
    const set = async (body: unknown) => (await api.post(`${ROOT}/${id}/restrictions`, body)).body;
    expect(await set({ restriction_topup: true, restriction_reason: 'why' })).toMatchObject({
      success: true,
      restriction_topup: true,
      restriction_subscription: false,
      restriction_reason: 'why',
    });
    expect(await set({ restriction_subscription: true })).toMatchObject({ restriction_topup: true, restriction_reason: 'why' });
    expect(await set({ restriction_topup: false, restriction_reason: '' })).toMatchObject({
      restriction_topup: false,
      restriction_subscription: true,
      restriction_reason: null,
    });
  });

  test('promo group: the only one afterwards, or none', async () => {
    const user = await aUser(t.app);
    await aMembership(t.app, user.id, {});
    const groupId = await aMembership(t.app, (await aUser(t.app)).id, { name: `VIP ${user.id}` });
    const set = (promo_group_id: number | null) => api.post(`${ROOT}/${user.id}/promo-group`, { promo_group_id });
    expect((await set(groupId)).body).toMatchObject({ new_promo_group_id: groupId, promo_group_name: `VIP ${user.id}` });
    const groupsOf = () =>
      t.app.db.sql(
        `SELECT u.promo_group_id, m.promo_group_id AS member_of, m.assigned_by FROM users u
         LEFT JOIN user_promo_groups m ON m.user_id = u.id WHERE u.id = $1::int`,
        [user.id],
      );
    expect(await groupsOf()).toEqual([{ promoGroupId: groupId, memberOf: groupId, assignedBy: 'admin' }]);
    expect(await set(2_000_000_000)).toMatchObject({ status: 404, body: { detail: 'Promo group not found' } });
    expect((await set(null)).body).toMatchObject({
      old_promo_group_id: groupId,
      new_promo_group_id: null,
      promo_group_name: null,
    });
    expect(await groupsOf()).toEqual([{ promoGroupId: null, memberOf: null, assignedBy: null }]);
    await set(null);
    const recorded = await t.app.db.sql<{ extra: Record<string, unknown> }>(
      `SELECT extra FROM subscription_events WHERE event_type = 'promo_group_change' AND user_id = $1::int ORDER BY id`,
      [user.id],
    );
    const by = { reason: 'manual', initiator_id: api.user.id, initiator_messenger_id: api.user.messengerId, automatic: false };
    expect(recorded.map(({ extra }) => extra)).toEqual([
      {
        old_promo_group_id: expect.any(Number),
        old_promo_group_name: expect.any(String),
        new_promo_group_id: groupId,
        new_promo_group_name: `VIP ${user.id}`,
        ...by,
      },
      {
        old_promo_group_id: groupId,
        old_promo_group_name: `VIP ${user.id}`,
        new_promo_group_id: null,
        new_promo_group_name: null,
        ...by,
      },
    ]);
  });

  test('referral commission: percent or the default', async () => {
    const { id } = await aUser(t.app);
    const set = (commission_percent: unknown) => api.post(`${ROOT}/${id}/referral-commission`, { commission_percent });
    expect((await set(0)).body).toMatchObject({ old_commission_percent: null, new_commission_percent: 0 });
    expect((await set(null)).body).toMatchObject({ old_commission_percent: 0, new_commission_percent: null });
    expect((await set(101)).status).toBe(422);
    expect((await set(-1)).status).toBe(422);
  });
});

describe('subscription', () => {
  test('answers with the subscription as it is now', async () => {
    const { id } = await aUser(t.app);
    const run = (body: unknown) => api.post(`${ROOT}/${id}/subscription`, body);
    const made = await run({ action: 'create', days: 10 });
    expect(made.body).toMatchObject({
      success: true,
      subscription: { status: 'active', days_remaining: 10, traffic_limit_gb: 100 },
    });
    const moved = await run({ action: 'set_end_date', end_date: '2030-01-02T03:04:05' });
    expect(moved.body.subscription.end_date).toBe('2030-01-02T03:04:05.000Z');
    expect(await run({ action: 'create' })).toMatchObject({ status: 400, body: { detail: 'User already has a subscription' } });
    expect(await run({ action: 'fly' })).toMatchObject({ status: 400, body: { detail: 'Unknown action: fly' } });
    for (const bad of [
      { days: 0 },
      { days: 3651 },
      { traffic_gb: 0 },
      { device_limit: 0 },
      { traffic_limit_gb: -1 },
      { end_date: 'x' },
    ]) {
      expect((await run({ action: 'extend', ...bad })).status, JSON.stringify(bad)).toBe(422);
    }
    expect((await run({})).status).toBe(422);
    expect(await api.post(`${ROOT}/${(await aUser(t.app)).id}/subscription`, { action: 'cancel' })).toMatchObject({
      status: 404,
      body: { detail: 'User has no subscription' },
    });
  });

  test('resets', async () => {
    const subscriber = async (columns: Record<string, unknown> = {}): Promise<BuiltUser> => {
      const user = await aUser(t.app);
      await aStoredSubscription(t.app, user.id, columns);
      return user;
    };
    const [trial, paid, none] = [await subscriber({ is_trial: true }), await subscriber(), await aUser(t.app)];
    const resetTrial = async (id: number) => (await api.post(`${ROOT}/${id}/reset-trial`)).body;
    expect(await resetTrial(trial.id)).toMatchObject({ success: true, subscription_deleted: true });
    expect(await resetTrial(paid.id)).toMatchObject({ success: true, subscription_deleted: false });
    const reset = async (id: number) => (await api.post(`${ROOT}/${id}/reset-subscription`, { deactivate_in_panel: false })).body;
    expect(await reset(paid.id)).toMatchObject({
      success: true,
      subscription_deleted: true,
      panel_deactivated: false,
      panel_error: null,
    });
    expect(await reset(none.id)).toMatchObject({
      success: true,
      message: 'User has no subscription to reset',
      subscription_deleted: false,
    });
  });
});

describe('deletion', () => {
  test('is soft by default, with or without a body', async () => {
    for (const body of [undefined, {}, { soft_delete: true, reason: 'asked' }]) {
      const { id } = await aUser(t.app);
      const reply = await api.delete(`${ROOT}/${id}`, { body });
      expect(reply).toMatchObject({ status: 200, body: { success: true, message: expect.any(String) } });
      expect(await rowOf(t.app, 'SELECT status FROM users WHERE id = $1::int', [id])).toEqual({ status: 'deleted' });
    }
  });

  test('hard takes the row, unless money ever moved', async () => {
    const [plain, payer] = [await aUser(t.app), await aUser(t.app)];
    await api.post(`${ROOT}/${payer.id}/balance`, { amount_kopeks: 5 });
    const hard = (id: number) => api.delete(`${ROOT}/${id}`, { body: { soft_delete: false } });
    expect((await hard(plain.id)).body).toMatchObject({ success: true });
    expect((await api.get(`${ROOT}/${plain.id}`)).status).toBe(404);
    expect((await hard(payer.id)).status).toBe(409);
    expect((await api.get(`${ROOT}/${payer.id}`)).status).toBe(200);
  });

  test("spec 01 H18: full deletion keeps the payments without the user's data", async () => {
    const { id } = await aUser(t.app);
    await api.post(`${ROOT}/${id}/balance`, { amount_kopeks: 500 });
    expect((await api.delete(`${ROOT}/${id}/full`)).body).toMatchObject({
      success: true,
      deleted_from_bot: true,
      deleted_from_panel: false,
      panel_error: null,
    });
    const movements = await t.app.db.sql<{ kopeks: number }>(
      'SELECT amount_kopeks AS kopeks FROM transactions WHERE user_id = $1::int ORDER BY id DESC',
      [id],
    );
    expect(movements.map(({ kopeks }) => kopeks)).toEqual([-500, 500]);
  });

  test('spec 10 U8: an erased user is on no page, in no list, search or count, while a deleted one is', async () => {
    const token = await tokenClient(t.app, server);
    const erased = await aUser(t.app);
    const deleted = await aUser(t.app);
    const facts = async () => {
      const lists = await Promise.all([
        ...['created_at', 'balance', 'traffic', 'last_activity'].map((by) =>
          api.get(ROOT, { query: { sort_by: by, limit: 200 } }),
        ),
        api.get(ROOT, { query: { status: 'deleted', limit: 200 } }),
        token.get('/users', { query: { limit: 200 } }),
        token.get('/users', { query: { status: 'deleted', limit: 200 } }),
        token.get('/users', { query: { search: String(erased.id), limit: 200 } }),
        token.get('/users', { query: { search: 'erased', limit: 200 } }),
      ]);
      const ids = lists.map(({ body }) => (body.users ?? body.items).map((user: { id: number }) => user.id));
      const totals = lists.map(({ body }) => body.total);
      return {
        ids,
        totals,
        stats: (await api.get(`${ROOT}/stats`)).body,
        overview: (await token.get('/stats/overview')).body.users,
      };
    };
    await api.delete(`${ROOT}/${deleted.id}`);
    const before = await facts();
    expect(before.ids[0]).toContain(erased.id);
    await api.delete(`${ROOT}/${erased.id}/full`);
    const after = await facts();
    expect(after.ids.flat()).not.toContain(erased.id);
    expect(after.ids[4]).toContain(deleted.id);
    expect(after.totals.slice(0, 4)).toEqual(before.totals.slice(0, 4).map((total) => total - 1));
    expect(after.totals[4]).toBe(before.totals[4]);
    expect(after.totals[6]).toBe(before.totals[6]);
    expect(after.stats).toMatchObject({
      total_users: before.stats.total_users - 1,
      deleted_users: before.stats.deleted_users,
      active_users: before.stats.active_users - 1,
    });
    expect(after.overview.total).toBe(before.overview.total - 1);
    for (const reply of [
      await api.get(`${ROOT}/${erased.id}`),
      await api.get(`${ROOT}/${erased.id}/transactions`),
      await api.post(`${ROOT}/${erased.id}/status`, { status: 'active' }),
      await api.delete(`${ROOT}/${erased.id}/full`),
      await token.get(`/users/${erased.id}`),
      await token.patch(`/users/${erased.id}`, { first_name: 'X' }),
      await token.post(`/users/${erased.id}/balance`, { amount_kopeks: 100 }),
    ]) {
      expect(reply).toMatchObject({ status: 404, body: { detail: 'User not found' } });
    }
    expect((await api.get(`${ROOT}/${deleted.id}`)).status).toBe(200);
  });

  test('disable blocks', async () => {
    const { id } = await aUser(t.app);
    expect((await api.post(`${ROOT}/${id}/disable`)).body).toMatchObject({
      success: true,
      user_blocked: true,
      subscription_deactivated: false,
      panel_deactivated: false,
      panel_error: null,
    });
  });
});
