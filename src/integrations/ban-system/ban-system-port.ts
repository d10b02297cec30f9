import type { HttpClient } from '../../core/http/http-client.ts';
import type { BanSystemPort } from '../../domain/ban-system/ports.ts';
import type {
  BanHealth,
  BanHealthComponent,
  BanReport,
  BanSetting,
  BanStats,
  BanTopUser,
  BanTraffic,
  TrafficViolation,
} from '../../domain/ban-system/types.ts';
import { type BanSystemCall, type BanSystemConnection, createBanTransport } from './ban-transport.ts';
import {
  count,
  type Fields,
  fieldsOf,
  firstOf,
  flag,
  freeForm,
  integerOr,
  isFields,
  readAgentHistory,
  readAgents,
  readNodes,
  readPunishments,
  readSummary,
  readUserDetail,
  readUsers,
  rowsOf,
  textOr,
  timestampOrNull,
} from './read-users.ts';

const HISTORY_RECORDS = 50;

/** The calls of the ban system (spec 06 section 13, its table). @param http built by `banSystemHttp` */
export function createBanSystemPort(http: HttpClient, connection: () => BanSystemConnection): BanSystemPort {
  const transport = createBanTransport(http, connection);
  const callOf = (method: BanSystemCall['method']) => (path: readonly string[], query?: BanSystemCall['query']) =>
    transport.call({ method, path, ...(query && { query }) });
  const [get, post] = [callOf('GET'), callOf('POST')];
  const settingNow = async (key: string) => readSetting(key, await get(['api', 'settings', key]));

  return {
    state: () => ({ isEnabled: connection().isEnabled, isConfigured: transport.isConfigured() }),

    readStats: async () => readStats(await get(['api', 'stats'])),
    readRawStats: () => get(['api', 'stats']),
    readReport: async (hours) => readReport(await get(['api', 'stats', 'period'], { hours })),
    readHealth: async (isDetailed) => readHealth(await get(isDetailed ? ['health', 'detailed'] : ['health'])),

    listUsers: async ({ offset, limit, status }) => {
      const answer = await get(['api', 'users'], { offset, limit, status: status || null });
      return { users: readUsers(answer), total: integerOr(fieldsOf(answer).total, null) };
    },
    listUsersOverLimit: async (limit) => readUsers(await get(['api', 'users', 'over-limit'], { limit, window: true })),
    searchUsers: async (query) => readUsers(await get(['api', 'users', 'search', query])),
    readUser: async (email) => readUserDetail(await get(['api', 'users', email]), email),

    listPunishments: async () => readPunishments(await get(['api', 'punishments']), 'punishments'),
    listHistory: async (query, limit) => readPunishments(await get(['api', 'history', query], { limit }), 'items'),
    ban: async ({ username, minutes, reason }) =>
      void (await post(['api', 'ban'], { username, minutes, reason: reason || null })),
    unban: async (userId) => void (await post(['api', 'punishments', userId, 'enable'])),
    addToWhitelist: async (username) => void (await post(['api', 'settings', 'whitelist', 'add'], { username })),
    removeFromWhitelist: async (username) => void (await post(['api', 'settings', 'whitelist', 'remove'], { username })),

    listNodes: async () => readNodes(await get(['api', 'nodes'], { include_agent_stats: true })),
    listAgents: async ({ search, health, status }) => {
      const filter = { search: search || null, health: health || null, status: status || null };
      return readAgents(await get(['api', 'agents'], { ...filter, sort_by: 'name', sort_order: 'asc' }));
    },
    readAgentsSummary: async () => readSummary(await get(['api', 'agents', 'summary'])),
    readAgentHistory: async (node, hours) =>
      readAgentHistory(await get(['api', 'agents', node, 'history'], { hours, limit: HISTORY_RECORDS }), { node, hours }),

    readTraffic: async () => readTraffic(await get(['api', 'traffic'])),
    listTopUsers: async (limit) => readTopUsers(await get(['api', 'traffic', 'top'], { limit })),
    listViolations: async (limit) => readViolations(await get(['api', 'traffic', 'violations'], { limit })),

    listSettings: async () => readSettings(await get(['api', 'settings'])),
    readSetting: settingNow,
    changeSetting: async (key, value) => {
      const answer = await post(['api', 'settings', key], { value });
      return hasValue(answer) ? readSetting(key, answer) : settingNow(key);
    },
    toggleSetting: async (key) => {
      const answer = await post(['api', 'settings', key, 'toggle']);
      return hasValue(answer) ? readSetting(key, answer, 'bool') : settingNow(key);
    },
  };
}

