import { describe, expect, it } from 'vitest';
import type { HttpClient, HttpRequest } from '../../../src/core/http/http-client.ts';
import { createHttpClient } from '../../../src/core/http/outbound.ts';
import type { VpnPanelPort } from '../../../src/domain/provisioning/ports.ts';
import { isPanelRefusal } from '../../../src/integrations/vpnpanel/panel-transport.ts';
import { createVpnPanelAdapter } from '../../../src/integrations/vpnpanel/vpnpanel-adapter.ts';
import { aDraft, connectionTo, NETHERLANDS, startPanel, UNKNOWN_UUID } from '../../support/panel-setup.ts';
import { createPlainHttpClient } from '../../support/plain-http-client.ts';

const GENERATIONS = ['uuid', 'number'] as const;
const expireAt = '2026-05-01T00:00:00.000Z';

async function send(
  { panel }: { panel: { url: string; apiKey: string } },
  method: HttpRequest['method'],
  path: string,
  body?: unknown,
) {
  const response = await createPlainHttpClient({ retries: 0 }).request({
    method,
    url: panel.url + path,
    headers: { authorization: `Bearer ${panel.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: JSON.parse(response.text) as Record<string, unknown> };
}

/** An adapter whose HTTP client answers by path, and what it asked and logged. */
function scripted(answers: Record<string, { status?: number; body: unknown }>) {
  const paths: string[] = [];
  const errors: unknown[] = [];
  const http: HttpClient = {
    async request({ url }) {
      const { pathname } = new URL(url);
      paths.push(pathname);
      const { status = 200, body } = answers[pathname] ?? answers['*'] ?? { status: 404, body: unknownRoute(pathname) };
      return { status, headers: {}, text: typeof body === 'string' ? body : JSON.stringify(body) };
    },
  };
  const connection = connectionTo({ url: 'https://panel.example.com', apiKey: 'key' });
  const log = { warn: () => {}, error: (...args: unknown[]) => errors.push(args) };
  return { paths, errors, adapter: createVpnPanelAdapter({ http, connection: () => connection, log: log as never }) };
}

const unknownRoute = (path: string) => ({ message: `Cannot GET ${path}`, error: 'Not Found', statusCode: 404 });
const version = (text: string) => ({ '/api/system/metadata': { body: { response: { version: text } } } });
const metrics = {
  nodes: [{ nodeUuid: NETHERLANDS, nodeName: 'NL', usersOnline: 2, inboundsStats: [{ download: '9 KiB', upload: '1 KiB' }] }],
};

describe.each(GENERATIONS)('errors of the panel, %s generation', (generation) => {
  it('08 P3: an unknown external or internal squad is a general 500: A018, A039, for many users A088', async () => {
    const started = await startPanel({ generation });
    const failed = { status: 500, json: { message: 'Failed to create user', errorCode: 'A018' } };
    for (const squads of [{ externalSquadUuid: UNKNOWN_UUID }, { activeInternalSquads: [NETHERLANDS, UNKNOWN_UUID] }]) {
      expect(await send(started, 'POST', '/api/users', { username: 'first', expireAt, ...squads })).toMatchObject(failed);
    }
    const { uuid } = await started.adapter.createUser(aDraft());
    const name = generation === 'uuid' ? { uuid } : { id: 1 };
    for (const squads of [{ externalSquadUuid: UNKNOWN_UUID }, { activeInternalSquads: [UNKNOWN_UUID] }]) {
      expect(await send(started, 'PATCH', '/api/users', { ...name, ...squads })).toMatchObject({
        status: 500,
        json: { message: 'Update user error', errorCode: 'A039' },
      });
    }
    const many = generation === 'uuid' ? { uuids: [uuid] } : { userIds: [1] };
    const body = { ...many, activeInternalSquads: [UNKNOWN_UUID] };
    expect(await send(started, 'POST', '/api/users/bulk/update-squads', body)).toMatchObject({
      status: 500,
      json: { errorCode: 'A088' },
    });
    expect(started.panel.listUsers()).toMatchObject([{ username: 'user_100500', squads: ['Netherlands'] }]);
  });

  it.each([
    ['a messenger id that is no integer', { telegramId: 1.5 }],
    ['a messenger id above 64 bits', { telegramId: 2 ** 63 }],
    ['a limit in fractions of bytes', { trafficLimitBytes: 0.5 }],
    ['more devices than 32 bits', { hwidDeviceLimit: 2 ** 31 }],
  ])('08 P4: %s is a 500 with the code of the operation', async (_name, bad) => {
    const started = await startPanel({ generation });
    const created = await send(started, 'POST', '/api/users', { username: 'first', expireAt, ...bad });
    expect(created).toMatchObject({ status: 500, json: { errorCode: 'A018' } });
    const { uuid } = await started.adapter.createUser(aDraft());
    const changed = await send(started, 'PATCH', '/api/users', { ...(generation === 'uuid' ? { uuid } : { id: 1 }), ...bad });
    expect(changed).toMatchObject({ status: 500, json: { errorCode: 'A039' } });
  });

  it('08 P7: a rolling month is kept', async () => {
    const { adapter } = await startPanel({ generation });
    const { uuid } = await adapter.createUser(aDraft({ trafficResetStrategy: 'MONTH_ROLLING' }));
    expect((await adapter.findByUuid(uuid))?.trafficResetStrategy).toBe('MONTH_ROLLING');
  });
});

describe('08 P4: the circuit breaker', () => {
  async function start() {
    const started = await startPanel();
    const options = { system: 'vpnpanel', retries: 0, breakerThreshold: 5, isRefusal: isPanelRefusal };
    const http = createHttpClient(options);
    return { ...started, adapter: createVpnPanelAdapter({ http, connection: () => connectionTo(started.panel) }) };
  }

  it('does not count a 500 with an errorCode', async () => {
    const { adapter } = await start();
    for (let index = 0; index < 8; index += 1) {
      const draft = aDraft({ username: `user_${index}`, squadUuids: [UNKNOWN_UUID] });
      await expect(adapter.createUser(draft)).rejects.toMatchObject({ status: 500, errorCode: 'A018' });
    }
    await adapter.ping();
  });

  it('counts a 5xx without one, as a proxy answers for a panel that is down', async () => {
    const { adapter, panel } = await start();
    panel.faults.set({ status: 502 });
    for (let index = 0; index < 5; index += 1) await expect(adapter.ping()).rejects.toMatchObject({ status: 502 });
    panel.faults.set({});
    await expect(adapter.ping()).rejects.toMatchObject({ kind: 'unavailable', status: null });
  });
});

describe('08 P6: the current traffic of nodes', () => {
  const realtime = [{ nodeUuid: NETHERLANDS, downloadBytes: 9216, uploadBytes: 1024 }];
  const expected = [{ nodeUuid: NETHERLANDS, downloadBytes: 9216, uploadBytes: 1024 }];

  it.each([
    ['2.6.9', '/api/bandwidth-stats/nodes/realtime'],
    ['2.7.0', '/api/system/nodes/metrics'],
    ['2.7.4', '/api/system/nodes/metrics'],
    ['v2.10.1', '/api/system/nodes/metrics'],
    ['3.3.2', '/api/system/nodes/metrics'],
  ])('version %s is asked at %s', async (text, path) => {
    const answers = { '/api/bandwidth-stats/nodes/realtime': realtime, '/api/system/nodes/metrics': metrics };
    const body = { response: answers[path as keyof typeof answers] };
    const { adapter, paths } = scripted({ ...version(text), [path]: { body } });
    expect(await adapter.listNodeTraffic()).toMatchObject(expected);
    expect(paths).toEqual(['/api/system/metadata', path]);
  });

  it('is not served by the fake of version 2.7 under the old route', async () => {
    const started = await startPanel();
    const path = '/api/bandwidth-stats/nodes/realtime';
    expect(await send(started, 'GET', path)).toMatchObject({ status: 404, json: { message: `Cannot GET ${path}` } });
    expect(await started.adapter.listNodeTraffic()).toHaveLength(3);
  });

  it('the 404 of a route is an error that is logged, without ids', async () => {
    const { adapter, errors } = scripted(version('2.7.4'));
    await expect(adapter.listNodeTraffic()).rejects.toMatchObject({ kind: 'unavailable', status: 404 });
    await expect(adapter.findByUuid(UNKNOWN_UUID)).rejects.toMatchObject({ kind: 'unavailable', status: 404 });
    expect(errors).toEqual([
      [{ method: 'GET', path: '/api/system/nodes/metrics' }, expect.stringContaining('does not have this route')],
      [{ method: 'GET', path: '/api/users/:id' }, expect.stringContaining('does not have this route')],
    ]);
  });
});

describe('08 P10: a failure is never an empty list', () => {
  const range = { from: new Date('2026-02-01T00:00:00.000Z'), to: new Date('2026-02-02T00:00:00.000Z') };
  const lists: Record<string, (adapter: VpnPanelPort) => Promise<unknown>> = {
    nodes: (adapter) => adapter.listNodes(),
    'traffic of nodes': (adapter) => adapter.listNodeTraffic(),
    'days of nodes': (adapter) => adapter.listNodeDays(),
    'usage of a node': (adapter) => adapter.listNodeUsage(UNKNOWN_UUID, range),
    'internal squads': (adapter) => adapter.listInternalSquads(),
    'external squads': (adapter) => adapter.listExternalSquads(),
    'nodes of a squad': (adapter) => adapter.listInternalSquadNodes(UNKNOWN_UUID),
    inbounds: (adapter) => adapter.listInbounds(),
    users: (adapter) => adapter.listUsers({ start: 0, size: 10 }),
    'nodes of a user': (adapter) => adapter.listUserNodes(UNKNOWN_UUID),
    'traffic of a user': (adapter) => adapter.readUserTraffic(UNKNOWN_UUID, range),
    devices: (adapter) => adapter.listDevices(UNKNOWN_UUID),
    'all devices': (adapter) => adapter.listAllDevices({ start: 0, size: 10 }),
  };
  const failures = {
    'a refused key': { status: 401, body: { message: 'Unauthorized', errorCode: 'A003' } },
    'a general error': { status: 500, body: { message: 'Server error', errorCode: 'A001' } },
    'a proxy': { status: 502, body: '<html></html>' },
    "a proxy's 404": { status: 404, body: '<html></html>' },
    'an unknown route': { status: 404, body: unknownRoute('/api/x') },
    'an answer without the list': { body: { response: {} } },
    'an answer that is no object': { body: 'null' },
  };
  it.each(Object.entries(failures))('%s', async (_name, failure) => {
    for (const [list, read] of Object.entries(lists)) {
      const { adapter } = scripted({ ...version('2.7.4'), '*': failure });
      await expect(read(adapter), list).rejects.toMatchObject({ name: 'PanelError', kind: 'unavailable' });
    }
  });

  it('nor is a list of squads of a user that cannot be read', async () => {
    const user = { uuid: UNKNOWN_UUID, shortUuid: 's', username: 'u', expireAt, happ: { cryptoLink: 'x' } };
    const odd = scripted({ ...version('2.7.4'), '*': { body: { response: { ...user, activeInternalSquads: 'all' } } } });
    await expect(odd.adapter.findByUuid(UNKNOWN_UUID)).rejects.toMatchObject({ kind: 'unavailable' });
    const old = scripted({ ...version('2.7.4'), '*': { body: { response: user } } });
    expect((await old.adapter.findByUuid(UNKNOWN_UUID))?.squads).toEqual([]);
  });
});

describe.each(GENERATIONS)('08 P12: a refused key, %s generation', (generation) => {
  it('is an outage that shows its cause, and ends with the corrected key at once', async () => {
    const { panel } = await startPanel({ generation });
    let connection = connectionTo(panel, { apiKey: 'wrong' });
    const http = createHttpClient({ system: 'vpnpanel', retries: 0, isRefusal: isPanelRefusal });
    const adapter = createVpnPanelAdapter({ http, connection: () => connection });
    for (let index = 0; index < 8; index += 1) {
      const refusal = { kind: 'unavailable', status: 401, isKeyRefused: true, message: 'VPN panel refused the credentials' };
      await expect(adapter.createUser(aDraft())).rejects.toMatchObject(refusal);
    }
    connection = connectionTo(panel);
    expect((await adapter.createUser(aDraft())).username).toBe('user_100500');
    panel.faults.set({ status: 403 });
    await expect(adapter.ping()).rejects.toMatchObject({ kind: 'unavailable', isKeyRefused: true });
    panel.faults.set({ status: 503 });
    await expect(adapter.ping()).rejects.toMatchObject({ kind: 'unavailable', isKeyRefused: false });
  });
});
