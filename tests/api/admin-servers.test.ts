import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import type { Rows } from '../../src/core/db/columns.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { testServer, tokenClient } from '../support/api.ts';
import { aUser, defaultGroupId } from '../support/builders.ts';
import { storeRow, storeRows } from '../support/stored-rows.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const path = '/cabinet/admin/servers';
let t: TestApp;
let server: FastifyInstance;
let admin: ActorClient;
let id: number;
let groupId: number;

beforeAll(async () => {
  t = await testApp();
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['servers:*']);
});
afterAll(() => server.close());

beforeEach(async () => {
  for (const table of ['subscriptions', 'server_squads', 'tariffs']) await t.app.db.sql(`DELETE FROM ${table}`);
  const server = {
    squadUuid: 'nl',
    displayName: 'Netherlands',
    originalName: 'NL-1',
    countryCode: 'NL',
    priceKopeks: 1_550,
    maxUsers: 3,
  };
  ({ id } = await storeRow(t.app, 'ServerSquad', server));
  groupId = await defaultGroupId(t.app);
  await storeRow(t.app, 'ServerSquadPromoGroup', { serverSquadId: id, promoGroupId: groupId });
});

async function subscribe(status: Rows['Subscription']['status'], isTrial = false) {
  const user = await aUser(t.app);
  await storeRow(t.app, 'Subscription', {
    userId: user.id,
    status,
    isTrial,
    endDate: addDays(t.app.clock.now(), 5),
    connectedSquads: ['nl'],
  });
}

describe('admin servers', () => {
  it('needs the permission', async () => {
    const reader = await adminClient(t.app, server, ['servers:read']);
    expect((await reader.get(path)).status).toBe(200);
    for (const call of ['toggle', 'trial']) expect((await reader.post(`${path}/${id}/${call}`)).status).toBe(403);
    expect((await reader.post(`${path}/sync`)).status).toBe(403);
  });

  it('lists every server, not a first page of them (spec 02 H16)', async () => {
    await storeRows(
      t.app,
      'ServerSquad',
      Array.from({ length: 70 }, (_, n) => ({
        squadUuid: `s${n + 1}`,
        displayName: 'S',
        sortOrder: n + 1,
        isAvailable: n >= 10,
      })),
    );
    const all = (await admin.get(path)).body;
    expect(all.total).toBe(71);
    expect(all.servers).toHaveLength(71);
    expect(all.servers[0]).toEqual({
      id,
      squad_uuid: 'nl',
      display_name: 'Netherlands',
      original_name: 'NL-1',
      country_code: 'NL',
      is_available: true,
      is_trial_eligible: false,
      price_kopeks: 1550,
      price_rubles: 15.5,
      max_users: 3,
      current_users: 0,
      sort_order: 0,
      is_full: false,
      availability_status: 'available',
      created_at: expect.stringMatching(/Z$/),
    });
    expect((await admin.get(path, { query: { include_unavailable: false } })).body.total).toBe(61);
  });

  it('shows a server with its groups, holders and tariffs', async () => {
    await storeRows(t.app, 'Tariff', [
      { name: 'Uses it', allowedSquads: ['nl'] },
      { name: 'Does not', allowedSquads: [] },
    ]);
    await subscribe('active');
    await subscribe('expired');
    const body = (await admin.get(`${path}/${id}`)).body;
    expect(body).toMatchObject({
      id,
      description: null,
      active_subscriptions: 1,
      tariffs_using: ['Uses it'],
      updated_at: expect.stringMatching(/Z$/),
    });
    expect(body.promo_groups).toContainEqual({ id: groupId, name: expect.any(String), is_selected: true });
  });

  it('changes what is given, and takes 0 users as no cap', async () => {
    const changed = await admin.put(`${path}/${id}`, {
      display_name: 'Holland',
      max_users: 0,
      description: null,
      price_kopeks: 0,
    });
    expect(changed.body).toMatchObject({ display_name: 'Holland', max_users: null, price_kopeks: 0, country_code: 'NL' });
    expect((await admin.put(`${path}/${id}`, { country_code: 'TOOLONG' })).status).toBe(422);
    expect((await admin.put(`${path}/${id}`, { price_kopeks: -1 })).status).toBe(422);
    expect((await admin.put(`${path}/${id}`, { promo_group_ids: [] })).status).toBe(400);
    expect((await admin.put(`${path}/${id}`, { promo_group_ids: [99_999_999] })).status).toBe(400);
    expect((await admin.put(`${path}/${id}`, { display_name: 'Lost', promo_group_ids: [] })).status).toBe(400);
    expect((await admin.get(`${path}/${id}`)).body.display_name).toBe('Holland');
  });

  it('flips the flags', async () => {
    expect((await admin.post(`${path}/${id}/toggle`)).body).toEqual({ id, is_available: false, message: expect.any(String) });
    expect((await admin.get(`${path}/${id}`)).body.availability_status).toBe('unavailable');
    expect((await admin.post(`${path}/${id}/trial`)).body).toEqual({ id, is_trial_eligible: true, message: expect.any(String) });
  });

  it('counts', async () => {
    await subscribe('active', true);
    await subscribe('trial', true);
    expect((await admin.get(`${path}/${id}/stats`)).body).toEqual({
      id,
      display_name: 'Netherlands',
      squad_uuid: 'nl',
      current_users: 2,
      max_users: 3,
      active_subscriptions: 2,
      trial_subscriptions: 1,
      usage_percent: 66.7,
    });
    await admin.put(`${path}/${id}`, { max_users: 0 });
    expect((await admin.get(`${path}/${id}/stats`)).body).toMatchObject({ max_users: null, usage_percent: null });
  });

  it('reads the servers from the panel', async () => {
    const { body } = await admin.post(`${path}/sync`);
    expect(body).toMatchObject({ created: expect.any(Number), updated: 1, removed: 0, message: expect.any(String) });
    expect(body.created).toBeGreaterThan(0);
    expect((await admin.post(`${path}/sync`)).body).toMatchObject({ created: 0, removed: 1 });
  });

  it('refuses to read the servers while no panel is configured', async () => {
    const panel = new Proxy(t.app.ports.panel, {
      get: (port, name) => (name === 'configurationError' ? () => 'no panel' : Reflect.get(port, name)),
    });
    const closing = await testServer({ ...t.app, ports: { ...t.app.ports, panel } });
    try {
      const { status, body } = await (await adminClient(t.app, closing, ['servers:*'])).post(`${path}/sync`);
      expect([status, body.detail]).toEqual([400, 'VpnPanel is not configured']);
      const web = await (await tokenClient(t.app, closing)).post('/servers/sync');
      expect([web.status, web.body.detail]).toEqual([503, 'no panel']);
    } finally {
      await closing.close();
    }
  });

  it.each(['get ', 'put ', 'post /toggle', 'post /trial', 'get /stats'])('answers 404 for an unknown id: %s', async (call) => {
    const [method, suffix] = call.split(' ') as ['get' | 'put' | 'post', string];
    for (const unknown of [99_999_999, 9_999_999_999]) {
      const url = `${path}/${unknown}${suffix}`;
      const reply = method === 'put' ? await admin.put(url, {}) : await admin[method](url);
      expect(reply).toMatchObject({ status: 404, body: { detail: 'Server not found' } });
    }
  });
});
