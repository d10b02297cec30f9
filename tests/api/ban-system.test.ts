import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../src/core/app.ts';
import { type BanSandbox, startBanSandbox } from '../../src/sandbox/ban-system/ban-sandbox.ts';
import { type ActorClient, adminClient } from '../support/actors.ts';
import { type ApiReply, testServer } from '../support/api.ts';
import { type TestApp, testApp } from '../support/test-app.ts';

const ROOT = '/cabinet/admin/ban-system';
const TOKEN = 'token-of-the-ban-system-0123456789';
let t: TestApp;
let ban: BanSandbox;
let server: FastifyInstance;
let admin: ActorClient;

beforeAll(async () => {
  const values = new Map<string, unknown>();
  const store = {
    load: async (key: string) => values.get(key),
    save: async (key: string, value: unknown) => void values.set(key, value),
  };
  ban = await startBanSandbox({ store, token: TOKEN, now: () => t.clock.now() });
  t = await appWith({ BAN_SYSTEM_API_URL: `${ban.server.url}/` });
  server = await testServer(t.app);
  admin = await adminClient(t.app, server, ['ban_system:*']);
});
afterAll(async () => {
  await server.close();
  await ban.close();
});
beforeEach(() => {
  ban.faults.byCall.clear();
  ban.faults.every = null;
  ban.calls.length = 0;
});

const appWith = (environment: Record<string, string>) =>
  testApp({
    environment: {
      BAN_SYSTEM_ENABLED: 'true',
      BAN_SYSTEM_API_TOKEN: TOKEN,
      BAN_SYSTEM_REQUEST_TIMEOUT: '1',
      ...environment,
    },
  });

