import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { addDays, HOUR_MS, MINUTE_MS, startOfDay } from '../../src/core/clock.ts';
import type { VpnPanelPort } from '../../src/domain/provisioning/ports.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { aUser, unique } from '../support/builders.ts';
import {
  GB,
  GERMANY,
  NETHERLANDS,
  type ProvisioningTest,
  startAppWithPanel,
  unconfigured,
  withPort,
} from '../support/provisioning-setup.ts';
import { aStoredSubscription, aTariff } from '../support/sale-samples.ts';
import { storeRow } from '../support/stored-rows.ts';
import { workerSandbox } from '../support/test-sandbox.ts';
import { DUTCH_NODE, GERMAN_NODE, lastAudit } from '../support/vpnpanel-setup.ts';

const ROOT = '/cabinet/admin/traffic';
let t: ProvisioningTest;
let server: FastifyInstance;
let admin: ActorClient;
/** Marks the users of this file, so that other users of the database do not matter. */
const mark = unique();
const names = { heavy: `Heavy ${mark}`, light: `=cmd ${mark}`, idle: `Idle ${mark}` };
const ids: Record<string, number> = {};
let tariff: string;

beforeAll(async () => {
  t = await startAppWithPanel();
  // Tests move the clock by minutes, and a reading is one of the days of its period: never over midnight.
  t.clock.set(new Date(startOfDay(addDays(t.clock.now(), 1)).getTime() + 12 * HOUR_MS));
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['traffic:*']);
  tariff = `Plan ${mark}`;
  await t.app.db.sql('UPDATE users SET vpnpanel_uuid = NULL WHERE vpnpanel_uuid IS NOT NULL RETURNING id');
  for (const [key, name] of Object.entries(names)) {
    const user = await aUser(t.app);
    await t.app.db.sql("UPDATE users SET first_name = $2, last_name = 'Petrov' WHERE id = $1::int RETURNING id", [user.id, name]);
    ids[key] = user.id;
    const created = await t.adapter.createUser({
      username: `${key}_${mark}`.slice(0, 36),
      status: 'ACTIVE',
      expireAt: new Date(t.clock.now().getTime() + 30 * 86_400_000),
      squadUuids: [key === 'heavy' ? GERMANY : NETHERLANDS],
    });
    await t.app.db.sql('UPDATE users SET vpnpanel_uuid = $2::uuid WHERE id = $1::int RETURNING id', [user.id, created.uuid]);
    if (key === 'heavy') {
      t.panel.addTraffic(created.uuid, 10 * GB);
      t.panel.addDevice(created.uuid, 'device-0001');
      t.panel.addDevice(created.uuid, 'device-0002');
    }
    if (key === 'light') t.panel.addTraffic(created.uuid, 2 * GB);
  }
  const tariff_id = await aTariff(t.app, { name: tariff });
  await aStoredSubscription(t.app, ids.heavy!, { tariff_id, device_limit: 5 });
  await aStoredSubscription(t.app, ids.light!, { end_date: new Date(t.clock.now().getTime() - 1_000) });
});
afterAll(async () => {
  await server.close();
  await t.panel.close();
});
beforeEach(async () => {
  t.panel.faults.set({});
  t.cache.clear();
  await t.app.db.sql('DELETE FROM panel_traffic_fills RETURNING id');
});

const list = (query: Record<string, string | number | boolean> = {}) => admin.get(ROOT, { query });
const shown = async (query: Record<string, string | number | boolean>) => {
  const { status, body } = await list(query);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.items.map((item: { user_id: number }) => item.user_id);
};
const callsTo = (path: string) => t.panel.calls().filter((call) => call.path.includes(path)).length;

