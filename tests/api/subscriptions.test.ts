import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { recordedEventsOf } from '../support/recorded-events.ts';
import { aServer, aStoredSubscription, aTariff, rowOf } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

let t: TestApp;
let server: FastifyInstance;
let api: ApiClient;
beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  api = await tokenClient(t.app, server);
});
afterAll(() => server.close());

const DAY = 86_400_000;
const inDays = (days: number) => new Date(t.clock.now().getTime() + days * DAY).toISOString();

/** Version of the desired state and number of queued pushes to the panel (spec 02 H15). */
async function provisioningOf(id: number): Promise<{ version: number; pushes: number }> {
  return rowOf(
    t.app,
    `SELECT provision_version AS version, (SELECT count(*)::int FROM jobs.job j
       WHERE j.name = 'provisioning.push' AND j.data ->> 'subscriptionId' = s.id::text) AS pushes
     FROM subscriptions s WHERE id = $1::int`,
    [id],
  );
}

async function stored(columns: Record<string, unknown> = {}): Promise<{ id: number; userId: number }> {
  const user = await aUser(t.app);
  return { id: await aStoredSubscription(t.app, user.id, columns), userId: user.id };
}

describe('POST /subscriptions', () => {
  test('gives a paid subscription with the defaults, without a charge and without a notification', async () => {
    const first = await aServer(t.app, { sort_order: -1_000_000 });
    const user = await aUser(t.app);
    const made = await api.post('/subscriptions', { user_id: user.id, duration_days: 30 });
    expect(made.status).toBe(200);
    expect(made.body).toEqual({
      id: expect.any(Number),
      user_id: user.id,
      status: 'active',
      actual_status: 'active',
      is_trial: false,
      start_date: t.clock.now().toISOString(),
      end_date: inDays(30),
      traffic_limit_gb: 100,
      traffic_used_gb: 0,
      device_limit: 1,
      autopay_enabled: false,
      autopay_days_before: 3,
      subscription_url: null,
      subscription_crypto_link: null,
      connected_squads: [first.uuid],
      created_at: t.clock.now().toISOString(),
      updated_at: t.clock.now().toISOString(),
    });
    expect(await provisioningOf(made.body.id)).toEqual({ version: 1, pushes: 1 });
    expect(await recordedEventsOf(t.app, user.id)).toEqual([]);
    await t.app.db.sql('DELETE FROM server_squads WHERE id = $1::int RETURNING id', [first.id]);
  });

  test('takes `period_days` as a synonym', async () => {
    const user = await aUser(t.app);
    const made = await api.post('/subscriptions', { user_id: user.id, period_days: 7, traffic_limit_gb: 0, device_limit: 4 });
    expect(made.body).toMatchObject({ end_date: inDays(7), traffic_limit_gb: 0, device_limit: 4 });
  });

  test('gives a trial with the trial settings and a random eligible server', async () => {
    const eligible = await aServer(t.app, { is_trial_eligible: true });
    const user = await aUser(t.app);
    const made = await api.post('/subscriptions', { user_id: user.id, is_trial: true, traffic_limit_gb: 0 });
    expect(made.body).toMatchObject({
      is_trial: true,
      status: 'active',
      end_date: inDays(3),
      traffic_limit_gb: 10,
      device_limit: 2,
      connected_squads: [eligible.uuid],
    });
  });

  test('replaces only with replace_existing, and then resets everything but autopay (spec 02 H20)', async () => {
    const squad = await aServer(t.app);
    const { id, userId } = await stored({
      tariff_id: await aTariff(t.app, { is_daily: true }),
      is_daily_paused: true,
      traffic_used_gb: 5,
      subscription_url: 'https://panel/sub/x',
      autopay_enabled: true,
    });
    const body = { user_id: userId, duration_days: 10, connected_squads: [squad.uuid, squad.uuid] };
    expect(await api.post('/subscriptions', body)).toMatchObject({
      status: 400,
      body: { detail: 'User already has a subscription' },
    });
    const replaced = await api.post('/subscriptions', { ...body, replace_existing: true });
    expect(replaced.body).toMatchObject({
      id,
      end_date: inDays(10),
      traffic_used_gb: 0,
      subscription_url: null,
      autopay_enabled: true,
      connected_squads: [squad.uuid],
    });
    const row = await rowOf<object>(t.app, 'SELECT tariff_id, is_daily_paused FROM subscriptions WHERE id = $1::int', [id]);
    expect(row).toEqual({ tariffId: null, isDailyPaused: false });
  });

  test.each([
    ['an unknown user', { user_id: 2_000_000_000, duration_days: 1 }, 404, 'User not found'],
    ['an id that no user can have', { user_id: 2 ** 40, duration_days: 1 }, 404, 'User not found'],
    ['no days for a paid one', {}, 400, 'duration_days is required for paid subscriptions'],
    ['an unknown server', { duration_days: 1, connected_squads: ['nowhere'] }, 404, 'Server not found'],
  ])('refuses %s', async (_name, body, status, detail) => {
    const user = await aUser(t.app);
    expect(await api.post('/subscriptions', { user_id: user.id, ...body })).toMatchObject({ status, body: { detail } });
    const rows = await t.app.db.sql('SELECT id FROM subscriptions WHERE user_id = $1::int', [user.id]);
    expect(rows).toEqual([]);
  });

  test.each([
    ['duration_days', 0, 'greater_than', { gt: 0 }],
    ['duration_days', -5, 'greater_than', { gt: 0 }],
    ['duration_days', 40_000, 'less_than_equal', { le: 36_500 }],
    ['traffic_limit_gb', -1, 'greater_than_equal', { ge: 0 }],
    ['device_limit', -1, 'greater_than_equal', { ge: 0 }],
  ])('%s = %d is 422 (spec 02 H14)', async (field, value, type, ctx) => {
    const user = await aUser(t.app);
    const reply = await api.post('/subscriptions', { user_id: user.id, duration_days: 1, [field]: value });
    expect(reply).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field], type, ctx, input: value }] } });
  });

  test.each([
    [{ period_days: 0 }, 'period_days'],
    [{ period_days: 36_501 }, 'period_days'],
    [{ period_days: 0, duration_days: null }, 'period_days'],
    [{ period_days: 5, duration_days: 0 }, 'duration_days'],
  ])('a refusal of days out of bounds names the field of the request: %j', async (days, field) => {
    const user = await aUser(t.app);
    const reply = await api.post('/subscriptions', { user_id: user.id, ...days });
    expect(reply).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } });
  });
});

