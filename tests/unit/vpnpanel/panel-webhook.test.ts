import { createHmac } from 'node:crypto';
import { RemnawaveWebhookEventSchema } from '@remnawave/backend-contract';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type LoopbackRequest, startLoopbackServer } from '../../../packages/sandbox/src/loopback-server.ts';
import { createMemoryStore } from '../../../packages/sandbox/src/panel/panel-state.ts';
import type { SandboxPanelOptions } from '../../../packages/sandbox/src/panel/sandbox-panel.ts';
import { DAY_MS } from '../../../src/core/clock.ts';
import { aDraft, GERMANY, START, startPanel } from '../../support/panel-setup.ts';
import { createPlainHttpClient } from '../../support/plain-http-client.ts';

const SECRET = 'a-secret-of-thirty-two-characters';
const GENERATIONS = ['uuid', 'number'] as const;

interface Received {
  scope: string;
  event: string;
  timestamp: string;
  data: Record<string, unknown>;
  meta: unknown;
}

/** A receiver that answers each request with the next of `statuses`, then with 200, and a panel that reports to it. */
async function start(options: Partial<SandboxPanelOptions> = {}, statuses: number[] = [], retryPauseMs = 20) {
  const requests: LoopbackRequest[] = [];
  const receiver = await startLoopbackServer(async (request) => {
    requests.push(request);
    return { status: statuses.shift() ?? 200, contentType: 'text/plain', body: 'ok' };
  });
  onTestFinished(() => receiver.close());
  const webhook = { url: `${receiver.url}/vpnpanel-webhook`, secret: SECRET, retryPauseMs };
  const started = await startPanel({ webhook, ...options });
  const all = () => requests.map(({ body }) => JSON.parse(body) as Received);
  /** What was received since the last call. */
  let seen = 0;
  const received = async () => {
    await started.panel.eventsSettled();
    const fresh = all().slice(seen);
    seen += fresh.length;
    return fresh;
  };
  expect((await received()).map(({ event }) => event)).toEqual(['service.panel_started']);
  return { ...started, requests, received, names: async () => (await received()).map(({ event }) => event) };
}