describe('GET /cabinet/admin/traffic', () => {
  test('06 5: every panel user with the traffic of each node, also without traffic or subscription', async () => {
    const { body } = await list();
    expect(body).toMatchObject({ total: 3, limit: 50, offset: 0, period_days: 30 });
    expect(body.available_tariffs).toEqual([tariff]);
    expect(body.available_statuses).toEqual(['active', 'expired']);
    expect(body.nodes.map((node: { node_name: string }) => node.node_name)).toEqual(['Finland 1', 'Germany 1', 'Netherlands 1']);
    expect(body.items).toEqual([
      expect.objectContaining({
        user_id: ids.heavy,
        full_name: `${names.heavy} Petrov`,
        tariff_name: tariff,
        subscription_status: 'active',
        device_limit: 5,
        traffic_limit_gb: 100,
        node_traffic: { [GERMAN_NODE]: 10 * GB },
        total_bytes: 10 * GB,
      }),
      expect.objectContaining({ user_id: ids.light, subscription_status: 'expired', node_traffic: { [DUTCH_NODE]: 2 * GB } }),
      expect.objectContaining({
        user_id: ids.idle,
        tariff_name: null,
        subscription_status: null,
        traffic_limit_gb: 0,
        device_limit: 1,
        node_traffic: {},
        total_bytes: 0,
      }),
    ]);
  });

  test('06 5: pages of the ranked list in both directions are parts of one list', async () => {
    for (const sort_desc of [true, false]) {
      const whole = await shown({ sort_desc });
      expect(whole).toEqual(sort_desc ? [ids.heavy, ids.light, ids.idle] : [ids.idle, ids.light, ids.heavy]);
      const pages = [];
      for (let offset = 0; offset < 4; offset++) pages.push(...(await shown({ sort_desc, limit: 1, offset })));
      expect(pages).toEqual(whole);
    }
    expect(await shown({ offset: 50 })).toEqual([]);
  });

  test('06 5: filters users by search, tariff and effective status, and by nodes only the traffic', async () => {
    expect(await shown({ search: names.heavy.toUpperCase() })).toEqual([ids.heavy]);
    expect(await shown({ search: `${mark} petrov` })).toHaveLength(3);
    expect(await shown({ search: mark, limit: 2 })).toEqual([ids.heavy, ids.light]);
    expect(await shown({ search: '%' })).toEqual([]);
    expect(await shown({ tariffs: ` ${tariff}, other` })).toEqual([ids.heavy]);
    expect(await shown({ statuses: 'expired' })).toEqual([ids.light]);
    expect(await shown({ statuses: 'trial' })).toEqual([]);
    const { body } = await list({ nodes: DUTCH_NODE });
    expect(body.items.map((item: { user_id: number; total_bytes: number }) => [item.user_id, item.total_bytes])).toEqual([
      [ids.light, 2 * GB],
      [ids.heavy, 0],
      [ids.idle, 0],
    ]);
    expect((await list({ nodes: 'unknown' })).body.items[0]).toMatchObject({ user_id: ids.heavy, total_bytes: 10 * GB });
  });

  test('06 5: sorts by each key, those without a value first, and by the total for anything else', async () => {
    const asc = (sort_by: string) => shown({ sort_by, sort_desc: false });
    const [heavy, light, idle] = [ids.heavy, ids.light, ids.idle];
    expect(await asc('full_name')).toEqual([light, heavy, idle]);
    expect(await asc('tariff_name')).toEqual([light, idle, heavy]);
    expect(await asc('device_limit')).toEqual([idle, light, heavy]);
    expect(await asc('traffic_limit_gb')).toEqual([idle, heavy, light]);
    expect(await asc(`node_${DUTCH_NODE}`)).toEqual([heavy, idle, light]);
    expect(await asc('connected')).toEqual([light, idle, heavy]);
    expect(await asc('sub_end')).toEqual([idle, light, heavy]);
    expect((await asc('sub_start'))[0]).toBe(idle);
    expect(await asc('last_node')).toHaveLength(3);
    expect(await asc('total_spent')).toHaveLength(3);
    expect(await asc("total_bytes; DROP TABLE users'")).toEqual([idle, light, heavy]);
    expect(await asc("node_' OR 1=1")).toEqual([heavy, light, idle]);
  });

  test('06 5: the panel is read once in five minutes, on all instances together', async () => {
    const other = await testServer(withPort({ ...t.app }, t.adapter));
    const second = clientOf(other, { authorization: `Bearer ${admin.accessToken}` });
    const before = callsTo('/users/legacy');
    const [a, b] = await Promise.all([list(), second.get(ROOT)]);
    await other.close();
    expect(a.body.items).toEqual(b.body.items);
    expect(callsTo('/users/legacy')).toBe(before + 3);
    t.clock.advance(4 * MINUTE_MS);
    await list({ sort_by: 'full_name', search: mark });
    expect(callsTo('/users/legacy')).toBe(before + 3);
    t.clock.advance(2 * MINUTE_MS);
    await list();
    expect(callsTo('/users/legacy')).toBe(before + 6);
    const [row] = await t.app.db.sql<{ fills: number }>('SELECT count(*)::int AS fills FROM panel_traffic_fills');
    expect(row!.fills).toBe(1);
  });

  test('06 5: a panel that is away is 502 with the reason, and nothing is stored', async () => {
    t.panel.faults.set({ status: 500 });
    const { status, body } = await list();
    expect([status, body.detail]).toEqual([502, expect.stringContaining('VPN panel')]);
    t.panel.faults.set({ status: 500, path: '/users/legacy' });
    expect((await list()).status).toBe(502);
    expect(await t.app.db.sql('SELECT id FROM panel_traffic_fills')).toEqual([]);
    t.panel.faults.set({});
    expect((await list()).status).toBe(200);
  });

  test('06 5: a node that gives no answer is left out, the rest is answered', async () => {
    t.panel.faults.set({ status: 500, path: `${GERMAN_NODE}/users/legacy` });
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body.items[0]).toMatchObject({ user_id: ids.light, total_bytes: 2 * GB });
    expect(body.nodes).toHaveLength(3);
  });

  test('06 5: a crashed reading is taken over when its lease is over', async () => {
    await list();
    t.clock.advance(6 * MINUTE_MS);
    for (const { key } of await t.app.db.sql<{ key: string }>('SELECT key FROM panel_traffic_fills'))
      await storeRow(t.app, 'PanelTrafficFill', { key, leaseUntil: new Date(Date.now() - 1_000), startedAt: new Date() });
    expect((await list()).body.total).toBe(3);
    expect(await t.app.db.sql('SELECT id FROM panel_traffic_fills WHERE finished_at IS NULL')).toEqual([]);
  });

  test('06 5: without a panel there are zeros and no nodes', async () => {
    const bare = await testServer(unconfigured(t.app));
    const { status, body } = await clientOf(bare, { authorization: `Bearer ${admin.accessToken}` }).get(ROOT);
    await bare.close();
    expect([status, body.nodes, body.total]).toEqual([200, [], 3]);
    expect(body.items.every((item: { total_bytes: number }) => item.total_bytes === 0)).toBe(true);
  });

  test('refuses ranges and strangers', async () => {
    expect(await list({ period: 2 })).toMatchObject({
      status: 400,
      body: { detail: 'Period must be one of: [1, 3, 7, 14, 30]' },
    });
    expect((await list({ start_date: '2026-01-01', end_date: 'x' })).status).toBe(400);
    expect((await list({ limit: 201 })).status).toBe(422);
    expect((await clientOf(server).get(ROOT)).status).toBe(401);
    const reader = await adminClient(t.app, server, ['traffic:read']);
    expect((await reader.get(ROOT)).status).toBe(200);
    expect((await reader.post(`${ROOT}/export-csv`, {})).status).toBe(403);
  });
});

