import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { adminClient } from '../support/actors.ts';
import { type ApiReply, testServer } from '../support/api.ts';
import { appWithBans, BAN_ROOT, BAN_TOKEN, type BanTest, resetBans, startWithBans } from '../support/ban-setup.ts';

let t: BanTest;

beforeAll(async () => {
  t = await startWithBans();
});
afterAll(() => t.close());
beforeEach(() => resetBans(t));

const get = (path: string, query: Record<string, string | number> = {}) => t.admin.get(`${BAN_ROOT}${path}`, { query });
const okOf = ({ status, body }: ApiReply) => {
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const lastCall = () => t.ban.calls.at(-1)!;
/** The newest audit row of an action. */
const lastAudit = async (action: string) => {
  const [row] = await t.app.db.sql<{ resourceId: string; status: string; details: Record<string, unknown> }>(
    'SELECT resource_id, status, details FROM admin_audit_log WHERE action = $1 AND user_id = $2::int ORDER BY id DESC LIMIT 1',
    [action, t.admin.user.id],
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
  test('status never calls it, and reads are 503 while it is switched off or not configured', async () => {
    expect(okOf(await get('/status'))).toEqual({ enabled: true, configured: true });
    const states: [Record<string, string>, object, string][] = [
      [{ BAN_SYSTEM_ENABLED: 'false' }, { enabled: false, configured: false }, 'Ban System integration is disabled'],
      [{}, { enabled: true, configured: false }, 'Ban System is not configured'],
      [{ BAN_SYSTEM_API_URL: t.ban.server.url, BAN_SYSTEM_API_TOKEN: '' }, { configured: false }, 'Ban System is not configured'],
    ];
    for (const [environment, status, detail] of states) {
      const other = await testServer((await appWithBans(environment)).app);
      const client = await adminClient((await appWithBans(environment)).app, other, ['ban_system:*']);
      expect((await client.get(`${BAN_ROOT}/status`)).body).toMatchObject(status);
      for (const [path] of READS) {
        const { status: code, body } = await client.get(`${BAN_ROOT}${path}`);
        expect([path, code, body.detail]).toEqual([path, 503, detail]);
      }
      await other.close();
    }
    expect(t.ban.calls).toEqual([]);
  });

  test('the permission is checked before the state', async () => {
    const stranger = await adminClient(t.app, t.server, ['users:read']);
    for (const [path] of READS) expect((await stranger.get(`${BAN_ROOT}${path}`)).status).toBe(403);
    const reader = await adminClient(t.app, t.server, ['ban_system:read']);
    for (const [path, body] of WRITES) expect((await reader.post(`${BAN_ROOT}${path}`, body)).status).toBe(403);
    expect(t.ban.calls).toEqual([]);
  });

  test('every call has the token, accepts JSON, has no body and goes to the documented path', async () => {
    for (const [path, call] of READS) {
      okOf(await get(path));
      const { method, path: called, headers, body } = lastCall();
      expect(`${method} ${called}`).toBe(call);
      expect([headers.authorization, headers.accept, headers['content-type'], body]).toEqual([
        `Bearer ${BAN_TOKEN}`,
        'application/json',
        'application/json',
        '',
      ]);
    }
    expect(t.ban.calls).toHaveLength(READS.length);
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

  test('spec 06 section 17, hazard 14: every path segment is encoded, and none leads to another path', async () => {
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
      expect((await t.admin.get(`/trpc/admin.banSystem.${name}`, { query })).body.error.data.status).toBe(422);
    }
    expect((await t.admin.post('/trpc/admin.banSystem.unban', { user_id: '..' })).body.error.data.status).toBe(422);
    expect(t.ban.calls).toHaveLength(1);
  });
});

describe('spec 10 O10: what the ban system could not mean is refused before it is asked', () => {
  test.each([
    [{ username: 'a\0b' }],
    [{ username: 'somebody', minutes: 1_000_000_000_000 }],
    [{ username: 'somebody', reason: 'a\0b' }],
  ])('%j', async (request) => {
    const calls = t.ban.calls.length;
    expect((await t.admin.post(`${BAN_ROOT}/ban`, request)).status).toBe(422);
    expect(t.ban.calls).toHaveLength(calls);
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
    const bodies = [
      ...odd.map((value) => JSON.stringify(value)),
      '',
      'not JSON',
      '<html></html>',
      '{"users": [',
      '{"records": -1e400}',
      '\u0000',
    ];
    for (const body of bodies) {
      t.ban.faults.every = { reply: { status: 200, body } };
      for (const [path] of READS) expect([path, body, (await get(path)).status]).toEqual([path, body, 200]);
      for (const [path, sent] of WRITES)
        expect([path, body, (await t.admin.post(`${BAN_ROOT}${path}`, sent)).status]).toEqual([path, body, 200]);
    }
  });

  test('of an answer that is nested deeper than it can be written, or too long: 502', async () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    t.ban.faults.every = { reply: { status: 200, body: deep } };
    expect(await get('/stats/raw')).toMatchObject({ status: 502 });
    t.ban.faults.every = { reply: { status: 200, body: JSON.stringify({ users: ['x'.repeat(9_000_000)] }) } };
    expect((await get('/users')).body).toEqual({ detail: 'Ban System API error: Connection error: the answer is too long' });
  });

  test('of every error status: 502 with its text, cut to 200 characters', async () => {
    for (const status of [400, 404, 409, 418, 422, 429, 500, 503]) {
      t.ban.faults.every = { reply: { status, body: `${status} ${'я'.repeat(300)}` } };
      for (const [path] of [READS[0]!, READS[5]!]) {
        const { status: code, body } = await get(path);
        expect(code).toBe(502);
        expect(body.detail).toBe(`Ban System API error: API error ${status}: ${status} ${'я'.repeat(196)}`);
      }
    }
    for (const [path, sent] of WRITES) expect((await t.admin.post(`${BAN_ROOT}${path}`, sent)).status).toBe(502);
    t.ban.faults.every = null;
    // Answers with a status do not open the circuit breaker.
    okOf(await get('/stats'));
  });

  test('a redirect is not followed', async () => {
    t.ban.faults.every = { reply: { status: 302, body: '' } };
    expect((await get('/stats')).body).toEqual({ detail: 'Ban System API error: API error 302: ' });
    expect(t.ban.calls).toHaveLength(1);
  });

  test('the token is in no answer: 401 and 403 without their text, others without the token', async () => {
    for (const status of [401, 403]) {
      t.ban.faults.every = { reply: { status, body: `bad token ${BAN_TOKEN}` } };
      expect((await get('/stats')).body).toEqual({ detail: `Ban System API error: API error ${status}` });
    }
    t.ban.faults.every = { reply: { status: 400, body: `bad token ${BAN_TOKEN}` } };
    expect((await get('/stats')).body.detail).toBe('Ban System API error: API error 400: bad token [redacted]');
  });

  test('time-out by the setting, a lost connection, nobody there: 502 without the host, and no retry', async () => {
    const fresh = await appWithBans({ BAN_SYSTEM_API_URL: t.ban.server.url, BAN_SYSTEM_REQUEST_TIMEOUT: '2' });
    const quick = await testServer(fresh.app);
    const client = await adminClient(fresh.app, quick, ['ban_system:*']);
    t.ban.faults.every = { delayMs: 4_000 };
    expect(await client.get(`${BAN_ROOT}/stats`)).toMatchObject({
      status: 502,
      body: { detail: 'Ban System API error: Request timeout' },
    });
    expect(t.ban.calls).toHaveLength(1);
    t.ban.faults.every = { isCut: true };
    const { status, body } = await client.get(`${BAN_ROOT}/stats`);
    expect(status).toBe(502);
    expect(body.detail).toMatch(/^Ban System API error: Connection error: no answer/);
    expect(body.detail).not.toContain('127.0.0.1');
    expect(t.ban.calls).toHaveLength(2);
    await quick.close();

    const nowhere = await appWithBans({ BAN_SYSTEM_API_URL: 'http://127.0.0.1:9' });
    const lost = await testServer(nowhere.app);
    const caller = await adminClient(nowhere.app, lost, ['ban_system:*']);
    for (let call = 0; call < 5; call += 1)
      expect((await caller.get(`${BAN_ROOT}/stats`)).body.detail).toBe(
        'Ban System API error: Connection error: no answer (ECONNREFUSED)',
      );
    // The circuit breaker is open now: nothing is tried for some seconds.
    expect((await caller.get(`${BAN_ROOT}/stats`)).body.detail).toBe(
      'Ban System API error: Connection error: no answer to the last calls',
    );
    await lost.close();
  });
});

describe('06 13: commands', () => {
  test('ban and unban: arguments in the query, no body, an audit row each', async () => {
    const body = { username: 'busy@example.com', minutes: 15, reason: 'too many & more' };
    expect(okOf(await t.admin.post(`${BAN_ROOT}/ban`, body))).toEqual({ success: true, message: 'User banned successfully' });
    expect(lastCall()).toMatchObject({ body: '', query: 'username=busy%40example.com&minutes=15&reason=too+many+%26+more' });
    expect(await lastAudit('ban_system:ban')).toMatchObject({
      resourceId: 'busy@example.com',
      details: { after: { banned: true, minutes: 15 } },
    });
    const { punishments } = okOf(await get('/punishments'));
    const { user_id } = punishments.at(-1);
    expect(okOf(await t.admin.post(`${BAN_ROOT}/punishments/${user_id}/unban`))).toEqual({
      success: true,
      message: 'User unbanned successfully',
    });
    expect(await lastAudit('ban_system:unban')).toMatchObject({ resourceId: user_id });
    expect(okOf(await get('/punishments')).total).toBe(punishments.length - 1);
    okOf(await t.admin.post(`${BAN_ROOT}/ban`, { username: 'x', reason: '' }));
    expect(lastCall().query).toBe('username=x&minutes=30');
  });

  test('bad input is 422 and reaches nothing', async () => {
    for (const body of [{}, { username: '' }, { username: 'a', minutes: 0 }, { username: 'a', reason: 'x'.repeat(501) }])
      expect((await t.admin.post(`${BAN_ROOT}/ban`, body)).status).toBe(422);
    expect((await t.admin.post(`${BAN_ROOT}/settings/max_ips`)).status).toBe(422);
    for (const [path, query] of [
      ['/users', { limit: 101 }],
      ['/report', { hours: 169 }],
      ['/users', { offset: -1 }],
    ] as const)
      expect((await get(path, query)).status).toBe(422);
    expect(t.ban.calls).toEqual([]);
  });

  test('a setting is read again after an answer without value, and a blank value is a value', async () => {
    const changed = okOf(await t.admin.post(`${BAN_ROOT}/settings/max_ips?value=7`));
    expect(changed).toMatchObject({ key: 'max_ips', value: 7, type: 'int', min_value: 1, max_value: 50 });
    expect(t.ban.calls.map(({ method, path, query }) => `${method} ${path}?${query}`)).toEqual([
      'POST /api/settings/max_ips?value=7',
      'GET /api/settings/max_ips?',
    ]);
    expect(await lastAudit('ban_system:edit')).toMatchObject({ resourceId: 'max_ips', details: { after: { value: 7 } } });
    const before = okOf(await get('/settings/notifications_enabled')).value;
    expect(okOf(await t.admin.post(`${BAN_ROOT}/settings/notifications_enabled/toggle`)).value).toBe(!before);
    t.ban.faults.byCall.set('POST /api/settings/x', { reply: { status: 200, body: '"kept"' } });
    expect(okOf(await t.admin.post(`${BAN_ROOT}/settings/x?value=`))).toMatchObject({ value: 'kept', type: 'str' });
    expect(lastCall().query).toBe('value=');
  });

  test('spec 06 section 17, hazard 1: the audit log does not keep the value of a setting that is a secret', async () => {
    const secret = 'very-secret-value';
    t.ban.faults.every = { reply: { status: 200, body: JSON.stringify({ value: secret }) } };
    okOf(await t.admin.post(`${BAN_ROOT}/settings/bot_token?value=${secret}`));
    const row = await lastAudit('ban_system:edit');
    expect(row).toMatchObject({ resourceId: 'bot_token' });
    expect(JSON.stringify(row)).not.toContain(secret);
  });

  test('the whitelist', async () => {
    expect(okOf(await t.admin.post(`${BAN_ROOT}/settings/whitelist/add`, { username: 'a b' })).message).toBe(
      'User a b added to whitelist',
    );
    expect(lastCall()).toMatchObject({ path: '/api/settings/whitelist/add', query: 'username=a+b' });
    expect((await t.ban.state()).whitelist).toContain('a b');
    expect(okOf(await t.admin.post(`${BAN_ROOT}/settings/whitelist/remove`, { username: 'a b' })).message).toBe(
      'User a b removed from whitelist',
    );
    expect((await t.ban.state()).whitelist).not.toContain('a b');
    expect(await lastAudit('ban_system:edit')).toMatchObject({ resourceId: 'a b' });
  });
});

test('SANDBOX_BAN_SYSTEM: without an address the fake of the sandbox is used', async () => {
  const { app } = await appWithBans({ SANDBOX_BAN_SYSTEM: 'true', BAN_SYSTEM_API_TOKEN: '' });
  const other = await testServer(app);
  const client = await adminClient(app, other, ['ban_system:*']);
  expect(okOf(await client.get(`${BAN_ROOT}/status`))).toEqual({ enabled: true, configured: true });
  expect(okOf(await client.get(`${BAN_ROOT}/users`)).total).toBe(2);
  await other.close();
});
