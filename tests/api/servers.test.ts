import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDays } from '../../src/core/clock.ts';
import type { Rows } from '../../src/core/db/columns.ts';
import { PanelError } from '../../src/domain/provisioning/ports.ts';
import { type ApiClient, clientOf, testServer, tokenClient } from '../support/api.ts';
import { aUser } from '../support/builders.ts';
import { storeRow } from '../support/stored-rows.ts';
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
beforeEach(async () => {
  await t.app.db.sql('DELETE FROM subscriptions');
  await t.app.db.sql('DELETE FROM server_squads');
});

async function create(body: Record<string, unknown> = {}) {
  const made = await api.post('/servers', { squadUuid: 'nl', displayName: 'Netherlands', ...body });
  expect(made.status).toBe(200);
  return made.body;
}

async function subscribe(fields: {
  squads?: string[];
  status?: Rows['Subscription']['status'];
  serverId?: number;
  paid?: number;
}) {
  const user = await aUser(t.app);
  const row = await storeRow(t.app, 'Subscription', {
    userId: user.id,
    status: fields.status ?? 'active',
    endDate: addDays(t.app.clock.now(), 5),
    connectedSquads: fields.squads ?? [],
  });
  if (fields.serverId !== undefined) {
    await storeRow(t.app, 'SubscriptionServer', {
      subscriptionId: row.id,
      serverSquadId: fields.serverId,
      paidPriceKopeks: fields.paid ?? 0,
    });
  }
  return { user, subscriptionId: row.id };
}

