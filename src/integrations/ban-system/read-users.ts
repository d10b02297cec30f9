import { isIP } from 'node:net';
import type {
  BanAgent,
  BanAgentHistory,
  BanAgentsSummary,
  BanNode,
  BanUser,
  BanUserAddress,
  BanUserDetail,
  BanUserRequest,
  Punishment,
} from '../../domain/ban-system/types.ts';

/** Of `{users: [U]}` or `[U]`. */
export function readUsers(answer: unknown): BanUser[] {
  return rowsOf(answer, 'users').map(userOf);
}

function userOf(row: Fields): BanUser {
  return {
    email: textOr(row.email, ''),
    uniqueIpCount: count(row.unique_ip_count),
    totalRequests: count(row.total_requests),
    limit: integerOr(row.limit, null),
    isOverLimit: flag(row.is_over_limit),
    blockedCount: count(row.blocked_count),
    lastSeen: timestampOrNull(row.last_seen),
  };
}

/** @param email the requested one, where the answer has none */
export function readUserDetail(answer: unknown, email: string): BanUserDetail {
  const row = fieldsOf(answer);
  const user = userOf(row);
  return {
    ...user,
    email: user.email || email,
    ips: addressesOf(row.ips),
    recentRequests: rowsOf(row.recent_requests, '').flatMap(requestOf),
    networkType: textOr(row.network_type, null),
  };
}

/** An array, or an object whose keys are the addresses. */
function addressesOf(value: unknown): BanUserAddress[] {
  if (!isFields(value)) return rowsOf(value, '').map((row) => addressOf(row, ''));
  return Object.entries(value).flatMap(([key, row]) => (isFields(row) ? [addressOf(row, isIP(key) ? key : '')] : []));
}

function addressOf(row: Fields, key: string): BanUserAddress {
  return {
    ip: textOr(row.ip, key),
    firstSeen: timestampOrNull(row.first_seen),
    lastSeen: timestampOrNull(row.last_seen),
    node: textOr(row.node, null),
    requestCount: count(row.request_count),
    countryCode: textOr(row.country_code, null),
    countryName: textOr(row.country_name, null),
    city: textOr(row.city, null),
  };
}

function requestOf(row: Fields): BanUserRequest[] {
  const timestamp = timestampOrNull(row.timestamp);
  if (timestamp === null) return [];
  const request = {
    timestamp,
    sourceIp: textOr(row.source_ip, ''),
    destination: textOr(row.destination, null),
    destPort: integerOr(row.dest_port, null),
    protocol: textOr(row.protocol, null),
    action: textOr(row.action, null),
    node: textOr(row.node, null),
  };
  return [request];
}

/** Of `[P]`, or of an object with the list under `name`. */
export function readPunishments(answer: unknown, name: 'punishments' | 'items'): Punishment[] {
  return rowsOf(answer, name).flatMap((row) => {
    const punishedAt = timestampOrNull(row.punished_at);
    if (punishedAt === null) return [];
    const punishment = {
      id: integerOr(row.id, null),
      userId: textOr(row.user_id, ''),
      uuid: textOr(row.uuid, null),
      username: textOr(row.username, ''),
      reason: textOr(row.reason, null),
      punishedAt,
      enableAt: timestampOrNull(row.enable_at),
      ipCount: count(row.ip_count),
      limit: count(row.limit),
      enabled: flag(row.enabled),
      enabledAt: timestampOrNull(row.enabled_at),
      nodeName: textOr(row.node_name, null),
    };
    return [punishment];
  });
}

/** Of `[N]` or `{nodes: [N]}`. */
export function readNodes(answer: unknown): BanNode[] {
  return rowsOf(answer, 'nodes').map((row) => ({
    name: textOr(row.name, ''),
    address: textOr(row.address, null),
    isConnected: flag(firstOf(row, 'is_online', 'is_connected')),
    lastSeen: timestampOrNull(firstOf(row, 'last_heartbeat', 'last_seen')),
    usersCount: count(firstOf(row, 'unique_users', 'users_count')),
    agentStats: freeForm(row.agent_stats),
  }));
}

/** Of `{agents: {node: A}}` or `{agents: [B]}`. */
export function readAgents(answer: unknown): { agents: BanAgent[]; summary: BanAgentsSummary | null } {
  const { agents: listed, summary } = isFields(answer) ? answer : { agents: answer };
  const agents = isFields(listed)
    ? Object.entries(listed).flatMap(([node, row]) => (isFields(row) ? [measuredAgent(node, row)] : []))
    : rowsOf(listed, '').map(flatAgent);
  if (!isFields(summary)) return { agents, summary: null };
  const counted = { totalAgents: agents.length, onlineAgents: agents.filter(({ isOnline }) => isOnline).length };
  return { agents, summary: readSummary(summary, counted) };
}

function measuredAgent(nodeName: string, row: Fields): BanAgent {
  const metrics = fieldsOf(fieldsOf(row.stats).metrics);
  const [sent, queue, connection] = [fieldsOf(metrics.sent), fieldsOf(metrics.queue), fieldsOf(metrics.connection)];
  return {
    nodeName,
    sentTotal: count(sent.total),
    droppedTotal: count(sent.dropped),
    batchesTotal: count(sent.batches),
    reconnects: count(connection.reconnects),
    failures: count(connection.failures ?? sent.failed),
    queueSize: count(queue.current),
    queueMax: count(queue.high_watermark),
    // This form of the answer does not count them.
    dedupChecked: 0,
    dedupSkipped: 0,
    filterChecked: 0,
    filterFiltered: 0,
    health: textOr(row.health, 'unknown'),
    isOnline: flag(row.is_online),
    lastReport: timestampOrNull(row.updated_at),
  };
}

