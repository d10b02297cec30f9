import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import type { PanelDevice } from '../../src/domain/provisioning/panel-objects.ts';
import type { VpnPanelPort } from '../../src/domain/provisioning/ports.ts';
import { PanelError } from '../../src/domain/provisioning/ports.ts';
import { type ActorClient, userClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { aMembership, aServer, aStoredSubscription, aTariff, rowOf, topUp } from '../support/sale-samples.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const ROOT = '/cabinet/subscription';
let t: TestApp;
let server: FastifyInstance;
/** The devices that the panel has; null = it does not answer. */
let known: PanelDevice[] | null = [];
const removed: string[] = [];

beforeAll(async () => {
  t = await testApp();
  const answer = async () => {
    if (known === null) throw new PanelError('unavailable', 'away');
    return known;
  };
  // At the port: the test decides what the panel answers.
  const panel: VpnPanelPort = {
    ...t.app.ports.panel,
    listDevices: answer,
    deleteDevice: async (_user, hwid) => {
      await answer();
      if (hwid === 'stubborn') throw new PanelError('rejected', 'no');
      removed.push(hwid);
    },
  };
  const app: App = { ...t.app, ports: { ...t.app.ports, panel } };
  server = await testServer(app);
});
afterAll(() => server.close());

const device = (hwid: string, day: number, fields: Partial<PanelDevice> = {}): PanelDevice => ({
  userUuid: 'u',
  hwid,
  platform: 'iOS',
  osVersion: null,
  deviceModel: 'Phone',
  userAgent: null,
  createdAt: new Date(Date.UTC(2026, 0, 1)),
  updatedAt: new Date(Date.UTC(2026, 0, day)),
  ...fields,
});

async function holder(columns: Record<string, unknown> = {}, tariff: Record<string, unknown> = {}): Promise<ActorClient> {
  const client = await userClient(t.app, server, { language: 'en' });
  await topUp(t.app, client.user.id, 100_000);
  await aStoredSubscription(t.app, client.user.id, { tariff_id: await aTariff(t.app, tariff), ...columns });
  await t.app.db.sql('UPDATE users SET vpnpanel_uuid = gen_random_uuid() WHERE id = $1::int RETURNING id', [client.user.id]);
  return client;
}

describe('connected devices', () => {
  test('are listed with fallbacks, and as an empty list when the panel does not answer', async () => {
    const client = await holder({ device_limit: 4 });
    known = [device('a', 5), device('b', 1, { platform: null, deviceModel: null, updatedAt: null })];
    expect((await client.get(`${ROOT}/devices`)).body).toEqual({
      devices: [
        { hwid: 'a', platform: 'iOS', device_model: 'Phone', created_at: '2026-01-05T00:00:00.000Z' },
        { hwid: 'b', platform: 'Unknown', device_model: 'Unknown', created_at: '2026-01-01T00:00:00.000Z' },
      ],
      total: 2,
      device_limit: 4,
    });
    known = null;
    expect((await client.get(`${ROOT}/devices`)).body).toEqual({ devices: [], total: 0, device_limit: 4 });
    expect(await client.delete(`${ROOT}/devices/a`)).toMatchObject({ status: 502, body: { detail: 'Failed to delete device' } });
    expect(await client.delete(`${ROOT}/devices`)).toMatchObject({ status: 502, body: { detail: 'Failed to delete devices' } });
  });

  test('are removed one by one or all, and single failures are skipped', async () => {
    const client = await holder();
    known = [device('x', 1), device('stubborn', 2), device('y', 3)];
    removed.length = 0;
    expect((await client.delete(`${ROOT}/devices/x%2Fy`)).body).toMatchObject({ success: true, deleted_hwid: 'x/y' });
    expect((await client.delete(`${ROOT}/devices`)).body).toMatchObject({ success: true, deleted_count: 2 });
    expect(removed).toEqual(['x/y', 'x', 'y']);
  });

  test('without a panel user, without a subscription, without a credential', async () => {
    const client = await userClient(t.app, server);
    for (const [method, path] of [
      ['get', '/devices'],
      ['delete', '/devices'],
      ['delete', '/devices/a'],
    ] as const) {
      expect(await client[method](ROOT + path)).toMatchObject({ status: 404, body: { detail: 'No subscription found' } });
      expect((await clientOf(server)[method](ROOT + path)).status).toBe(401);
    }
    await aStoredSubscription(t.app, client.user.id);
    expect(await client.delete(`${ROOT}/devices`)).toMatchObject({ status: 400, body: { detail: 'User UUID not found' } });
  });
});

describe('lowering the device limit', () => {
  test('removes the surplus that was updated last, without a refund, and updates the panel', async () => {
    const client = await holder({ device_limit: 4 }, { device_limit: 2 });
    known = [device('old', 1), device('newest', 9), device('new', 8), device('older', 2)];
    removed.length = 0;
    expect((await client.get(`${ROOT}/devices/reduction-info`)).body).toEqual({
      available: true,
      current_device_limit: 4,
      min_device_limit: 2,
      can_reduce: 2,
      connected_devices_count: 4,
    });
    const reduce = (new_device_limit: unknown) => client.post(`${ROOT}/devices/reduce`, { new_device_limit });
    expect((await reduce(4)).body.detail).toBe('New device limit must be less than current limit');
    expect((await reduce(1)).body.detail).toBe('Cannot reduce below minimum device limit (2) for your tariff');
    expect((await reduce(0)).body.detail).toBe('Invalid new_device_limit');
    expect((await reduce('2')).status).toBe(422);
    expect((await client.post(`${ROOT}/devices/reduce`, {})).body.detail).toBe('Invalid new_device_limit');
    known = null;
    expect((await reduce(2)).status).toBe(502);
    known = [device('old', 1), device('newest', 9), device('new', 8), device('older', 2)];
    expect((await reduce(2)).body).toMatchObject({ success: true, old_device_limit: 4, new_device_limit: 2, devices_removed: 2 });
    expect(removed).toEqual(['newest', 'new']);
    const row = await rowOf(
      t.app,
      `SELECT s.device_limit, s.provision_version, u.balance_kopeks FROM subscriptions s JOIN users u ON u.id = s.user_id
       WHERE u.id = $1::int`,
      [client.user.id],
    );
    expect(row).toEqual({ deviceLimit: 2, provisionVersion: 1, balanceKopeks: 100_000 });
    expect((await client.get(`${ROOT}/devices/reduction-info`)).body).toMatchObject({
      available: false,
      reason: 'Already at minimum device limit for your tariff',
      can_reduce: 0,
    });
  });

  test('is not for trials, nor for users without subscription', async () => {
    known = [];
    const client = await holder({ device_limit: 4, is_trial: true });
    const text = 'Device reduction is not available for trial subscriptions';
    expect((await client.get(`${ROOT}/devices/reduction-info`)).body).toMatchObject({ available: false, reason: text });
    expect((await client.post(`${ROOT}/devices/reduce`, { new_device_limit: 1 })).body.detail).toBe(text);
    const nobody = await userClient(t.app, server);
    expect((await nobody.get(`${ROOT}/devices/reduction-info`)).body).toEqual({
      available: false,
      reason: 'No subscription found',
      current_device_limit: 0,
      min_device_limit: 1,
      can_reduce: 0,
      connected_devices_count: 0,
    });
  });
});

describe('buying', () => {
  test('devices: price, purchase, the older endpoint and the saved cart agree', async () => {
    const client = await holder({}, { device_price_kopeks: 3_000 });
    const price = (await client.get(`${ROOT}/devices/price`, { query: { devices: 2 } })).body;
    expect(price).toEqual({
      available: true,
      devices: 2,
      price_per_device_kopeks: 1_000,
      price_per_device_label: '10 ₽',
      total_price_kopeks: 2_000,
      total_price_label: '20 ₽',
      current_device_limit: 1,
      max_device_limit: null,
      can_add: null,
      days_left: 10,
      base_device_price_kopeks: 3_000,
      quote: expect.any(String),
    });
    expect((await client.get(`${ROOT}/devices/price`)).body).toMatchObject({ devices: 1, total_price_kopeks: 1_000 });
    for (const devices of [0, -1, 101]) {
      expect((await client.get(`${ROOT}/devices/price`, { query: { devices } })).status).toBe(422);
    }
    expect((await client.post(`${ROOT}/devices/save-cart`, { devices: 2 })).body).toEqual({ success: true, cart_saved: true });
    const keyed = client.with({ 'idempotency-key': 'devices' });
    const bought = await keyed.post(`${ROOT}/devices/purchase`, { devices: 2 });
    expect(bought.body).toEqual({
      success: true,
      message: expect.any(String),
      devices_added: 2,
      new_device_limit: 3,
      price_kopeks: 2_000,
      price_label: '20 ₽',
      balance_kopeks: 98_000,
      balance_label: '980 ₽',
    });
    expect((await keyed.post(`${ROOT}/devices/purchase`, { devices: 2 })).body).toEqual(bought.body);
    expect((await client.post(`${ROOT}/devices`, { devices: 1 })).body).toEqual({
      message: expect.any(String),
      devices_added: 1,
      new_device_limit: 4,
      amount_paid_kopeks: 1_000,
    });
  });

  test.each(['/devices', '/devices/purchase'])('%s: a balance that is too small is 402 with all amounts', async (path) => {
    const client = await holder({}, { device_price_kopeks: 30_000_000 });
    const refused = await client.post(`${ROOT}${path}`, { devices: 1 });
    expect(refused).toMatchObject({ status: 402, body: { detail: { code: 'insufficient_funds', cart_mode: 'add_devices' } } });
    const { required_kopeks, current_kopeks, missing_kopeks } = refused.body.detail;
    expect([required_kopeks, current_kopeks, missing_kopeks]).toEqual([10_000_000, 100_000, 9_900_000]);
  });

  test('the fields of a discount and of a maximum are there only with one', async () => {
    const client = await holder(
      {},
      { device_price_kopeks: 3_000, max_device_limit: 2, traffic_topup_enabled: true, traffic_topup_packages: { 10: 5_000 } },
    );
    await aMembership(t.app, client.user.id, { device_discount_percent: 20, traffic_discount_percent: 20 });
    expect((await client.get(`${ROOT}/devices/price`)).body).toMatchObject({
      total_price_kopeks: 800,
      max_device_limit: 2,
      can_add: 1,
      discount_percent: 20,
      discount_kopeks: 200,
      base_total_price_kopeks: 1_000,
    });
    expect((await client.get(`${ROOT}/devices/price`, { query: { devices: 2 } })).body).toEqual({
      available: false,
      reason: 'You can add at most 1',
      current_device_limit: 1,
      max_device_limit: 2,
      can_add: 1,
    });
    const discount = { discount_percent: 20, discount_kopeks: 200, base_price_kopeks: 1_000 };
    expect((await client.post(`${ROOT}/devices`, { devices: 1 })).body).toEqual({
      message: expect.any(String),
      devices_added: 1,
      new_device_limit: 2,
      amount_paid_kopeks: 800,
      ...discount,
    });
    expect((await client.post(`${ROOT}/traffic`, { gb: 10 })).body).toEqual({
      success: true,
      message: expect.any(String),
      gb_added: 10,
      new_traffic_limit_gb: 110,
      amount_paid_kopeks: 4_000,
      new_balance_kopeks: 95_200,
      discount_percent: 20,
      discount_kopeks: 1_000,
      base_price_kopeks: 5_000,
    });
    const nobody = await userClient(t.app, server, { language: 'en' });
    expect((await nobody.get(`${ROOT}/devices/price`)).body).toEqual({
      available: false,
      reason: 'There is no active subscription',
    });
  });

  test('spec 10 X24: the price of devices names the maximum, and no discount that the minimum of 1 ₽ takes back', async () => {
    const client = await holder({ device_limit: 2 }, { device_price_kopeks: 3_000, max_device_limit: 2 });
    expect((await client.get(`${ROOT}/devices/price`)).body).toMatchObject({
      available: false,
      reason: 'The maximum number of devices (2) has been reached',
      can_add: 0,
    });
    const cheap = await holder({}, { device_price_kopeks: 100 });
    await aMembership(t.app, cheap.user.id, { device_discount_percent: 20 });
    const { body } = await cheap.get(`${ROOT}/devices/price`);
    expect(body).toMatchObject({ available: true, total_price_kopeks: 100 });
    for (const field of ['discount_percent', 'discount_kopeks', 'base_total_price_kopeks'])
      expect(body).not.toHaveProperty(field);
  });

  test('another traffic package of a classic subscription', async () => {
    const client = await holder({ tariff_id: null });
    expect((await client.put(`${ROOT}/traffic`, { gb: 5 })).body).toEqual({
      success: true,
      message: expect.any(String),
      old_traffic_gb: 100,
      new_traffic_gb: 5,
      charged_kopeks: 0,
      balance_kopeks: 100_000,
      balance_label: '1000 ₽',
    });
  });

  test('traffic, trial and pause over HTTP', async () => {
    const client = await holder({}, { traffic_topup_enabled: true, traffic_topup_packages: { 10: 5_000 } });
    expect((await client.post(`${ROOT}/traffic`, { gb: 10 })).body).toMatchObject({
      success: true,
      message: expect.any(String),
      gb_added: 10,
      new_traffic_limit_gb: 110,
      amount_paid_kopeks: 5_000,
      new_balance_kopeks: 95_000,
    });
    expect((await client.post(`${ROOT}/traffic/save-cart`, { gb: 10 })).body).toEqual({ success: true, cart_saved: true });
    expect((await client.put(`${ROOT}/traffic`, { gb: 250 })).status).toBe(400);
    expect((await client.post(`${ROOT}/traffic`, { gb: -1 })).status).toBe(422);
    expect(await client.post(`${ROOT}/pause`)).toMatchObject({ status: 400 });
    expect(await client.post(`${ROOT}/trial`)).toMatchObject({ status: 400 });

    await aServer(t.app, { is_trial_eligible: true });
    const fresh = await userClient(t.app, server);
    const started = await fresh.post(`${ROOT}/trial`);
    expect(started).toMatchObject({ status: 200, body: { is_trial: true, status: 'active', days_left: 3 } });
    expect((await fresh.get(ROOT)).body.subscription).toEqual(started.body);
    for (const path of ['/trial', '/pause', '/traffic', '/devices', '/devices/purchase', '/devices/reduce']) {
      expect((await clientOf(server).post(ROOT + path, {})).status).toBe(401);
    }
  });
});