describe.each(GENERATIONS)('webhooks of the fake panel, %s generation', (generation) => {
  it('reports what its calls change, each in a request of its own', async () => {
    const { adapter, panel, names } = await start({ generation });
    const { uuid } = await adapter.createUser(aDraft());
    expect(await names()).toEqual(['user.created']);
    await adapter.updateUser({ uuid, trafficLimitBytes: 5 });
    await adapter.disableUser(uuid);
    await adapter.enableUser(uuid);
    await adapter.resetTraffic(uuid);
    await adapter.revokeUser(uuid);
    expect(await names()).toEqual(['user.modified', 'user.disabled', 'user.enabled', 'user.traffic_reset', 'user.revoked']);
    expect(panel.addDevice(panel.listUsers()[0]!.uuid, 'phone-00001')).toBe(true);
    await adapter.deleteDevice(uuid, 'phone-00001');
    expect(await names()).toEqual(['user_hwid_devices.added', 'user_hwid_devices.deleted']);
    const node = (await adapter.listNodes())[0]!.uuid;
    await adapter.disableNode(node);
    await adapter.enableNode(node);
    await adapter.deleteUser(uuid);
    expect(await names()).toEqual(['node.disabled', 'node.enabled', 'user.deleted']);
  });

  it('reports nothing for reads, refused calls and changes of many users', async () => {
    const { adapter, names } = await start({ generation });
    const { uuid } = await adapter.createUser(aDraft());
    await names();
    await adapter.findByUuid(uuid);
    await adapter.listUsers({ start: 0, size: 10 });
    await adapter.enableUser(uuid);
    await expect(adapter.createUser(aDraft())).rejects.toMatchObject({ errorCode: 'A019' });
    await adapter.setSquadsOfUsers([uuid], [GERMANY]);
    await adapter.deleteDevice(uuid, 'unknown-0001');
    expect(await names()).toEqual([]);
  });

  it('reports once that time or traffic ended the access of a user', async () => {
    const { adapter, panel, clock, names } = await start({ generation, reviewMs: 10 });
    await adapter.createUser(aDraft({ username: 'limited', messengerId: 1, trafficLimitBytes: 100 }));
    await adapter.createUser(aDraft({ username: 'expired', messengerId: 2 }));
    await names();
    const limited = panel.listUsers().find(({ username }) => username === 'limited')!;
    panel.addTraffic(limited.uuid, 99);
    panel.reviewUsers();
    expect(await names()).toEqual([]);
    panel.addTraffic(limited.uuid, 1);
    // Without a call: the panel looks by itself.
    await expect.poll(names).toEqual(['user.limited']);
    clock.move(60 * DAY_MS);
    panel.reviewUsers();
    panel.reviewUsers();
    expect(await names()).toEqual(['user.expired', 'user.expired']);
    panel.reviewUsers();
    expect(await names()).toEqual([]);
  });

  it('reports a limit again after access was given back, and one that a change lowered', async () => {
    const { adapter, panel, names } = await start({ generation });
    const { uuid } = await adapter.createUser(aDraft({ trafficLimitBytes: 100 }));
    panel.addTraffic(panel.listUsers()[0]!.uuid, 60);
    await adapter.updateUser({ uuid, trafficLimitBytes: 50 });
    panel.reviewUsers();
    expect(await names()).toEqual(['user.created', 'user.modified', 'user.limited']);
    await adapter.resetTraffic(uuid);
    panel.addTraffic(panel.listUsers()[0]!.uuid, 60);
    panel.reviewUsers();
    expect(await names()).toEqual(['user.traffic_reset', 'user.limited']);
  });

  it('sends data that the panel sends', async () => {
    const { adapter, panel, received } = await start({ generation });
    const { uuid } = await adapter.createUser(aDraft());
    const [created] = await received();
    expect(created).toMatchObject({
      scope: 'user',
      timestamp: START.toISOString(),
      meta: null,
      data: {
        id: 1,
        username: 'user_100500',
        activeInternalSquads: [{ name: 'Netherlands' }],
        userTraffic: { usedTrafficBytes: 0 },
      },
    });
    expect('uuid' in created!.data).toBe(generation === 'uuid');
    if (generation === 'uuid') expect(created?.data.uuid).toBe(uuid);
    panel.addDevice(panel.listUsers()[0]!.uuid, 'phone-00001');
    const [added] = await received();
    expect(added).toMatchObject({
      scope: 'user_hwid_devices',
      data: { hwidUserDevice: { hwid: 'phone-00001', userId: 1 }, user: { id: 1, activeInternalSquads: [] } },
    });
    panel.sendEvent('node.connection_lost');
    const [lost] = await received();
    expect(JSON.stringify(lost?.data)).toContain('privateKey');
    expect(lost).toMatchObject({ scope: 'node', data: { name: 'Netherlands 1' } });
  });

  it('sends bodies that the package of the panel knows', async () => {
    const { adapter, panel, requests } = await start({ generation });
    const { uuid } = await adapter.createUser(aDraft());
    await adapter.updateUser({ uuid, tag: 'NEW' });
    panel.addDevice(panel.listUsers()[0]!.uuid, 'phone-00001');
    await adapter.disableNode((await adapter.listNodes())[0]!.uuid);
    panel.sendEvent('user.not_connected', { meta: { notConnectedAfterHours: 24 } });
    panel.sendEvent('service.login_attempt_success', {
      data: { loginAttempt: { username: 'admin', ip: '192.0.2.1', userAgent: 'browser' } },
    });
    panel.sendEvent('errors.bandwidth_usage_threshold_reached_max_notifications', { data: { description: 'too many' } });
    await panel.eventsSettled();
    expect(requests).toHaveLength(8);
    for (const { body } of requests) {
      const result = RemnawaveWebhookEventSchema.safeParse(JSON.parse(body));
      expect(result.success ? [] : result.error.issues, body.slice(0, 80)).toEqual([]);
    }
  });
});