const get = (path: string, query: Record<string, string | number> = {}) => admin.get(`${ROOT}${path}`, { query });
const okOf = ({ status, body }: ApiReply) => {
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
/** The answer to `GET path` when the ban system answers `call` with this. */
const answered = async (path: string, call: string, value: unknown) => {
  ban.faults.byCall.set(call, { reply: { status: 200, body: JSON.stringify(value) } });
  return okOf(await get(path));
};
const lastCall = () => ban.calls.at(-1)!;
/** The newest audit row of an action. */
const lastAudit = async (action: string) => {
  const [row] = await t.app.db.sql<{ resourceId: string; status: string; details: Record<string, unknown> }>(
    'SELECT resource_id, status, details FROM admin_audit_log WHERE action = $1 AND user_id = $2::int ORDER BY id DESC LIMIT 1',
    [action, admin.user.id],
  );
  return row;
};

/** Every reading operation and the call that it makes. */
const READS: readonly (readonly [path: string, call: string])[] = [
  ['/stats', 'GET /api/stats'],
  ['/stats/raw', 'GET /api/stats'],
  ['/users', 'GET /api/users'],
  ['/users/over-limit', 'GET /api/users/over-limit'],
  ['/users/search/busy', 'GET /api/users/search/busy'],
  ['/users/busy%40example.com', 'GET /api/users/busy%40example.com'],
  ['/users/busy%40example.com/history', 'GET /api/history/busy%40example.com'],
  ['/history/busy', 'GET /api/history/busy'],
  ['/punishments', 'GET /api/punishments'],
  ['/nodes', 'GET /api/nodes'],
  ['/agents', 'GET /api/agents'],
  ['/agents/summary', 'GET /api/agents/summary'],
  ['/agents/node-1/history', 'GET /api/agents/node-1/history'],
  ['/traffic', 'GET /api/traffic'],
  ['/traffic/top', 'GET /api/traffic/top'],
  ['/traffic/violations', 'GET /api/traffic/violations'],
  ['/settings', 'GET /api/settings'],
  ['/settings/max_ips', 'GET /api/settings/max_ips'],
  ['/report', 'GET /api/stats/period'],
  ['/health', 'GET /health'],
  ['/health/detailed', 'GET /health/detailed'],
];

const WRITES: readonly (readonly [path: string, body: unknown, call: string])[] = [
  ['/ban', { username: 'busy@example.com' }, 'POST /api/ban'],
  ['/punishments/user-1/unban', undefined, 'POST /api/punishments/user-1/enable'],
  ['/settings/max_ips?value=4', undefined, 'POST /api/settings/max_ips'],
  ['/settings/notifications_enabled/toggle', undefined, 'POST /api/settings/notifications_enabled/toggle'],
  ['/settings/whitelist/add', { username: 'a' }, 'POST /api/settings/whitelist/add'],
  ['/settings/whitelist/remove', { username: 'a' }, 'POST /api/settings/whitelist/remove'],
];

describe('06 13: the ban system', () => {
  test('status never calls it; 503 while it is switched off or not configured', async () => {
    expect(okOf(await get('/status'))).toEqual({ enabled: true, configured: true });
    const states: [Record<string, string>, object, string][] = [
      [{ BAN_SYSTEM_ENABLED: 'false' }, { enabled: false, configured: false }, 'Ban System integration is disabled'],
      [{}, { enabled: true, configured: false }, 'Ban System is not configured'],
      [{ BAN_SYSTEM_API_URL: ban.server.url, BAN_SYSTEM_API_TOKEN: '' }, { configured: false }, 'Ban System is not configured'],
    ];
    for (const [environment, status, detail] of states) {
      const other = await testServer((await appWith(environment)).app);
      const client = await adminClient((await appWith(environment)).app, other, ['ban_system:*']);
      expect((await client.get(`${ROOT}/status`)).body).toMatchObject(status);
      for (const [path] of READS) {
        const { status: code, body } = await client.get(`${ROOT}${path}`);
        expect([path, code, body.detail]).toEqual([path, 503, detail]);
      }
      await other.close();
    }
    expect(ban.calls).toEqual([]);
  });

  test('the permission is checked before the state', async () => {
    const stranger = await adminClient(t.app, server, ['users:read']);
    for (const [path] of READS) expect((await stranger.get(`${ROOT}${path}`)).status).toBe(403);
    const reader = await adminClient(t.app, server, ['ban_system:read']);
    for (const [path, body] of WRITES) expect((await reader.post(`${ROOT}${path}`, body)).status).toBe(403);
    expect(ban.calls).toEqual([]);
  });

  test('every call has the token, accepts JSON, has no body and goes to the documented path', async () => {
    for (const [path, call] of READS) {
      okOf(await get(path));
      const { method, path: called, headers, body } = lastCall();
      expect(`${method} ${called}`).toBe(call);
      expect([headers.authorization, headers.accept, headers['content-type'], body]).toEqual([
        `Bearer ${TOKEN}`,
        'application/json',
        'application/json',
        '',
      ]);
    }
    expect(ban.calls).toHaveLength(READS.length);
  });

  test('arguments are passed on, blank ones left out', async () => {
    const queries: [string, Record<string, string | number>, string][] = [
      ['/users', { offset: 5, limit: 7, status: 'any word' }, 'offset=5&limit=7&status=any+word'],
      ['/users', { status: '' }, 'offset=0&limit=50'],
      ['/users/over-limit', { limit: 3 }, 'limit=3&window=true'],
      ['/history/x', {}, 'limit=20'],
      ['/nodes', {}, 'include_agent_stats=true'],
      [
        '/agents',
        { search: 'n', health: 'odd', status: 'online' },
        'search=n&health=odd&status=online&sort_by=name&sort_order=asc',
      ],
      ['/agents', {}, 'sort_by=name&sort_order=asc'],
      ['/agents/node-1/history', { hours: 168 }, 'hours=168&limit=50'],
      ['/traffic/top', {}, 'limit=20'],
      ['/traffic/violations', {}, 'limit=50'],
      ['/report', { hours: 2 }, 'hours=2'],
    ];
    for (const [path, query, sent] of queries) {
      okOf(await get(path, query));
      expect(lastCall().query).toBe(sent);
    }
  });

  test('hazard 14: every path segment is encoded, and none leads to another path', async () => {
    const odd = 'a/b?c=1#d%2e й';
    okOf(await get(`/users/search/${encodeURIComponent(odd)}`));
    expect(lastCall().path).toBe(`/api/users/search/${encodeURIComponent(odd)}`);
    // Clients of REST shorten such paths themselves; those of tRPC do not.
    const operations = [
      ['user', { email: '..' }],
      ['setting', { key: '.' }],
      ['history', { query: '' }],
    ] as const;
    for (const [name, input] of operations) {
      const query = { input: JSON.stringify(input) };
      expect((await admin.get(`/trpc/admin.banSystem.${name}`, { query })).body.error.data.status).toBe(422);
    }
    expect((await admin.post('/trpc/admin.banSystem.unban', { user_id: '..' })).body.error.data.status).toBe(422);
    expect(ban.calls).toHaveLength(1);
  });
});

describe('06 13: whatever it answers, never a 500', () => {
  const odd: unknown[] = [
    null,
    [],
    {},
    5,
    'text',
    [1, null, 'x', []],
    { users: 5, punishments: {}, items: 'x', nodes: [[]], agents: 7, settings: [], history: {}, components: [] },
    { users: [{}], punishments: [{}], items: [{}], nodes: [{}], agents: [{}], violations: [{}], history: [{ timestamp: 1 }] },
    { agents: { a: null, b: [], c: { stats: [] } }, summary: [], settings: { a: null, b: {}, c: { type: 5, min: 'x' } } },
    {
      total_users: '7',
      uptime: 1.9,
      status: 5,
      tcp_metrics: { intake_started_at: 'no' },
      connected_nodes: [1, { is_online: 'x' }],
    },
    { email: 5, ips: [[]], recent_requests: [{ timestamp: '2025-99-01' }], value: 1e308 },
  ];

  test('of any JSON, and of what is none', async () => {
    const bodies = [...odd.map((value) => JSON.stringify(value)), '', 'not JSON', '<html></html>', '{"users": [', '{"records": -1e400}', '\u0000'];
    for (const body of bodies) {
      ban.faults.every = { reply: { status: 200, body } };
      for (const [path] of READS) expect([path, body, (await get(path)).status]).toEqual([path, body, 200]);
      for (const [path, sent] of WRITES)
        expect([path, body, (await admin.post(`${ROOT}${path}`, sent)).status]).toEqual([path, body, 200]);
    }
  });

  test('of an answer that is nested deeper than it can be written, or too long: 502', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    ban.faults.every = { reply: { status: 200, body: deep } };
    expect(await get('/stats/raw')).toMatchObject({ status: 502 });
    ban.faults.every = { reply: { status: 200, body: JSON.stringify({ users: ['x'.repeat(9_000_000)] }) } };
    expect((await get('/users')).body).toEqual({ detail: 'Ban System API error: Connection error: the answer is too long' });
  });

  test('of every error status: 502 with its text, cut to 200 characters', async () => {
    for (const status of [400, 404, 409, 418, 422, 429, 500, 503]) {
      ban.faults.every = { reply: { status, body: `${status} ${'я'.repeat(300)}` } };
      for (const [path] of [READS[0]!, READS[5]!]) {
        const { status: code, body } = await get(path);
        expect(code).toBe(502);
        expect(body.detail).toBe(`Ban System API error: API error ${status}: ${status} ${'я'.repeat(196)}`);
      }
    }
    for (const [path, sent] of WRITES) expect((await admin.post(`${ROOT}${path}`, sent)).status).toBe(502);
    ban.faults.every = null;
    // Answers with a status do not open the circuit breaker.
    okOf(await get('/stats'));
  });

  test('a redirect is not followed', async () => {
    ban.faults.every = { reply: { status: 302, body: '' } };
    expect((await get('/stats')).body).toEqual({ detail: 'Ban System API error: API error 302: ' });
    expect(ban.calls).toHaveLength(1);
  });

  test('the token is in no answer: 401 and 403 without their text, others without the token', async () => {
    for (const status of [401, 403]) {
      ban.faults.every = { reply: { status, body: `bad token ${TOKEN}` } };
      expect((await get('/stats')).body).toEqual({ detail: `Ban System API error: API error ${status}` });
    }
    ban.faults.every = { reply: { status: 400, body: `bad token ${TOKEN}` } };
    expect((await get('/stats')).body.detail).toBe('Ban System API error: API error 400: bad token [redacted]');
  });

  test('time-out by the setting, a lost connection, nobody there: 502 without the host, and no retry', async () => {
    const fresh = await appWith({ BAN_SYSTEM_API_URL: ban.server.url });
    const own = await testServer(fresh.app);
    const client = await adminClient(fresh.app, own, ['ban_system:*']);
    ban.faults.every = { delayMs: 1_500 };
    expect(await client.get(`${ROOT}/stats`)).toMatchObject({
      status: 502,
      body: { detail: 'Ban System API error: Request timeout' },
    });
    expect(ban.calls).toHaveLength(1);
    ban.faults.every = { isCut: true };
    const { status, body } = await client.get(`${ROOT}/stats`);
    expect(status).toBe(502);
    expect(body.detail).toMatch(/^Ban System API error: Connection error: no answer/);
    expect(body.detail).not.toContain('127.0.0.1');
    expect(ban.calls).toHaveLength(2);
    await own.close();

    const nowhere = await appWith({ BAN_SYSTEM_API_URL: 'http://127.0.0.1:9' });
    const lost = await testServer(nowhere.app);
    const caller = await adminClient(nowhere.app, lost, ['ban_system:*']);
    for (let call = 0; call < 5; call += 1)
      expect((await caller.get(`${ROOT}/stats`)).body.detail).toBe(
        'Ban System API error: Connection error: no answer (ECONNREFUSED)',
      );
    // The circuit breaker is open now: nothing is tried for some seconds.
    expect((await caller.get(`${ROOT}/stats`)).body.detail).toBe(
      'Ban System API error: Connection error: no answer to the last calls',
    );
    await lost.close();
  });
});