describe('servers', () => {
  it('needs a token', async () => {
    expect((await clientOf(server).get('/servers')).status).toBe(401);
  });

  it('creates a server of the default group and reads it back', async () => {
    const made = await create({ countryCode: 'NL', priceKopeks: 1550, maxUsers: 10 });
    expect(made).toEqual({
      id: expect.any(Number),
      squadUuid: 'nl',
      displayName: 'Netherlands',
      originalName: null,
      countryCode: 'NL',
      isAvailable: true,
      isTrialEligible: false,
      priceKopeks: 1550,
      priceRubles: 15.5,
      description: null,
      sortOrder: 0,
      maxUsers: 10,
      currentUsers: 0,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      promoGroups: [
        {
          id: expect.any(Number),
          name: expect.any(String),
          server_discount_percent: 0,
          traffic_discount_percent: 0,
          device_discount_percent: 0,
          apply_discounts_to_addons: true,
        },
      ],
    });
    expect((await api.get(`/servers/${made.id}`)).body).toEqual(made);
    const again = await api.post('/servers', { squadUuid: 'nl', displayName: 'Again' });
    expect(again).toMatchObject({ status: 400, body: { detail: 'Server with this UUID already exists' } });
  });

  it('refuses a server without a group or with values that no column holds', async () => {
    const detail = 'Server squad must be linked to at least one promo group';
    for (const promoGroupIds of [[], [99_999_999]]) {
      const reply = await api.post('/servers', { squadUuid: 'x', displayName: 'X', promoGroupIds });
      expect(reply).toMatchObject({ status: 400, body: { detail } });
    }
    for (const [field, value] of [
      ['countryCode', 'TOOLONG'],
      ['priceKopeks', -1],
      ['priceKopeks', 3_000_000_000],
      ['displayName', 'x'.repeat(256)],
    ] as const) {
      const reply = await api.post('/servers', { squadUuid: 'x', displayName: 'X', [field]: value });
      expect(reply.status).toBe(422);
      expect(reply.body.detail[0].loc).toEqual(['body', field]);
    }
  });

  it('pages, filters and searches in any case, taking the search literally', async () => {
    await create({ squadUuid: 'a', displayName: 'Beta', sortOrder: 1 });
    await create({ squadUuid: 'b', displayName: 'alpha 100%', sortOrder: 1, originalName: 'Origin', isAvailable: false });
    await create({ squadUuid: 'c', displayName: 'Zeta', sortOrder: 0, countryCode: 'DE' });
    const names = async (query: Record<string, string | number | boolean>) =>
      (await api.get('/servers', { query })).body.items.map((item: { squadUuid: string }) => item.squadUuid);
    expect(await names({ limit: 2 })).toEqual((await names({})).slice(0, 2));
    expect((await names({}))[0]).toBe('c');
    expect((await api.get('/servers', { query: { page: 2, limit: 2 } })).body).toMatchObject({ total: 3, page: 2, limit: 2 });
    expect(await names({ page: 9, limit: 2 })).toEqual([]);
    expect(await names({ available: true })).not.toContain('b');
    expect(await names({ search: 'ORIGIN' })).toEqual(['b']);
    expect(await names({ search: '100%' })).toEqual(['b']);
    expect(await names({ search: '%' })).toEqual(['b']);
    expect(await names({ search: 'de' })).toEqual(['c']);
    expect((await api.get('/servers', { query: { limit: 201 } })).status).toBe(422);
  });

  it('changes the keys that are present', async () => {
    const made = await create({ description: 'd', maxUsers: 5 });
    const changed = await api.patch(`/servers/${made.id}`, { displayName: 'Holland', maxUsers: null });
    expect(changed.body).toMatchObject({ displayName: 'Holland', maxUsers: null, description: 'd' });
    for (const promoGroupIds of [[], [99_999_999]]) {
      expect((await api.patch(`/servers/${made.id}`, { displayName: 'Lost', promoGroupIds })).status).toBe(400);
    }
    expect((await api.get(`/servers/${made.id}`)).body.displayName).toBe('Holland');
  });

  it('deletes an unused server only', async () => {
    const made = await create();
    const { subscriptionId } = await subscribe({ serverId: made.id, status: 'expired' });
    const refused = { status: 400, body: { detail: 'Server cannot be deleted because it has active connections' } };
    expect(await api.delete(`/servers/${made.id}`)).toMatchObject(refused);
    await t.app.db.sql('DELETE FROM subscription_servers');
    await t.app.db.sql(`UPDATE subscriptions SET status = 'active', connected_squads = '["nl"]' WHERE id = $1::int`, [
      subscriptionId,
    ]);
    expect(await api.delete(`/servers/${made.id}`)).toMatchObject(refused);
    await t.app.db.sql("UPDATE subscriptions SET connected_squads = '[]'");
    expect(await api.delete(`/servers/${made.id}`)).toMatchObject({
      status: 200,
      body: { success: true, message: expect.any(String) },
    });
    expect(await api.delete(`/servers/${made.id}`)).toMatchObject({ status: 404, body: { detail: 'Server not found' } });
  });

  it('lists the users of a server, linked or or having its squad, once each', async () => {
    await t.app.db.sql('DELETE FROM subscriptions');
    const made = await create();
    const linked = await subscribe({ serverId: made.id });
    const both = await subscribe({ serverId: made.id, squads: ['nl'] });
    const connected = await subscribe({ squads: ['nl', 'x'], status: 'expired' });
    await subscribe({ squads: ['x'] });
    const all = (await api.get(`/servers/${made.id}/users`)).body;
    expect(all).toMatchObject({ total: 3, limit: 100, offset: 0 });
    expect(all.items.map((item: { id: number }) => item.id)).toEqual([linked, both, connected].map((entry) => entry.user.id));
    expect(all.items[0]).toEqual({
      id: linked.user.id,
      messengerId: linked.user.messengerId,
      username: expect.any(String),
      firstName: expect.any(String),
      lastName: null,
      status: 'active',
      balanceKopeks: 0,
      balanceRubles: 0,
      subscriptionId: linked.subscriptionId,
      subscriptionStatus: 'active',
      subscriptionEndDate: expect.stringMatching(/Z$/),
    });
    const page = (await api.get(`/servers/${made.id}/users`, { query: { limit: 1, offset: 1 } })).body;
    expect(page).toMatchObject({ total: 3, items: [{ id: both.user.id }] });
    expect((await api.get('/servers/9999999999/users')).status).toBe(404);
  });

  it('adds up', async () => {
    await t.app.db.sql('DELETE FROM subscriptions');
    const first = await create();
    await create({ squadUuid: 'de', isAvailable: false });
    await subscribe({ squads: ['nl'], serverId: first.id, paid: 1550 });
    expect((await api.get('/servers/stats')).body).toEqual({
      totalServers: 2,
      availableServers: 1,
      unavailableServers: 1,
      serversWithConnections: 1,
      totalRevenueKopeks: 1550,
      totalRevenueRubles: 15.5,
    });
    expect((await api.get(`/servers/${first.id}`)).body.currentUsers).toBe(1);
    expect((await api.post('/servers/sync-counts')).body).toEqual({ updated: 2 });
    expect((await api.get(`/servers/${first.id}`)).body.currentUsers).toBe(1);
  });

  it('08 P10: a panel that is away or refuses the key is 502 with the reason, and the servers stay', async () => {
    await create();
    for (const [kind, message] of [
      ['unavailable', 'VPN panel did not answer'],
      ['rejected', 'VPN panel refused the credentials'],
    ] as const) {
      const listInternalSquads = () => Promise.reject(new PanelError(kind, message));
      const broken = { ...t.app, ports: { ...t.app.ports, panel: { ...t.app.ports.panel, listInternalSquads } } };
      const other = await testServer(broken);
      const reply = await (await tokenClient(t.app, other)).post('/servers/sync');
      expect(reply).toMatchObject({ status: 502, body: { detail: message } });
      await other.close();
    }
    expect((await api.get('/servers')).body.total).toBe(1);
  });

  it('reads the servers from the panel', async () => {
    const first = (await api.post('/servers/sync')).body;
    expect(first).toMatchObject({ updated: 0, removed: 0 });
    expect(first.created).toBe(first.total);
    expect((await api.post('/servers/sync')).body).toEqual({ created: 0, updated: 0, removed: 0, total: first.total });
    expect((await api.get('/servers')).body.total).toBe(first.total);
  });
});
