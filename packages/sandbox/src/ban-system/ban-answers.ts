import type { BanState, BanStateUser } from './ban-state.ts';

/** Answers of the fake ban system to questions, in the form of its wire. They have fields that no client needs, as the real ones may. */

const NODES = ['node-1', 'node-2'];

const userOf = (state: BanState, email: string, user: BanStateUser) => ({
  email,
  unique_ip_count: user.unique_ip_count,
  total_requests: user.total_requests,
  limit: user.limit,
  is_over_limit: user.limit !== null && user.unique_ip_count > user.limit,
  blocked_count: user.blocked_count,
  whitelisted: state.whitelist.includes(email),
});

const usersOf = (state: BanState) => Object.entries(state.users).map(([email, user]) => userOf(state, email, user));

const agentOf = (now: Date) => ({
  is_online: true,
  health: 'healthy',
  updated_at: now.toISOString(),
  stats: {
    metrics: {
      sent: { total: 1_000, dropped: 2, batches: 50, failed: 0 },
      queue: { current: 3, high_watermark: 40 },
      connection: { reconnects: 1, failures: 0 },
    },
  },
});

/** @param path its segments, decoded; @returns undefined for an unknown path */
export function answerTo(state: BanState, path: readonly string[], query: URLSearchParams, now: Date): unknown {
  const [area, first = '', second = '', third = ''] = path;
  const limit = Number(query.get('limit') ?? 50);
  if (area === 'health') return healthOf(first === 'detailed');
  switch (first) {
    case 'stats':
      return second === 'period' ? reportOf(state) : statsOf(state, now);
    case 'users':
      return answerAboutUsers(state, second, third, query, now);
    case 'punishments':
      return state.punishments.filter(({ enabled }) => !enabled);
    case 'history':
      return {
        items: state.punishments
          .filter(({ username, user_id }) => [username, user_id].includes(second))
          .toReversed()
          .slice(0, limit),
      };
    case 'nodes':
      return {
        nodes: NODES.map((name) => ({
          name,
          is_online: true,
          last_heartbeat: now.toISOString(),
          unique_users: 1,
          agent_stats: agentOf(now).stats,
        })),
      };
    case 'agents':
      return answerAboutAgents(second, third, query, now);
    case 'traffic':
      return answerAboutTraffic(second, limit);
    case 'settings':
      return second === '' ? { settings: state.settings } : state.settings[second];
    default:
      return undefined;
  }
}

function statsOf(state: BanState, now: Date) {
  const users = usersOf(state);
  return {
    total_users: users.length,
    users_with_limit: users.filter(({ limit }) => limit !== null).length,
    users_over_limit: users.filter(({ is_over_limit }) => is_over_limit).length,
    total_requests: users.reduce((sum, user) => sum + user.total_requests, 0),
    punishment_stats: punishmentsOf(state),
    connected_nodes: NODES.map((name) => ({ name, is_online: true })),
    panel_loaded: true,
    tcp_metrics: { intake_started_at: new Date(now.getTime() - 3_600_000).toISOString() },
  };
}

function punishmentsOf({ punishments }: BanState) {
  const active = punishments.filter(({ enabled }) => !enabled).length;
  const counts = Map.groupBy(punishments, ({ username }) => username);
  const top = [...counts].map(([username, { length }]) => ({ username, count: length }));
  return { total_punishments: punishments.length, active_punishments: active, top_violators: top };
}

function reportOf(state: BanState) {
  const users = Object.values(state.users);
  const ips = users.reduce((sum, user) => sum + user.unique_ip_count, 0);
  return { current_users: users.length, current_ips: ips, punishment_stats: punishmentsOf(state) };
}

function answerAboutUsers(state: BanState, second: string, third: string, query: URLSearchParams, now: Date): unknown {
  const users = usersOf(state);
  if (second === '') {
    const status = query.get('status');
    const wanted = users.filter(
      (user) => !status || (status === 'over_limit' ? user.is_over_limit : (user.limit !== null) === (status === 'with_limit')),
    );
    const offset = Number(query.get('offset') ?? 0);
    return { users: wanted.slice(offset, offset + Number(query.get('limit') ?? 50)), total: wanted.length };
  }
  if (second === 'over-limit') return { users: users.filter((user) => user.is_over_limit) };
  if (second === 'search') return users.filter(({ email }) => email.includes(third));
  const user = state.users[second];
  if (!user) return undefined;
  const recent = { timestamp: now.toISOString(), source_ip: '192.0.2.10', destination: 'example.com', dest_port: 443 };
  return { ...userOf(state, second, user), network_type: 'wifi', ips: user.ips, recent_requests: [recent] };
}

function answerAboutAgents(second: string, third: string, query: URLSearchParams, now: Date): unknown {
  const summary = { total_agents: NODES.length, online_agents: NODES.length, total_sent: 2_000, healthy_count: NODES.length };
  if (second === 'summary') return summary;
  if (third === 'history') {
    const reading = { timestamp: now.toISOString(), sent_total: 1_000, dropped_total: 2, queue_size: 3, batches_total: 50 };
    return { node: second, hours: Number(query.get('hours')), records: 1, delta: { sent_total: 10 }, history: [reading] };
  }
  const search = query.get('search') ?? '';
  const isShown = query.get('status') !== 'offline' && ['healthy', null].includes(query.get('health'));
  const names = isShown ? NODES.filter((name) => name.includes(search)) : [];
  return { agents: Object.fromEntries(names.map((name) => [name, agentOf(now)])), summary };
}

function answerAboutTraffic(second: string, limit: number): unknown {
  const top = [{ username: 'busy@example.com', total_bytes: 5_000_000_000, bytes_limit: 4_000_000_000, over_limit: true }];
  const violation = { id: 1, username: 'busy@example.com', type: 'daily', bytes_used: 5_000_000_000, bytes_limit: 4_000_000_000 };
  const violations = [{ ...violation, detected_at: '2026-01-15T12:00:00', resolved: false }];
  if (second === 'top') return top.slice(0, limit);
  if (second === 'violations') return { violations: violations.slice(0, limit) };
  return { enabled: true, stats: { checked_users: 2 }, top_users: top, recent_violations: violations };
}

function healthOf(isDetailed: boolean) {
  const components = { database: { status: 'healthy', message: 'ok' }, panel: 'healthy' };
  return { status: 'healthy', uptime: 3_600, components: isDetailed ? { ...components, queue: { length: 3 } } : components };
}