describe('06 13: how answers are read', () => {
  test('stats: names, agents like nodes, seconds since the intake', async () => {
    const started = new Date(t.clock.now().getTime() - 61_500).toISOString().replace('Z', '');
    const stats = {
      total_users: '12',
      users_with_limit: 5,
      users_over_limit: 2,
      total_requests: 99,
      punishment_stats: { total_punishments: 4, active_punishments: 1 },
      connected_nodes: [{ is_online: true }, { is_online: false }],
      panel_loaded: true,
      tcp_metrics: { intake_started_at: started },
      unknown: 1,
    };
    expect(await answered('/stats', 'GET /api/stats', stats)).toEqual({
      total_users: 12,
      active_users: 5,
      users_over_limit: 2,
      total_requests: 99,
      total_punishments: 4,
      active_punishments: 1,
      nodes_online: 1,
      nodes_total: 2,
      agents_online: 1,
      agents_total: 2,
      panel_connected: true,
      uptime_seconds: 61,
    });
    expect(await answered('/stats/raw', 'GET /api/stats', stats)).toEqual({ raw_response: stats });
    expect((await answered('/stats', 'GET /api/stats', {})).uptime_seconds).toBeNull();
  });

  test('users: total of the ban system, else the length; over the limit by definition', async () => {
    const users = [{ email: 'a', limit: '3', last_seen: '2026-01-02 03:04:05+03:00' }, { unique_ip_count: 2.7 }];
    const listed = await answered('/users', 'GET /api/users', { users, total: 77 });
    expect(listed).toMatchObject({ total: 77, offset: 0, limit: 50 });
    expect(listed.users[0]).toMatchObject({ email: 'a', limit: 3, is_over_limit: false, last_seen: '2026-01-02T00:04:05.000Z' });
    expect(listed.users[1]).toEqual({
      email: '',
      unique_ip_count: 2,
      total_requests: 0,
      limit: null,
      is_over_limit: false,
      blocked_count: 0,
      last_seen: null,
    });
    expect((await answered('/users', 'GET /api/users', { users })).total).toBe(2);
    const over = await answered('/users/over-limit', 'GET /api/users/over-limit', { users, total: 77 });
    expect(over).toMatchObject({ total: 2, offset: 0, limit: 50, users: [{ is_over_limit: true }, { is_over_limit: true }] });
    expect(await answered('/users/search/q', 'GET /api/users/search/q', users)).toMatchObject({
      total: 2,
      offset: 0,
      limit: 100,
    });
  });

  test('a user: addresses of an object or a list, requests without a time left out', async () => {
    const call = 'GET /api/users/x%40y.z';
    const requests = [{ timestamp: '2026-01-02T03:04:05' }, { source_ip: '1.1.1.1' }];
    const detail = await answered('/users/x%40y.z', call, {
      ips: { '192.0.2.1': { node: 'n' }, b: { ip: 5 } },
      recent_requests: requests,
    });
    expect(detail.email).toBe('x@y.z');
    expect(detail.ips.map(({ ip }: { ip: string }) => ip)).toEqual(['192.0.2.1', '5']);
    expect(detail.recent_requests).toEqual([expect.objectContaining({ timestamp: '2026-01-02T03:04:05.000Z', source_ip: '' })]);
    expect((await answered('/users/x%40y.z', call, { ips: [{ ip: '::1' }] })).ips).toHaveLength(1);
  });

  test('bans: a list or an object, ids as text, rows without a time left out', async () => {
    const row = { id: '4', user_id: 17, username: 'u', punished_at: '2026-01-02T03:04:05Z', enabled: 'true' };
    for (const value of [[row, {}], { punishments: [row, { ...row, punished_at: 'soon' }] }]) {
      const { punishments, total } = await answered('/punishments', 'GET /api/punishments', value);
      expect(total).toBe(1);
      expect(punishments[0]).toMatchObject({ id: 4, user_id: '17', enabled: true, ip_count: 0, limit: 0, reason: null });
    }
    expect((await answered('/history/q', 'GET /api/history/q', { items: [row] })).total).toBe(1);
    expect((await answered('/users/q/history', 'GET /api/history/q', [row, row])).total).toBe(2);
  });

  test('nodes and agents: both forms of each', async () => {
    const nodes = await answered('/nodes', 'GET /api/nodes', [
      { name: 'a', is_online: true, last_heartbeat: '2026-01-02T03:04:05Z', unique_users: 3, agent_stats: { any: [1] } },
      { name: 'b', is_connected: true, last_seen: '2026-01-02', users_count: 4, agent_stats: 5 },
    ]);
    expect(nodes).toMatchObject({ total: 2, online: 2 });
    expect(nodes.nodes[0]).toMatchObject({ users_count: 3, agent_stats: { any: [1] }, last_seen: '2026-01-02T03:04:05.000Z' });
    expect(nodes.nodes[1]).toMatchObject({ is_connected: true, users_count: 4, agent_stats: null });

    const metrics = { sent: { total: 9, failed: 2 }, queue: { current: 1, high_watermark: 8 }, connection: { reconnects: 3 } };
    const keyed = await answered('/agents', 'GET /api/agents', {
      agents: { n: { is_online: true, stats: { metrics } } },
      summary: {},
    });
    expect(keyed).toMatchObject({ total: 1, online: 1, summary: { total_agents: 1, online_agents: 1 } });
    expect(keyed.agents[0]).toMatchObject({
      node_name: 'n',
      sent_total: 9,
      queue_max: 8,
      reconnects: 3,
      failures: 2,
      health: 'unknown',
    });
    const flat = await answered('/agents', 'GET /api/agents', { agents: [{ node_name: 'f', dedup_checked: 6, queue_max: 2 }] });
    expect(flat).toMatchObject({
      total: 1,
      online: 0,
      summary: null,
      agents: [{ node_name: 'f', dedup_checked: 6, queue_max: 2 }],
    });

    const history = [{ timestamp: '2026-01-02T03:04:05Z', sent_total: 5 }, {}];
    expect(await answered('/agents/n/history', 'GET /api/agents/n/history', { history, first: { a: 1 }, delta: [] })).toEqual({
      node: 'n',
      hours: 24,
      records: 1,
      delta: null,
      first: { a: 1 },
      last: null,
      history: [{ timestamp: '2026-01-02T03:04:05.000Z', sent_total: 5, dropped_total: 0, queue_size: 0, batches_total: 0 }],
    });
  });

  test('traffic: other names of fields', async () => {
    const violation = { type: 'daily', detected_at: '2026-01-02T03:04:05Z' };
    const traffic = { enabled: true, stats: { a: 1 }, top_users: [{ total_bytes: 5 }], recent_violations: [violation, {}] };
    expect(await answered('/traffic', 'GET /api/traffic', traffic)).toMatchObject({
      stats: { a: 1 },
      top_users: [{ username: '', bytes_total: 5, bytes_limit: null }],
      recent_violations: [{ violation_type: 'daily' }],
    });
    expect(await answered('/traffic/top', 'GET /api/traffic/top', { users: [{ bytes_total: 1, total_bytes: 2 }] })).toEqual([
      { username: '', bytes_total: 1, bytes_limit: null, over_limit: false },
    ]);
    expect(await answered('/traffic/violations', 'GET /api/traffic/violations', [violation])).toMatchObject({ total: 1 });
  });

  test('settings: described and bare values, with the type read from them, in their order', async () => {
    const settings = { z: { value: 5, min: 1, max: '9', editable: false }, a: true, b: 2, c: 2.5, d: [1], e: 'x', f: null };
    const listed = await answered('/settings', 'GET /api/settings', { settings });
    expect(listed.settings.map(({ key, value, type }: Record<string, unknown>) => [key, value, type])).toEqual([
      ['z', 5, 'str'],
      ['a', true, 'bool'],
      ['b', 2, 'int'],
      ['c', 2.5, 'float'],
      ['d', [1], 'list'],
      ['e', 'x', 'str'],
      ['f', null, 'str'],
    ]);
    expect(listed.settings[0]).toMatchObject({ min_value: 1, max_value: 9, editable: false });
  });

  test('report and health', async () => {
    const punishment_stats = { top_violators: [{ username: 'u', count: 3 }], other: 1 };
    expect(await answered('/report', 'GET /api/stats/period', { current_users: 4, punishment_stats })).toEqual({
      period_hours: 24,
      current_users: 4,
      current_ips: 0,
      punishment_stats,
      top_violators: [{ username: 'u', count: 3 }],
    });
    const components = { db: { status: 'ok', message: 'm', details: { a: 1 } }, panel: 'down', x: 5 };
    const health = await answered('/health', 'GET /health', { uptime: 5, components });
    expect(health).toEqual({
      status: 'unknown',
      uptime: 5,
      components: [
        { name: 'db', status: 'ok', message: 'm', details: { a: 1 } },
        { name: 'panel', status: 'down', message: null, details: null },
        { name: 'x', status: 'unknown', message: null, details: null },
      ],
    });
    expect((await answered('/health/detailed', 'GET /health/detailed', { components })).components).toEqual(components);
  });
});