describe('webhooks of the fake panel', () => {
  it('are signed over the raw body, with the headers of the real panel', async () => {
    const { adapter, requests, panel } = await start();
    await adapter.createUser(aDraft({ description: 'Иван «И» 🙂' }));
    await panel.eventsSettled();
    const { method, path, headers, body } = requests.at(-1)!;
    expect([method, path]).toEqual(['POST', '/vpnpanel-webhook']);
    const { timestamp } = JSON.parse(body) as Received;
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Remnawave',
      'x-remnawave-signature': createHmac('sha256', SECRET).update(body, 'utf8').digest('hex'),
      'x-remnawave-timestamp': timestamp,
    });
    expect(headers['x-remnawave-signature']).toMatch(/^[0-9a-f]{64}$/);
    expect(Object.keys(JSON.parse(body))).toEqual(['scope', 'event', 'timestamp', 'data', 'meta']);
  });

  it('are repeated three times with the same body, then given up, and do not delay later ones', async () => {
    const { adapter, panel, requests } = await start({}, [200, 500, 500, 502, 503]);
    const before = requests.length;
    await adapter.createUser(aDraft());
    await panel.eventsSettled();
    const tries = requests.slice(before);
    expect(tries).toHaveLength(4);
    expect(new Set(tries.map(({ body }) => body)).size).toBe(1);
    expect(new Set(tries.map(({ headers }) => headers['x-remnawave-signature'])).size).toBe(1);

    const later = await start({}, [200, 500], 60_000);
    const { uuid } = await later.adapter.createUser(aDraft());
    await later.adapter.updateUser({ uuid, tag: 'NEW' });
    // The creation waits for its repetition meanwhile.
    const events = () => later.requests.map(({ body }) => (JSON.parse(body) as Received).event);
    await expect.poll(events).toEqual(['service.panel_started', 'user.created', 'user.modified']);
  });

  it('spec 10 F9: what the receiver has not accepted is sent by the next host', async () => {
    const state = createMemoryStore();
    // The first event of the start is accepted, the next one has no answer before the host ends.
    const host = await start({ state }, [200, 500], 60_000);
    await host.adapter.createUser(aDraft());
    await expect.poll(() => host.requests.length).toBe(2);
    await host.panel.close();
    const next = await startLoopbackServer(async (request) => {
      bodies.push(request.body);
      return { status: 200, contentType: 'text/plain', body: 'ok' };
    });
    const bodies: string[] = [];
    onTestFinished(() => next.close());
    const { panel } = await startPanel({ state, webhook: { url: next.url, secret: SECRET } });
    await panel.eventsSettled();
    expect(bodies.map((body) => (JSON.parse(body) as Received).event)).toEqual(['user.created', 'service.panel_started']);
    expect(bodies[0]).toBe(host.requests[1]!.body);
    await panel.close();
    const again = await startPanel({ state, webhook: { url: next.url, secret: SECRET } });
    await again.panel.eventsSettled();
    expect(bodies).toHaveLength(3);
  });

  it('report devices that applications register, and only new ones', async () => {
    const { adapter, names } = await start();
    const user = await adapter.createUser(aDraft());
    await names();
    const get = () =>
      createPlainHttpClient().request({ method: 'GET', url: user.subscriptionUrl, headers: { 'x-hwid': 'phone-00001' } });
    await get();
    await get();
    expect(await names()).toEqual(['user_hwid_devices.added']);
  });

  it('are not sent without an address, and a stopped panel does not wait for its receiver', async () => {
    const silent = await startPanel();
    await silent.adapter.createUser(aDraft());
    silent.panel.sendEvent('node.connection_lost');
    await silent.panel.eventsSettled();
    const off = await startPanel({ webhook: () => null });
    await off.adapter.createUser(aDraft());
    await off.panel.eventsSettled();
    const closed = await start({}, [200, 500], 60_000);
    await closed.adapter.createUser(aDraft());
    await closed.panel.close();
    const count = closed.requests.length;
    await closed.panel.eventsSettled();
    expect(closed.requests).toHaveLength(count);
  });

  it('refuse an event about something that the fake does not have', async () => {
    const { panel } = await start();
    expect(() => panel.sendEvent('user.expiration')).toThrow('no such user');
    expect(() => panel.sendEvent('node.deleted', { nodeUuid: GERMANY })).toThrow('no such node');
  });
});