describe('GET /cabinet/admin/traffic/enrichment', () => {
  test('06 5: devices, money, dates and last node of every panel user', async () => {
    const nodes: VpnPanelPort['listUsers'] = async (page) => {
      const { users, total } = await t.adapter.listUsers(page);
      return { users: users.map((user) => ({ ...user, lastConnectedNodeUuid: GERMAN_NODE })), total };
    };
    const app = withPort(t.app, { ...t.adapter, listUsers: nodes });
    const seen = await testServer(app);
    const { body } = await clientOf(seen, { authorization: `Bearer ${admin.accessToken}` }).get(`${ROOT}/enrichment`);
    await seen.close();
    expect(Object.keys(body.data).map(Number).sort()).toEqual(Object.values(ids).sort());
    expect(body.data[ids.heavy!]).toEqual({
      devices_connected: 2,
      total_spent_kopeks: 0,
      subscription_start_date: expect.stringMatching(/Z$/),
      subscription_end_date: expect.stringMatching(/Z$/),
      last_node_name: 'Germany 1',
    });
    expect(body.data[ids.idle!]).toMatchObject({ devices_connected: 0, subscription_end_date: null });
  });

  test('06 5: a panel that is away gives zeros', async () => {
    t.panel.faults.set({ status: 500 });
    const { status, body } = await admin.get(`${ROOT}/enrichment`);
    expect(status).toBe(200);
    expect(body.data[ids.heavy!]).toMatchObject({ devices_connected: 0, last_node_name: null });
  });
});