function readStats(answer: unknown): BanStats {
  const row = fieldsOf(answer);
  const punishments = fieldsOf(row.punishment_stats);
  const nodes = rowsOf(row.connected_nodes, '');
  const online = nodes.filter((node) => flag(node.is_online)).length;
  return {
    totalUsers: count(row.total_users),
    activeUsers: count(row.users_with_limit),
    usersOverLimit: count(row.users_over_limit),
    totalRequests: count(row.total_requests),
    totalPunishments: count(punishments.total_punishments),
    activePunishments: count(punishments.active_punishments),
    // Each node runs one agent.
    nodesOnline: online,
    nodesTotal: nodes.length,
    agentsOnline: online,
    agentsTotal: nodes.length,
    panelConnected: flag(row.panel_loaded),
    intakeStartedAt: timestampOrNull(fieldsOf(row.tcp_metrics).intake_started_at),
  };
}

function readReport(answer: unknown): BanReport {
  const row = fieldsOf(answer);
  const punishmentStats = freeForm(row.punishment_stats);
  const topViolators = rowsOf(punishmentStats?.top_violators, '').map((item) => ({
    username: textOr(item.username, ''),
    count: count(item.count),
  }));
  return { currentUsers: count(row.current_users), currentIps: count(row.current_ips), punishmentStats, topViolators };
}

function readHealth(answer: unknown): BanHealth {
  const row = fieldsOf(answer);
  return {
    status: textOr(row.status, 'unknown'),
    uptime: integerOr(row.uptime, null),
    components: Object.entries(fieldsOf(row.components)).map(([name, component]) => componentOf(name, component)),
    rawComponents: freeForm(row.components) ?? {},
  };
}

/** Of an object, or of a text that is the status. */
function componentOf(name: string, component: unknown): BanHealthComponent {
  const { status, message, details } = typeof component === 'string' ? { status: component } : fieldsOf(component);
  return { name, status: textOr(status, 'unknown'), message: textOr(message, null), details: freeForm(details) };
}

/** Of `{settings: {key: value}}`, in its order. */
function readSettings(answer: unknown): BanSetting[] {
  return Object.entries(fieldsOf(fieldsOf(answer).settings)).map(([key, value]) => readSetting(key, value));
}

/**
 * A setting: an object that describes it, or a bare value, whose type is read from it.
 * @param typeOtherwise of an object that does not name the type
 */
function readSetting(key: string, answer: unknown, typeOtherwise = 'str'): BanSetting {
  const row: Fields = isFields(answer) ? answer : { value: answer, type: typeOf(answer) };
  return {
    key,
    value: row.value ?? null,
    type: textOr(row.type, typeOtherwise),
    minValue: integerOr(row.min, null),
    maxValue: integerOr(row.max, null),
    editable: flag(row.editable, true),
    description: textOr(row.description, null),
    category: textOr(row.category, null),
  };
}

/** Whether the answer to a change says what the value is now. */
function hasValue(answer: unknown): boolean {
  return isFields(answer) ? 'value' in answer : answer !== null;
}

function typeOf(value: unknown): string {
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  return Array.isArray(value) ? 'list' : 'str';
}

function readTraffic(answer: unknown): BanTraffic {
  const row = fieldsOf(answer);
  return {
    enabled: flag(row.enabled),
    stats: freeForm(row.stats),
    topUsers: readTopUsers(row.top_users),
    recentViolations: readViolations(row.recent_violations),
  };
}

/** Of `[T]` or `{users: [T]}`. */
function readTopUsers(answer: unknown): BanTopUser[] {
  return rowsOf(answer, 'users').map((row) => ({
    username: textOr(row.username, ''),
    bytesTotal: count(firstOf(row, 'bytes_total', 'total_bytes')),
    bytesLimit: integerOr(row.bytes_limit, null),
    overLimit: flag(row.over_limit),
  }));
}

/** Of `[V]` or `{violations: [V]}`. */
function readViolations(answer: unknown): TrafficViolation[] {
  return rowsOf(answer, 'violations').flatMap((row) => {
    const detectedAt = timestampOrNull(row.detected_at);
    if (detectedAt === null) return [];
    const violation = {
      id: integerOr(row.id, null),
      username: textOr(row.username, ''),
      email: textOr(row.email, null),
      violationType: textOr(firstOf(row, 'violation_type', 'type'), ''),
      description: textOr(row.description, null),
      bytesUsed: count(row.bytes_used),
      bytesLimit: count(row.bytes_limit),
      detectedAt,
      resolved: flag(row.resolved),
    };
    return [violation];
  });
}
