import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { SANDBOX_APP_CONFIG_UUID } from '../../packages/sandbox/src/panel/device-routes.ts';
import type { App } from '../../src/core/app.ts';
import { refreshTraffic } from '../../src/domain/subscriptions/refresh-traffic.ts';
import { type ActorClient, adminClient, userClient } from '../support/actors.ts';
import { clientOf, testServer } from '../support/api.ts';
import { GB, type ProvisioningTest, startAppWithPanel, withPort } from '../support/provisioning-setup.ts';
import { aStoredSubscription, rowOf, topUp } from '../support/sale-samples.ts';
import { lastAudit, UNKNOWN_UUID } from '../support/vpnpanel-setup.ts';

const ROOT = '/cabinet/subscription';
const APPS = '/cabinet/admin/apps/vpnpanel';
let t: ProvisioningTest;
let app: App;
let server: FastifyInstance;
let admin: ActorClient;

beforeAll(async () => {
  t = await startAppWithPanel();
  app = t.app;
  server = await testServer(app);
  admin = await adminClient(app, server, ['apps:*']);
});
afterAll(async () => {
  await admin.put(`${APPS}/uuid`, {});
  await server.close();
  await t.panel.close();
});

async function holder(columns: Record<string, unknown> = {}, balance = 100_000): Promise<ActorClient & { id: number }> {
  const client = await userClient(app, server, { language: 'en' });
  if (balance > 0) await topUp(app, client.user.id, balance);
  return { ...client, id: await aStoredSubscription(app, client.user.id, columns) };
}
const inDays = (days: number) => new Date(t.clock.now().getTime() + days * 86_400_000);

describe('app configurations of the panel', () => {
  beforeEach(() => admin.put(`${APPS}/uuid`, {}));

  test.each(['config', 'configs'])('%s says what is missing while the panel is not configured', async (path) => {
    const detail = 'VPNPANEL_API_URL and VPNPANEL_API_KEY are not set';
    const without = await testServer(withPort(app, { ...app.ports.panel, configurationError: () => detail }));
    onTestFinished(() => without.close());
    await admin.put(`${APPS}/uuid`, { uuid: SANDBOX_APP_CONFIG_UUID });
    const { status, body } = await (await adminClient(app, without, ['apps:*'])).get(`${APPS}/${path}`);
    expect({ status, body }).toEqual({ status: 503, body: { detail } });
  });

  test('02 11: nothing is chosen, chosen, cleared, with the change in the audit log', async () => {
    expect((await admin.get(`${APPS}/status`)).body).toEqual({ enabled: false, config_uuid: null });
    expect(await admin.get(`${APPS}/config`)).toMatchObject({
      status: 400,
      body: { detail: 'VpnPanel subscription config is not configured' },
    });
    const choose = (body: object) => admin.put(`${APPS}/uuid`, body);
    const upper = UNKNOWN_UUID.toUpperCase();
    expect((await choose({ uuid: ` ${upper} ` })).body).toEqual({ enabled: true, config_uuid: upper });
    expect((await admin.get(`${APPS}/status`)).body).toEqual({ enabled: true, config_uuid: upper });
    expect(await lastAudit(app, `${APPS}/uuid`)).toMatchObject({
      userId: admin.user.id,
      status: 'success',
      details: { after: { value: upper } },
    });
    expect(await admin.get(`${APPS}/config`)).toMatchObject({ status: 404, body: { detail: 'Subscription config not found' } });
    for (const uuid of ['nope', `${UNKNOWN_UUID}0`, UNKNOWN_UUID.replace('9', 'g')]) {
      expect(await choose({ uuid })).toMatchObject({ status: 400, body: { detail: 'Invalid UUID format' } });
    }
    for (const body of [{}, { uuid: null }, { uuid: '  ' }]) {
      expect((await choose(body)).body).toEqual({ enabled: false, config_uuid: null });
    }
  });

  test('02 11: lists and reads what the panel has, without a change of its names', async () => {
    expect((await admin.get(`${APPS}/configs`)).body).toEqual([
      { uuid: SANDBOX_APP_CONFIG_UUID, name: 'Default', view_position: 1 },
    ]);
    await admin.put(`${APPS}/uuid`, { uuid: SANDBOX_APP_CONFIG_UUID });
    const { body } = await admin.get(`${APPS}/config`);
    expect(body).toMatchObject({
      uuid: SANDBOX_APP_CONFIG_UUID,
      view_position: 1,
      config: { svgLibrary: {}, locales: ['en', 'ru'] },
    });
    expect(body.config.platforms.ios.apps[0].blocks[0].svgIconKey).toBe('Download');
  });

  test('08 P10: a panel that is away is 502 with the reason, never an empty list', async () => {
    await admin.put(`${APPS}/uuid`, { uuid: SANDBOX_APP_CONFIG_UUID });
    t.panel.faults.set({ status: 500 });
    for (const path of ['configs', 'config']) {
      const { status, body } = await admin.get(`${APPS}/${path}`);
      expect([status, body.detail]).toEqual([502, expect.stringMatching(/^Failed to fetch configs? from VpnPanel: ./)]);
    }
    t.panel.faults.set({});
  });

  test('needs its permissions', async () => {
    const reader = await adminClient(app, server, ['apps:read']);
    expect((await reader.get(`${APPS}/status`)).status).toBe(200);
    expect(await reader.put(`${APPS}/uuid`, {})).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('Permission denied') },
    });
  });
});

