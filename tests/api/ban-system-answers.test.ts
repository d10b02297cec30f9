import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { BAN_ROOT, type BanTest, resetBans, startWithBans } from '../support/ban-setup.ts';

let t: BanTest;

beforeAll(async () => {
  t = await startWithBans();
});
afterAll(() => t.close());
beforeEach(() => resetBans(t));

/** The answer to `GET path` when the ban system answers `call` with this. */
const answered = async (path: string, call: string, value: unknown) => {
  t.ban.faults.byCall.set(call, { reply: { status: 200, body: JSON.stringify(value) } });
  const { status, body } = await t.admin.get(`${BAN_ROOT}${path}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};

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

  test('the total of users is that of the ban system, else their number, and the over-limit list marks each of its users', async () => {
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