describe('GET /subscriptions', () => {
  test('lists newest first, filtered and paged, with stored and actual status', async () => {
    const { id, userId } = await stored({ is_trial: true, end_date: new Date(t.clock.now().getTime() - 1) });
    const mine = await api.get('/subscriptions', { query: { user_id: userId } });
    expect(mine.body).toMatchObject([{ id, status: 'active', actual_status: 'expired' }]);
    const older = await stored({ status: 'limited', created_at: new Date(0) });
    const limited = await api.get('/subscriptions', { query: { status: 'limited', limit: 200 } });
    expect(limited.body.map((row: { id: number }) => row.id)).toContain(older.id);
    expect(limited.body.every((row: { status: string }) => row.status === 'limited')).toBe(true);
    const everyone = await api.get('/subscriptions', { query: { user_id: 0, limit: 200 } });
    expect(everyone.body.length).toBeGreaterThan(1);
    expect(everyone.body.at(-1).id).toBe(older.id);
    const page = await api.get('/subscriptions', { query: { limit: 1, offset: 1 } });
    expect(page.body).toEqual([everyone.body[1]]);
    expect((await api.get('/subscriptions', { query: { is_trial: true, user_id: userId } })).body).toHaveLength(1);
    expect((await api.get('/subscriptions', { query: { is_trial: false, user_id: userId } })).body).toEqual([]);
    expect((await api.get('/subscriptions', { query: { offset: 10 ** 12 } })).body).toEqual([]);
  });

  test.each([
    ['limit', 0],
    ['limit', 201],
    ['offset', -1],
    ['status', 'unknown'],
  ])('%s=%s is 422', async (name, value) => {
    expect(await api.get('/subscriptions', { query: { [name]: value } })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', name] }] },
    });
  });
});