function flatAgent(row: Fields): BanAgent {
  return {
    nodeName: textOr(row.node_name, ''),
    sentTotal: count(row.sent_total),
    droppedTotal: count(row.dropped_total),
    batchesTotal: count(row.batches_total),
    reconnects: count(row.reconnects),
    failures: count(row.failures),
    queueSize: count(row.queue_size),
    queueMax: count(row.queue_max),
    dedupChecked: count(row.dedup_checked),
    dedupSkipped: count(row.dedup_skipped),
    filterChecked: count(row.filter_checked),
    filterFiltered: count(row.filter_filtered),
    health: textOr(row.health, 'unknown'),
    isOnline: flag(row.is_online),
    lastReport: timestampOrNull(row.last_report),
  };
}

/** @param counted where the answer does not say it */
export function readSummary(
  answer: unknown,
  counted: Pick<BanAgentsSummary, 'totalAgents' | 'onlineAgents'> = { totalAgents: 0, onlineAgents: 0 },
): BanAgentsSummary {
  const row = fieldsOf(answer);
  return {
    totalAgents: integerOr(row.total_agents, counted.totalAgents),
    onlineAgents: integerOr(row.online_agents, counted.onlineAgents),
    totalSent: count(row.total_sent),
    totalDropped: count(row.total_dropped),
    avgQueueSize: numberOr(row.avg_queue_size, 0),
    healthyCount: count(row.healthy_count),
    warningCount: count(row.warning_count),
    criticalCount: count(row.critical_count),
  };
}

/** @param asked node and hours of the request, where the answer has none */
export function readAgentHistory(answer: unknown, asked: { node: string; hours: number }): BanAgentHistory {
  const row = fieldsOf(answer);
  const history = rowsOf(row.history, '').flatMap((item) => {
    const timestamp = timestampOrNull(item.timestamp);
    if (timestamp === null) return [];
    const reading = {
      timestamp,
      sentTotal: count(item.sent_total),
      droppedTotal: count(item.dropped_total),
      queueSize: count(item.queue_size),
      batchesTotal: count(item.batches_total),
    };
    return [reading];
  });
  return {
    node: textOr(row.node, asked.node),
    hours: integerOr(row.hours, asked.hours),
    records: integerOr(row.records, history.length),
    delta: freeForm(row.delta),
    first: freeForm(row.first),
    last: freeForm(row.last),
    history,
  };
}

// Fields of the ban system's JSON, whatever it has in them: a value of another type is its default. Numbers given as text are numbers, ids
// given as numbers are text, timestamps without a zone are UTC (spec 06 section 13).

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; one without fields for everything else. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** A free-form part as it is; null for everything but an object. */
export function freeForm(value: unknown): Record<string, unknown> | null {
  return isFields(value) ? value : null;
}

/** The objects of an array, or of the array under `name` of an object. What is no object is left out. */
export function rowsOf(value: unknown, name: string): Fields[] {
  const list = isFields(value) ? value[name] : value;
  return Array.isArray(list) ? list.filter(isFields) : [];
}

/** The first of the fields that the object has with a value. */
export function firstOf(fields: Fields, ...names: readonly string[]): unknown {
  return names.map((name) => fields[name]).find((value) => value !== undefined && value !== null);
}

export function textOr<D extends string | null>(value: unknown, otherwise: D): string | D {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : otherwise;
}

function numberOr<D extends number | null>(value: unknown, otherwise: D): number | D {
  const number = typeof value === 'string' && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : otherwise;
}

/** A fraction is cut off. */
export function integerOr<D extends number | null>(value: unknown, otherwise: D): number | D {
  const number = numberOr(value, otherwise);
  // Without a negative zero.
  return number === null ? otherwise : Math.trunc(number) + 0;
}

export function count(value: unknown): number {
  return integerOr(value, 0);
}

export function flag(value: unknown, otherwise = false): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 1 || value === 0) return value === 1;
  if (typeof value !== 'string') return otherwise;
  const word = value.trim().toLowerCase();
  return word === 'true' || (word === 'false' ? false : otherwise);
}

const TIMESTAMP = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/** A timestamp in ISO 8601; null for everything else. */
export function timestampOrNull(value: unknown): Date | null {
  const match = typeof value === 'string' ? TIMESTAMP.exec(value.trim()) : null;
  if (!match) return null;
  const [day, time] = [match[0].slice(0, 10), match[0].slice(11)];
  const clock =
    time === ''
      ? '00:00'
      : time
          .replace(match[1] ?? /$^/, '')
          .trim()
          .replace(',', '.');
  const timestamp = new Date(`${day}T${clock}${zoneOf(match[1])}`);
  return Number.isNaN(timestamp.getTime()) ? null : timestamp;
}

/** As the date parser accepts it: `+03` and `+0300` are `+03:00`. */
function zoneOf(zone: string | undefined): string {
  if (zone === undefined || zone.toUpperCase() === 'Z') return 'Z';
  return `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
}