describe('POST /cabinet/admin/traffic/export-csv', () => {
  const send = (body: object = {}) => admin.post(`${ROOT}/export-csv`, body);

  async function sentFile() {
    const { messenger } = (await workerSandbox()).servers;
    const [message] = await messenger.messages();
    return message!;
  }
  const linkAdmin = async () => {
    const messengerId = 7_000_000_000 + Math.floor(Math.random() * 1e9);
    await t.app.db.sql('UPDATE users SET messenger_id = $2::bigint WHERE id = $1::int RETURNING id', [
      admin.user.id,
      messengerId,
    ]);
    return messengerId;
  };

  test('06 5: sends a file to the own chat, with a mark for UTF-8, literal columns and quoted formulas', async () => {
    const messengerId = await linkAdmin();
    const { status, body } = await send({ period: 7, total_threshold_gb: 1 });
    expect([status, body]).toEqual([200, { success: true, message: 'CSV sent (3 users)' }]);
    const { chatId, file } = await sentFile();
    expect(chatId).toBe(messengerId);
    expect(file?.name).toMatch(/^traffic_usage_7d_\d{8}_\d{6}\.csv$/);
    const lines = file!.text.split('\r\n');
    expect(lines[0]).toBe(
      '\uFEFFUser ID,Messenger ID,Username,Email,Full Name,Tariff,Status,Traffic Limit (GB),Device Limit,Connected Devices,' +
        'Total Spent (RUB),Sub Start,Sub End,Last Node,Finland 1 (bytes),Germany 1 (bytes),Netherlands 1 (bytes),Total (bytes),' +
        'Total (GB),Total GB/day,Risk Level,Risk Ratio,Risk GB/day',
    );
    expect(lines).toHaveLength(5);
    expect(lines[1]).toMatch(new RegExp(`^${ids.heavy},.*,0,${10 * GB},0,${10 * GB},10.00,1.4286,critical,1.429,1.4286$`));
    expect(lines[2]).toContain(`'${names.light} Petrov`);
    expect(await lastAudit(t.app, `${ROOT}/export-csv`)).toMatchObject({ details: { after: { users: 3, period: '7d' } } });
  });

  test('06 5: filters and shows nodes as in the list, without columns of risk when there are no thresholds', async () => {
    await linkAdmin();
    expect((await send({ tariffs: tariff, nodes: GERMAN_NODE })).body.message).toBe('CSV sent (1 users)');
    const [head, row] = (await sentFile()).file!.text.split('\r\n');
    expect(head).toMatch(/Last Node,Germany 1 \(bytes\),Total \(bytes\),Total \(GB\)$/);
    expect(row).toMatch(new RegExp(`,${10 * GB},${10 * GB},10.00$`));
  });

  test('06 5: refusals: no chat, bad range, a chat that takes nothing, a panel that is away', async () => {
    await t.app.db.sql('UPDATE users SET messenger_id = NULL WHERE id = $1::int RETURNING id', [admin.user.id]);
    expect(await send()).toMatchObject({ status: 400, body: { detail: 'Admin has no messenger ID configured' } });
    const messengerId = await linkAdmin();
    expect((await send({ period: 2 })).status).toBe(400);
    expect((await send({ total_threshold_gb: -1 })).status).toBe(422);
    const { messenger } = (await workerSandbox()).servers;
    await messenger.setBlocked(messengerId, true);
    expect(await send()).toMatchObject({
      status: 502,
      body: { detail: 'Failed to send CSV report. Please try again later.' },
    });
    await t.app.db.sql('DELETE FROM panel_traffic_fills RETURNING id');
    t.panel.faults.set({ status: 500 });
    expect((await send()).body.detail).toContain('VPN panel');
  });
});

test('list and file are 503 with Retry-After while the panel has not been read for ten seconds', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const listNodes: VpnPanelPort['listNodes'] = () => released.then(() => t.adapter.listNodes());
  const slow = await testServer(withPort(t.app, { ...t.adapter, listNodes }));
  const client = clientOf(slow, { authorization: `Bearer ${admin.accessToken}` });
  try {
    await t.app.db.sql('UPDATE users SET messenger_id = 7000000001 WHERE id = $1::int RETURNING id', [admin.user.id]);
    const replies = await Promise.all([client.get(ROOT), client.post(`${ROOT}/export-csv`, {})]);
    for (const { status, body, headers } of replies) {
      expect([status, body.detail]).toEqual([503, 'Traffic is being read from the panel. Try again in a moment.']);
      expect(headers['retry-after']).toBe('10');
    }
  } finally {
    release();
  }
  await expect.poll(() => t.app.db.sql('SELECT id FROM panel_traffic_fills WHERE finished_at IS NULL')).toEqual([]);
  await slow.close();
});
