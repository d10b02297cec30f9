import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import type { Rows } from '../../src/core/db/columns.ts';
import { postMovement } from '../../src/domain/ledger/post-movement.ts';
import { PanelError } from '../../src/domain/provisioning/ports.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { storeRow, storeRows } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const path = '/cabinet/admin/tariffs';
let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['tariffs:*']);
  await storeRows(t.app, 'ServerSquad', [
    { squadUuid: 'nl', displayName: 'Netherlands', countryCode: 'NL', sortOrder: 1 },
    { squadUuid: 'de', displayName: 'Germany', countryCode: 'DE', sortOrder: 0 },
  ]);
});
afterAll(() => server.close());

async function create(body: Record<string, unknown> = {}) {
  const made = await admin.post(path, { name: 'Basic', ...body });
  expect(made.status).toBe(200);
  return made.body;
}

async function subscribe(tariffId: number, status: Rows['Subscription']['status'] = 'active', days = 10, isTrial = false) {
  const user = await aUser(t.app);
  await storeRow(t.app, 'Subscription', {
    userId: user.id,
    status,
    isTrial,
    endDate: addDays(t.app.clock.now(), days),
    tariffId,
  });
  return user;
}

describe('admin tariffs', () => {
  it('needs a session and the permission of the operation', async () => {
    expect((await clientOf(server).get(path)).status).toBe(401);
    const reader = await adminClient(t.app, server, ['tariffs:read']);
    expect((await reader.get(path)).status).toBe(200);
    expect((await reader.post(path, { name: 'x' })).status).toBe(403);
    const editor = await adminClient(t.app, server, ['tariffs:edit']);
    const { id } = await create();
    expect((await editor.delete(`${path}/${id}`)).status).toBe(403);
    expect((await editor.get(`${path}/${id}`)).status).toBe(403);
    expect((await editor.post(`${path}/${id}/toggle`)).status).toBe(200);
  });

  it('fills what a creation leaves out and shows servers and groups to choose from', async () => {
    const [group] = await t.app.db.sql<{ id: number; name: string }>('SELECT id, name FROM promo_groups WHERE is_default');
    const body = await create({
      name: ' Basic ',
      period_prices: [
        { days: 90, price_kopeks: 25050 },
        { days: 30, price_kopeks: 9900, price_rubles: 1 },
      ],
      allowed_squads: ['nl'],
      server_traffic_limits: { nl: { traffic_limit_gb: 50 } },
      promo_group_ids: [group!.id, 99_999_999],
    });
    expect(body).toEqual({
      id: expect.any(Number),
      name: 'Basic',
      description: null,
      is_active: true,
      is_trial_available: false,
      allow_traffic_topup: true,
      traffic_topup_enabled: false,
      traffic_topup_packages: {},
      max_topup_traffic_gb: 0,
      traffic_limit_gb: 0,
      device_limit: 1,
      device_price_kopeks: null,
      max_device_limit: null,
      tier_level: 1,
      display_order: 0,
      period_prices: [
        { days: 30, price_kopeks: 9900, price_rubles: 99 },
        { days: 90, price_kopeks: 25050, price_rubles: 250.5 },
      ],
      allowed_squads: ['nl'],
      server_traffic_limits: { nl: { traffic_limit_gb: 50 } },
      servers: [
        {
          id: expect.any(Number),
          squad_uuid: 'de',
          display_name: 'Germany',
          country_code: 'DE',
          is_selected: false,
          traffic_limit_gb: null,
        },
        {
          id: expect.any(Number),
          squad_uuid: 'nl',
          display_name: 'Netherlands',
          country_code: 'NL',
          is_selected: true,
          traffic_limit_gb: 50,
        },
      ],
      promo_groups: [{ id: group!.id, name: group!.name, is_selected: true }],
      subscriptions_count: 0,
      custom_days_enabled: false,
      price_per_day_kopeks: 0,
      min_days: 1,
      max_days: 365,
      custom_traffic_enabled: false,
      traffic_price_per_gb_kopeks: 0,
      min_traffic_gb: 1,
      max_traffic_gb: 1000,
      is_daily: false,
      daily_price_kopeks: 0,
      traffic_reset_mode: null,
      external_squad_uuid: null,
      show_in_gift: true,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    });
    expect((await admin.get(`${path}/${body.id}`)).body).toEqual(body);
  });

  it.each([
    [{ name: '' }, ['body', 'name'], 'string_too_short'],
    [{ name: 'x', device_limit: 0 }, ['body', 'device_limit'], 'greater_than_equal'],
    [{ name: 'x', tier_level: 11 }, ['body', 'tier_level'], 'less_than_equal'],
    [{ name: 'x', period_prices: [{ days: 0, price_kopeks: 1 }] }, ['body', 'period_prices', '0', 'days'], 'greater_than_equal'],
    [{ name: 'x', external_squad_uuid: 'nope' }, ['body', 'external_squad_uuid'], 'string_pattern_mismatch'],
    [{ name: 'x', traffic_reset_mode: 'HOURLY' }, ['body', 'traffic_reset_mode'], 'literal_error'],
    [{}, ['body', 'name'], 'missing'],
  ])('refuses %o', async (body, loc, type) => {
    const reply = await admin.post(path, body);
    expect(reply.status).toBe(422);
    expect(reply.body.detail).toContainEqual(expect.objectContaining({ loc, type }));
  });

  it('changes what is given, while an explicit null clears two fields and leaves the others', async () => {
    const { id } = await create({
      description: 'd',
      traffic_reset_mode: 'MONTH_ROLLING',
      external_squad_uuid: 'e87e4a00-0000-4000-8000-000000000001',
    });
    const kept = await admin.put(`${path}/${id}`, { description: null, device_limit: 3 });
    expect(kept.body).toMatchObject({ description: 'd', device_limit: 3, traffic_reset_mode: 'MONTH_ROLLING' });
    const cleared = await admin.put(`${path}/${id}`, { traffic_reset_mode: null, external_squad_uuid: null });
    expect(cleared.body).toMatchObject({ traffic_reset_mode: null, external_squad_uuid: null, description: 'd' });
  });

  it('lists by order with the numbers of subscriptions and of servers that a purchase gives (08 P5)', async () => {
    const [first, second] = [await create({ name: 'First' }), await create({ name: 'Second', is_active: false })];
    await subscribe(first.id);
    await subscribe(first.id, 'expired', -1);
    const ordered = await admin.put(`${path}/order`, { tariff_ids: [second.id, 99_999_999, first.id] });
    expect(ordered).toMatchObject({ status: 200, body: { message: expect.any(String) } });
    const all = (await admin.get(path)).body;
    const mine = all.tariffs.filter((tariff: { id: number }) => [first.id, second.id].includes(tariff.id));
    expect(mine).toMatchObject([
      { id: second.id, display_order: 0, subscriptions_count: 0, is_active: false },
      { id: first.id, display_order: 2, subscriptions_count: 2, servers_count: 2 },
    ]);
    expect(all.total).toBe(all.tariffs.length);
    await t.app.db.sql('UPDATE server_squads SET is_available = NOT is_available');
    const closed = (await admin.get(path)).body.tariffs.find((tariff: { id: number }) => tariff.id === first.id);
    await t.app.db.sql('UPDATE server_squads SET is_available = NOT is_available');
    expect(closed.servers_count).toBe(0);
    const active = (await admin.get(path, { query: { include_inactive: false } })).body;
    expect(active.tariffs.map((tariff: { id: number }) => tariff.id)).not.toContain(second.id);
    expect((await admin.put(`${path}/order`, { tariff_ids: [] })).status).toBe(422);
  });

  it('flips the flags', async () => {
    const [a, b] = [await create(), await create()];
    expect((await admin.post(`${path}/${a.id}/toggle`)).body).toEqual({
      id: a.id,
      is_active: false,
      message: expect.any(String),
    });
    expect((await admin.post(`${path}/${a.id}/trial`)).body).toMatchObject({ id: a.id, is_trial_available: true });
    expect((await admin.post(`${path}/${b.id}/trial`)).body).toMatchObject({ id: b.id, is_trial_available: true });
    expect((await admin.get(`${path}/${a.id}`)).body.is_trial_available).toBe(false);
  });

  it('counts subscriptions and what their owners ever paid', async () => {
    const { id } = await create({ name: 'Counted' });
    const payer = await subscribe(id);
    await subscribe(id, 'active', 5, true);
    await subscribe(id, 'expired', -5);
    const move = (type: 'deposit' | 'subscription_payment', amountKopeks: number) =>
      postMovement(t.app, {
        userId: payer.id,
        type,
        amountKopeks,
        contra: { kind: 'manual_adjustment' },
        paymentMethod: 'balance',
        description: null,
      });
    await move('deposit', 50_000);
    await move('subscription_payment', -9_000);
    await move('subscription_payment', -950);
    expect((await admin.get(`${path}/${id}/stats`)).body).toEqual({
      id,
      name: 'Counted',
      subscriptions_count: 3,
      active_subscriptions: 2,
      trial_subscriptions: 1,
      revenue_kopeks: 9950,
      revenue_rubles: 99.5,
    });
  });

  it('leaves what was and what is in the audit log', async () => {
    const tariff = await create({ name: 'Audited' });
    expect((await admin.put(`${path}/${tariff.id}`, { name: 'Renamed' })).status).toBe(200);
    const [row] = await t.app.db.sql<{ details: { before: { name: string }; after: { name: string } }; status: string }>(
      `SELECT details, status FROM admin_audit_log WHERE request_method = 'PUT' AND request_path = $1`,
      [`${path}/${tariff.id}`],
    );
    expect(row).toMatchObject({ status: 'success', details: { before: { name: 'Audited' }, after: { name: 'Renamed' } } });
  });

  it('deletes an unused tariff and refuses a used one (spec 02 H18)', async () => {
    const [used, free] = [await create(), await create({ name: 'Free' })];
    await subscribe(used.id);
    await subscribe(free.id, 'expired', -3);
    expect((await admin.delete(`${path}/${used.id}`)).status).toBe(409);
    expect(await admin.delete(`${path}/${free.id}`)).toMatchObject({
      status: 200,
      body: { message: expect.any(String), affected_subscriptions: 1 },
    });
    expect((await admin.get(`${path}/${free.id}`)).status).toBe(404);
  });

  it('offers servers, and the external squads of the panel', async () => {
    const servers = (await admin.get(`${path}/available-servers`)).body;
    expect(servers).toMatchObject([{ squad_uuid: 'de', is_selected: false, traffic_limit_gb: null }, { squad_uuid: 'nl' }]);
    const squads = (await admin.get(`${path}/available-external-squads`)).body;
    expect(squads).toContainEqual({ uuid: expect.any(String), name: 'Partners', members_count: expect.any(Number) });
  });

  it('refuses to list external squads while the panel does not answer', async () => {
    const listExternalSquads = () => Promise.reject(new PanelError('unavailable', 'the panel is away'));
    const panel = new Proxy(t.app.ports.panel, {
      get: (port, name) => (name === 'listExternalSquads' ? listExternalSquads : Reflect.get(port, name)),
    });
    const away = await testServer({ ...t.app, ports: { ...t.app.ports, panel } });
    try {
      const client = clientOf(away, { authorization: `Bearer ${admin.accessToken}` });
      const { status, body } = await client.get(`${path}/available-external-squads`);
      expect([status, body.detail]).toEqual([502, expect.stringContaining('the panel is away')]);
    } finally {
      await away.close();
    }
  });

  it('syncs the squads of its subscriptions', async () => {
    const { id } = await create({ name: 'Synced' });
    await subscribe(id);
    expect(await admin.post(`${path}/${id}/sync-squads`)).toMatchObject({
      status: 200,
      body: {
        tariff_id: id,
        tariff_name: 'Synced',
        total_subscriptions: 1,
        updated_count: 0,
        failed_count: 0,
        skipped_count: 1,
        errors: [],
      },
    });
  });

  it.each(['get ', 'put ', 'delete ', 'post /toggle', 'post /trial', 'get /stats', 'post /sync-squads'])(
    'answers 404 for an unknown id: %s',
    async (call) => {
      const [method, suffix] = call.split(' ') as ['get' | 'put' | 'delete' | 'post', string];
      for (const id of [99_999_999, 9_999_999_999]) {
        const url = `${path}/${id}${suffix}`;
        const reply = method === 'put' ? await admin.put(url, {}) : await admin[method](url);
        expect(reply).toMatchObject({ status: 404, body: { detail: 'Tariff not found' } });
      }
    },
  );
});