describe('GET /cabinet/subscription/app-config', () => {
  beforeEach(() => admin.put(`${APPS}/uuid`, { uuid: SANDBOX_APP_CONFIG_UUID }));

  const guide = (client: ActorClient) => client.get(`${ROOT}/app-config`);

  test('02 5.14: 404 while none is chosen, then the guide with the own links, or links null without a subscription', async () => {
    await admin.put(`${APPS}/uuid`, {});
    const client = await holder({ subscription_url: 'https://sub.example.com/1', subscription_crypto_link: 'happ://crypt4/1' });
    expect(await guide(client)).toMatchObject({ status: 404, body: { detail: 'App configuration not set up.' } });
    await admin.put(`${APPS}/uuid`, { uuid: SANDBOX_APP_CONFIG_UUID });
    const { body } = await guide(client);
    expect(body).toMatchObject({
      isVpnPanel: true,
      hasSubscription: true,
      subscriptionUrl: 'https://sub.example.com/1',
      subscriptionCryptoLink: 'happ://crypt4/1',
      hideLink: false,
      platformNames: { ios: { en: 'iOS' }, linux: { en: 'Linux' } },
      branding: { title: 'Sandbox' },
      baseTranslations: {},
    });
    const [first] = body.platforms.ios.apps;
    expect(first.deepLink).toBe('happ://add/https://sub.example.com/1');
    expect(first.blocks[1].buttons[1].resolvedUrl).toBe('https://sub.example.com/1');
    const nobody = (await guide(await userClient(app, server))).body;
    expect(nobody).toMatchObject({ hasSubscription: false, subscriptionUrl: null, subscriptionCryptoLink: null });
    expect(nobody.platforms.ios.apps[0].deepLink).toBeNull();
    expect(JSON.stringify(nobody)).not.toContain('sub.example.com');
  });

  test('02 5.14: a missing encrypted link is requested from the panel and stored', async () => {
    const client = await holder({ subscription_url: 'https://sub.example.com/2' });
    const { body } = await guide(client);
    expect(body.subscriptionCryptoLink).toMatch(/^happ:\/\//);
    const row = await rowOf<{ link: string }>(
      app,
      'SELECT subscription_crypto_link AS link FROM subscriptions WHERE id = $1::int',
      [client.id],
    );
    expect(row.link).toBe(body.subscriptionCryptoLink);
  });

  test('02 5.14: the copy is served while the panel is away, and a choice is in effect at once', async () => {
    const client = await holder();
    expect((await guide(client)).status).toBe(200);
    t.panel.faults.set({ status: 503 });
    t.cache.clear();
    expect((await guide(client)).status).toBe(200);
    await admin.put(`${APPS}/uuid`, { uuid: UNKNOWN_UUID });
    expect((await guide(client)).status).toBe(404);
    t.panel.faults.set({});
    await admin.put(`${APPS}/uuid`, { uuid: SANDBOX_APP_CONFIG_UUID });
    expect((await guide(client)).status).toBe(200);
    // Choosing dropped the copy, so the next one is read again.
    const reads = t.panel.calls().filter(({ path }) => path.includes(SANDBOX_APP_CONFIG_UUID)).length;
    await admin.put(`${APPS}/uuid`, { uuid: SANDBOX_APP_CONFIG_UUID });
    await guide(client);
    expect(t.panel.calls().filter(({ path }) => path.includes(SANDBOX_APP_CONFIG_UUID)).length).toBe(reads + 1);
  });
});

describe('POST /cabinet/subscription/refresh-traffic', () => {
  const refresh = (client: ActorClient) => client.post(`${ROOT}/refresh-traffic`);

  async function mover(columns: Record<string, unknown> = {}): Promise<ActorClient & { id: number; uuid: string }> {
    const client = await holder(columns, 0);
    const user = await t.adapter.createUser({
      username: `traffic_${client.id}`,
      status: 'ACTIVE',
      expireAt: inDays(10),
      trafficLimitBytes: 50 * GB,
    });
    await app.db.sql('UPDATE users SET vpnpanel_uuid = $2::uuid WHERE id = $1::int RETURNING id', [client.user.id, user.uuid]);
    return { ...client, uuid: user.uuid };
  }

  test('02 5.14: reads and stores the traffic, and repeats the values within the minute without a call', async () => {
    const client = await mover({ traffic_limit_gb: 40 });
    t.panel.addTraffic(client.uuid, 10.5 * GB);
    const values = {
      traffic_used_bytes: 10.5 * GB,
      traffic_used_gb: 10.5,
      traffic_limit_bytes: 50 * GB,
      traffic_limit_gb: 40,
      // 26.25: a half goes to the even digit (spec 10 X24).
      traffic_used_percent: 26.2,
      is_unlimited: false,
      lifetime_used_bytes: 10.5 * GB,
      lifetime_used_gb: 10.5,
    };
    expect((await refresh(client)).body).toEqual({ success: true, cached: false, source: 'vpnpanel', ...values });
    expect(await rowOf(app, 'SELECT traffic_used_gb AS used FROM subscriptions WHERE id = $1::int', [client.id])).toEqual({
      used: 10.5,
    });
    t.clock.advance(20_000);
    const calls = t.panel.calls().length;
    expect((await refresh(client)).body).toEqual({
      success: true,
      cached: true,
      rate_limited: true,
      retry_after_seconds: 40,
      ...values,
    });
    expect(t.panel.calls().length).toBe(calls);
    t.clock.advance(41_000);
    expect((await refresh(client)).body.cached).toBe(false);
  });

  test('02 5.14: a panel without an answer gives the stored values, which are not cached', async () => {
    const client = await mover({ traffic_limit_gb: 10, traffic_used_gb: 25 });
    t.panel.faults.set({ status: 500 });
    const { body } = await refresh(client);
    t.panel.faults.set({});
    expect(body).toEqual({
      success: true,
      cached: false,
      source: 'database',
      traffic_used_bytes: 25 * GB,
      traffic_used_gb: 25,
      traffic_limit_bytes: 10 * GB,
      traffic_limit_gb: 10,
      traffic_used_percent: 100,
      is_unlimited: false,
    });
    const limited = await refresh(client);
    expect(limited).toMatchObject({ status: 429, body: { detail: 'Rate limited. Try again in 60 seconds.' } });
    expect(limited.headers['retry-after']).toBe('60');
  });

  test('02 H29: the limit is shared by all instances, and two at once read once', async () => {
    const client = await mover();
    const other = await testServer(withPort({ ...app }, t.adapter));
    const calls = t.panel.calls().length;
    const answers = await Promise.all([
      refresh(client),
      clientOf(other, { authorization: `Bearer ${client.accessToken}` }).post(`${ROOT}/refresh-traffic`),
    ]);
    await other.close();
    expect(answers.filter(({ body }) => body.source === 'vpnpanel').length).toBe(1);
    expect(
      t.panel
        .calls()
        .slice(calls)
        .filter(({ path }) => path === `/api/users/${client.uuid}`).length,
    ).toBe(1);
  });

  test.each([
    ['waits for its push', 'provision_reset_traffic = true, traffic_used_gb = 0'],
    ['was pushed', 'provisioned_at = $2::timestamptz'],
    ['was stored', 'traffic_used_gb = 0'],
  ])('a reading that a reset has overtaken, which %s, is not stored', async (_state, reset) => {
    const used = reset.includes('provision') ? 0 : 3;
    const client = await mover({ traffic_used_gb: used });
    t.panel.addTraffic(client.uuid, 10 * GB);
    const findByUuid: typeof t.adapter.findByUuid = async (uuid) => {
      const read = await t.adapter.findByUuid(uuid);
      const values = reset.includes('$2') ? [client.id, t.clock.now()] : [client.id];
      await app.db.sql(`UPDATE subscriptions SET ${reset} WHERE id = $1::int RETURNING id`, values);
      return read;
    };
    const racing = withPort({ ...app }, { ...t.adapter, findByUuid });
    await refreshTraffic(racing, { kind: 'user', userId: client.user.id });
    expect(await rowOf(app, 'SELECT traffic_used_gb AS used FROM subscriptions WHERE id = $1::int', [client.id])).toEqual({
      used: 0,
    });
  });

  test('02 5.14: any subscription counts as active, none is 404, and unlimited has no percentage', async () => {
    const ended = await mover({ status: 'expired', end_date: inDays(-5), traffic_limit_gb: 0, traffic_used_gb: 3 });
    expect((await refresh(ended)).body).toMatchObject({ is_unlimited: true, traffic_used_percent: 0 });
    const nobody = await userClient(app, server);
    expect(await refresh(nobody)).toMatchObject({ status: 404, body: { detail: 'No active subscription' } });
    expect((await clientOf(server).post(`${ROOT}/refresh-traffic`)).status).toBe(401);
  });
});