describe('one subscription', () => {
  test('is read by id', async () => {
    const { id } = await stored();
    expect(await api.get(`/subscriptions/${id}`)).toMatchObject({ status: 200, body: { id, status: 'active' } });
  });

  test.each([
    ['get', ''],
    ['delete', ''],
    ['post', '/extend', { days: 1 }],
    ['post', '/traffic', { gb: 1 }],
    ['post', '/devices', { devices: 1 }],
    ['post', '/squads', { squad_uuid: 'x' }],
    ['delete', '/squads/x'],
  ] as const)('%s %s of an unknown id is 404', async (method, path, body?: object) => {
    for (const id of [2_000_000_000, 2 ** 40, 0, -1]) {
      const reply =
        method === 'post'
          ? await api.post(`/subscriptions/${id}${path}`, body)
          : await api[method](`/subscriptions/${id}${path}`);
      expect(reply).toMatchObject({ status: 404, body: { detail: 'Subscription not found' } });
    }
  });

  test('is extended and active again, and the panel is updated (spec 02 H15)', async () => {
    const { id } = await stored({ status: 'expired', end_date: new Date(t.clock.now().getTime() - DAY) });
    const reply = await api.post(`/subscriptions/${id}/extend`, { days: 5 });
    expect(reply).toMatchObject({ status: 200, body: { status: 'active', end_date: inDays(5) } });
    expect(await provisioningOf(id)).toEqual({ version: 1, pushes: 1 });
    expect((await api.post(`/subscriptions/${id}/extend`, { days: 0 })).status).toBe(422);
    expect((await api.post(`/subscriptions/${id}/extend`, { days: 36_500 })).status).toBe(422);
  });

  test('gets traffic for 30 days, unless it is unlimited (spec 02 H25)', async () => {
    const { id } = await stored({ status: 'limited', traffic_limit_gb: 10 });
    expect((await api.post(`/subscriptions/${id}/traffic`, { gb: 5 })).body).toMatchObject({
      status: 'active',
      traffic_limit_gb: 15,
    });
    const row = await rowOf<object>(
      t.app,
      `SELECT s.purchased_traffic_gb, s.traffic_reset_at, p.traffic_gb, p.expires_at FROM subscriptions s
       JOIN traffic_purchases p ON p.subscription_id = s.id WHERE s.id = $1::int`,
      [id],
    );
    expect(row).toEqual({
      purchasedTrafficGb: 5,
      trafficResetAt: new Date(inDays(30)),
      trafficGb: 5,
      expiresAt: new Date(inDays(30)),
    });
    expect(await provisioningOf(id)).toEqual({ version: 1, pushes: 1 });
    const unlimited = await stored({ traffic_limit_gb: 0 });
    expect(await api.post(`/subscriptions/${unlimited.id}/traffic`, { gb: 5 })).toMatchObject({ status: 400 });
  });

  test('gets devices up to the cap', async () => {
    const { id } = await stored({ device_limit: 18 });
    expect((await api.post(`/subscriptions/${id}/devices`, { devices: 1 })).body.device_limit).toBe(19);
    expect((await api.post(`/subscriptions/${id}/devices`, { devices: 2 ** 50 })).body.device_limit).toBe(20);
    expect(await provisioningOf(id)).toMatchObject({ version: 2 });
  });

  test('servers are connected and disconnected, and the panel is updated each time (spec 02 H15)', async () => {
    const squad = await aServer(t.app);
    const { id } = await stored();
    expect(await api.post(`/subscriptions/${id}/squads`, { squad_uuid: '' })).toMatchObject({
      status: 400,
      body: { detail: 'squad_uuid is required' },
    });
    expect(await api.post(`/subscriptions/${id}/squads`, { squad_uuid: 'nowhere' })).toMatchObject({ status: 404 });
    for (const _again of [1, 2]) {
      expect((await api.post(`/subscriptions/${id}/squads`, { squad_uuid: squad.uuid })).body.connected_squads).toEqual([
        squad.uuid,
      ]);
    }
    const linked = () => t.app.db.sql('SELECT server_squad_id FROM subscription_servers WHERE subscription_id = $1::int', [id]);
    expect(await linked()).toEqual([{ serverSquadId: squad.id }]);
    expect((await api.delete(`/subscriptions/${id}/squads/${squad.uuid}`)).body.connected_squads).toEqual([]);
    expect((await api.delete(`/subscriptions/${id}/squads/${squad.uuid}`)).status).toBe(200);
    expect(await linked()).toEqual([]);
    expect(await provisioningOf(id)).toMatchObject({ version: 4, pushes: 1 });
  });

  test('is disabled but not deleted', async () => {
    const { id } = await stored();
    expect(await api.delete(`/subscriptions/${id}`)).toMatchObject({
      status: 200,
      body: { id, status: 'disabled', actual_status: 'disabled' },
    });
    expect((await api.get(`/subscriptions/${id}`)).body.status).toBe('disabled');
    expect(await provisioningOf(id)).toEqual({ version: 1, pushes: 1 });
  });

  test('needs a credential', async () => {
    expect((await clientOf(server).get('/subscriptions')).status).toBe(401);
  });
});
