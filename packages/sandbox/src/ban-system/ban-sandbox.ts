import { setTimeout as wait } from 'node:timers/promises';
import type { SandboxStore } from '../host-ports.ts';
import {
  jsonReply,
  type LoopbackReply,
  type LoopbackRequest,
  type LoopbackServer,
  startLoopbackServer,
} from '../loopback-server.ts';
import { StoredState } from '../stored-state.ts';

const STATE_KEY = 'ban_system';
const MINUTE_MS = 60_000;
/** A hundred years, so that every length has an end that is a date. */
const MAX_MINUTES = 52_560_000;

export interface BanSandboxOptions {
  store: SandboxStore;
  /** The bearer token that it accepts. */
  token: string;
  /** The service clock. */
  now: () => Date;
}

export interface BanSandbox {
  server: LoopbackServer;
  faults: BanFaults;
  /** Requests since the start, oldest first, with path and query as they came. */
  calls: { method: string; path: string; query: string; headers: Readonly<Record<string, string>>; body: string }[];
  state(): Promise<BanState>;
  close(): Promise<void>;
}

/** The fake ban system on loopback, with the paths of the real one (spec 06 section 13). */
export async function startBanSandbox(options: BanSandboxOptions): Promise<BanSandbox> {
  const state = new StoredState<BanState>(options.store, STATE_KEY, firstState);
  const faults: BanFaults = { byCall: new Map(), every: null };
  const calls: BanSandbox['calls'] = [];

  const answer = async ({ method, path, query, headers }: LoopbackRequest): Promise<LoopbackReply> => {
    const segments = path.split('/').slice(1).map(decodeURIComponent);
    if (segments[0] !== 'health' && headers.authorization !== `Bearer ${options.token}`)
      return jsonReply(401, { detail: 'Invalid token' });
    const now = options.now();
    const value =
      method === 'GET'
        ? answerTo(await state.read(), segments, query, now)
        : await state.update((stored) => change(stored, segments, query, now));
    return value === undefined ? jsonReply(404, { detail: 'Not Found' }) : jsonReply(200, value);
  };

  const server = await startLoopbackServer(async (request) => {
    const { method, path, query, headers, body } = request;
    calls.push({ method, path, query: query.toString(), headers, body });
    const fault = faults.byCall.get(`${method} ${path}`) ?? faults.every;
    if (fault?.delayMs) await wait(fault.delayMs);
    if (fault?.isCut) return { status: 503, contentType: 'text/plain', body: '', isCut: true };
    if (fault?.reply) return { contentType: 'application/json', ...fault.reply };
    return answer(request);
  });

  return { server, faults, calls, state: () => state.read(), close: () => server.close() };
}

/** Carries out a command; undefined for an unknown one. */
function change(state: BanState, [, first, second = '', third]: string[], query: URLSearchParams, now: Date): unknown {
  if (first === 'ban') return ban(state, query, now);
  if (first === 'punishments' && third === 'enable') {
    const waiting = state.punishments.filter(({ user_id, enabled }) => user_id === second && !enabled);
    for (const punishment of waiting) Object.assign(punishment, { enabled: true, enabled_at: now.toISOString() });
    return waiting.length > 0 ? { success: true } : undefined;
  }
  if (first !== 'settings') return undefined;
  if (second === 'whitelist') {
    const username = query.get('username') ?? '';
    state.whitelist = state.whitelist.filter((name) => name !== username);
    if (third === 'add') state.whitelist.push(username);
    return { success: true };
  }
  const setting = state.settings[second];
  if (!setting) return undefined;
  setting.value = third === 'toggle' ? !setting.value : settingValue(setting.type, query.get('value') ?? '');
  // The answer to a change does not say the value.
  return third === 'toggle' ? setting : { success: true };
}

function ban(state: BanState, query: URLSearchParams, now: Date): unknown {
  const username = query.get('username') ?? '';
  const user = state.users[username];
  const id = state.nextId;
  state.nextId += 1;
  state.punishments.push({
    id,
    user_id: `user-${id}`,
    username,
    reason: query.get('reason'),
    punished_at: now.toISOString(),
    enable_at: new Date(now.getTime() + Math.min(Number(query.get('minutes')), MAX_MINUTES) * MINUTE_MS).toISOString(),
    ip_count: user?.unique_ip_count ?? 0,
    limit: user?.limit ?? 0,
    enabled: false,
    enabled_at: null,
    node_name: null,
  });
  return { success: true };
}

// Answers of the fake ban system to questions, in the form of its wire. They have fields that no client needs, as the real ones may.

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
function answerTo(state: BanState, path: readonly string[], query: URLSearchParams, now: Date): unknown {
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

/** How the fake ban system fails, for trying the service. */
interface BanFault {
  /** Milliseconds before the answer. */
  delayMs?: number;
  /** Answer with this status and body in place of the usual one. */
  reply?: { status: number; body: string; contentType?: string };
  /** The connection is cut before the call has an effect. */
  isCut?: boolean;
}

/** Faults of the fake ban system. */
interface BanFaults {
  /** By method and path, percent-encoded as it came: `GET /api/stats`. Each is for every call until it is removed. */
  byCall: Map<string, BanFault>;
  /** For all calls without one of their own. */
  every: BanFault | null;
}

/** What the fake ban system stores, in the form of its wire (spec 06 section 13). */
interface BanState {
  users: Record<string, BanStateUser>;
  punishments: BanStatePunishment[];
  settings: Record<string, { value: unknown; type: string; min?: number; max?: number; description: string; category: string }>;
  whitelist: string[];
  nextId: number;
}

interface BanStateUser {
  unique_ip_count: number;
  total_requests: number;
  limit: number | null;
  blocked_count: number;
  ips: Record<string, Record<string, unknown>>;
}

interface BanStatePunishment {
  id: number;
  user_id: string;
  username: string;
  reason: string | null;
  punished_at: string;
  enable_at: string;
  ip_count: number;
  limit: number;
  enabled: boolean;
  enabled_at: string | null;
  node_name: string | null;
}

/** Two users, one of them over the limit, and some settings. */
function firstState(): BanState {
  const address = (ip: string, node: string) => ({
    ip,
    node,
    request_count: 120,
    country_code: 'NL',
    country_name: 'Netherlands',
  });
  return {
    users: {
      'quiet@example.com': {
        unique_ip_count: 1,
        total_requests: 120,
        limit: 3,
        blocked_count: 0,
        ips: { '192.0.2.10': address('192.0.2.10', 'node-1') },
      },
      'busy@example.com': {
        unique_ip_count: 5,
        total_requests: 4_200,
        limit: 3,
        blocked_count: 2,
        ips: { '192.0.2.20': address('192.0.2.20', 'node-1'), '192.0.2.21': address('192.0.2.21', 'node-2') },
      },
    },
    punishments: [],
    settings: {
      max_ips: { value: 3, type: 'int', min: 1, max: 50, description: 'Addresses at the same time', category: 'limits' },
      punishment_minutes: { value: 30, type: 'int', min: 1, max: 1440, description: 'Length of a ban', category: 'limits' },
      notifications_enabled: { value: true, type: 'bool', description: 'Whether users are told', category: 'messages' },
    },
    whitelist: [],
    nextId: 1,
  };
}

/** A text argument as the type of its setting. */
function settingValue(type: string, text: string): unknown {
  if (type === 'bool') return ['true', '1', 'yes', 'on'].includes(text.toLowerCase());
  return type === 'int' || type === 'float' ? Number(text) : text;
}