describe('06 13: commands', () => {
  test('ban and unban: arguments in the query, no body, an audit row each', async () => {
    const body = { username: 'busy@example.com', minutes: 15, reason: 'too many & more' };
    expect(okOf(await admin.post(`${ROOT}/ban`, body))).toEqual({ success: true, message: 'User banned successfully' });
    expect(lastCall()).toMatchObject({ body: '', query: 'username=busy%40example.com&minutes=15&reason=too+many+%26+more' });
    expect(await lastAudit('ban_system:ban')).toMatchObject({
      resourceId: 'busy@example.com',
      details: { after: { banned: true, minutes: 15 } },
    });
    const { punishments } = okOf(await get('/punishments'));
    const { user_id } = punishments.at(-1);
    expect(okOf(await admin.post(`${ROOT}/punishments/${user_id}/unban`))).toEqual({
      success: true,
      message: 'User unbanned successfully',
    });
    expect(await lastAudit('ban_system:unban')).toMatchObject({ resourceId: user_id });
    expect(okOf(await get('/punishments')).total).toBe(punishments.length - 1);
    okOf(await admin.post(`${ROOT}/ban`, { username: 'x', reason: '' }));
    expect(lastCall().query).toBe('username=x&minutes=30');
  });

  test('bad input is 422 and reaches nothing', async () => {
    for (const body of [{}, { username: '' }, { username: 'a', minutes: 0 }, { username: 'a', reason: 'x'.repeat(501) }])
      expect((await admin.post(`${ROOT}/ban`, body)).status).toBe(422);
    expect((await admin.post(`${ROOT}/settings/max_ips`)).status).toBe(422);
    for (const [path, query] of [
      ['/users', { limit: 101 }],
      ['/report', { hours: 169 }],
      ['/users', { offset: -1 }],
    ] as const)
      expect((await get(path, query)).status).toBe(422);
    expect(ban.calls).toEqual([]);
  });

  test('a setting: an answer without value is followed by a reading; a blank value is a value', async () => {
    const changed = okOf(await admin.post(`${ROOT}/settings/max_ips?value=7`));
    expect(changed).toMatchObject({ key: 'max_ips', value: 7, type: 'int', min_value: 1, max_value: 50 });
    expect(ban.calls.map(({ method, path, query }) => `${method} ${path}?${query}`)).toEqual([
      'POST /api/settings/max_ips?value=7',
      'GET /api/settings/max_ips?',
    ]);
    expect(await lastAudit('ban_system:edit')).toMatchObject({ resourceId: 'max_ips', details: { after: { value: 7 } } });
    const before = okOf(await get('/settings/notifications_enabled')).value;
    expect(okOf(await admin.post(`${ROOT}/settings/notifications_enabled/toggle`)).value).toBe(!before);
    ban.faults.byCall.set('POST /api/settings/x', { reply: { status: 200, body: '"kept"' } });
    expect(okOf(await admin.post(`${ROOT}/settings/x?value=`))).toMatchObject({ value: 'kept', type: 'str' });
    expect(lastCall().query).toBe('value=');
  });

  test('hazard 1: the audit log does not keep the value of a setting that is a secret', async () => {
    const secret = 'very-secret-value';
    ban.faults.every = { reply: { status: 200, body: JSON.stringify({ value: secret }) } };
    okOf(await admin.post(`${ROOT}/settings/bot_token?value=${secret}`));
    const row = await lastAudit('ban_system:edit');
    expect(row).toMatchObject({ resourceId: 'bot_token' });
    expect(JSON.stringify(row)).not.toContain(secret);
  });

  test('the whitelist', async () => {
    expect(okOf(await admin.post(`${ROOT}/settings/whitelist/add`, { username: 'a b' })).message).toBe(
      'User a b added to whitelist',
    );
    expect(lastCall()).toMatchObject({ path: '/api/settings/whitelist/add', query: 'username=a+b' });
    expect((await ban.state()).whitelist).toContain('a b');
    expect(okOf(await admin.post(`${ROOT}/settings/whitelist/remove`, { username: 'a b' })).message).toBe(
      'User a b removed from whitelist',
    );
    expect((await ban.state()).whitelist).not.toContain('a b');
    expect(await lastAudit('ban_system:edit')).toMatchObject({ resourceId: 'a b' });
  });
});

test('SANDBOX_BAN_SYSTEM: without an address the fake of the sandbox is used', async () => {
  const { app } = await appWith({ SANDBOX_BAN_SYSTEM: 'true', BAN_SYSTEM_API_TOKEN: '' });
  const other = await testServer(app);
  const client = await adminClient(app as App, other, ['ban_system:*']);
  expect(okOf(await client.get(`${ROOT}/status`))).toEqual({ enabled: true, configured: true });
  expect(okOf(await client.get(`${ROOT}/users`)).total).toBe(2);
  await other.close();
});
