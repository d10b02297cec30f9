import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addDays, DAY_MS } from '../../core/clock.ts';
import { refusal } from '../../core/errors.ts';
import { askPanel, type PanelOutcome, readOfPanel, readPartOfPanel } from './panel-access.ts';
import type {
  PanelNode,
  PanelNodeDay,
  PanelNodeTraffic,
  PanelNodeUsage,
  PanelSystemStats,
  PanelTrafficPeriod,
  PanelTrafficPeriods,
} from './panel-objects.ts';
import { isPanelError, type PanelUser } from './ports.ts';

export const nodeNotFound = refusal('node_not_found', 404, 'Node not found');

/** Every node in the panel's order. @throws AppError 503 not configured, 502 the panel does not answer (08 P10) */
export function listNodes(app: App): Promise<PanelNode[]> {
  return readOfPanel(app, () => app.ports.panel.listNodes());
}

export interface NodesOverview {
  total: number;
  online: number;
  offline: number;
  disabled: number;
  usersOnline: number;
  nodes: PanelNode[];
}

/** Counts over all nodes: one that is disabled is neither online nor offline (spec 06 section 4.4). */
export function countNodes(nodes: PanelNode[]): NodesOverview {
  const disabled = nodes.filter((node) => node.isDisabled).length;
  const online = nodes.filter((node) => node.isConnected && !node.isDisabled).length;
  const usersOnline = nodes.reduce((sum, node) => sum + node.usersOnline, 0);
  return { total: nodes.length, online, offline: nodes.length - online - disabled, disabled, usersOnline, nodes };
}

/** @throws AppError 503 not configured, 502 the panel does not answer */
export async function nodesOverview(app: App): Promise<NodesOverview> {
  return countNodes(await listNodes(app));
}

/** @throws AppError 503 not configured, 404 'Node not found', 502 the panel does not answer */
export async function readNode(app: App, uuid: string): Promise<PanelNode> {
  const node = await readOfPanel(app, () => app.ports.panel.getNode(uuid));
  if (!node) throw nodeNotFound();
  return node;
}

/** Current traffic of the nodes, the panel's objects as they came; bytes. @throws AppError 503 not configured, 502 */
export async function nodesRealtime(app: App): Promise<Record<string, unknown>[]> {
  const nodes = await readOfPanel(app, () => app.ports.panel.listNodeTraffic());
  return nodes.map((node) => node.raw);
}

type NodeAction = 'enable' | 'disable' | 'restart';

/** Null after a restart, which the panel executes later. */
interface NodeChange {
  isDisabled: boolean | null;
}

/**
 * Enables, disables or restarts a node at the panel; it also succeeds on a node that is in that state already.
 * @returns done with the node's state after the action
 * @throws AppError 503 not configured
 */
export async function runNodeAction(
  app: App,
  _actor: Actor,
  uuid: string,
  action: NodeAction,
): Promise<PanelOutcome<NodeChange>> {
  app.audit?.record({ resourceId: uuid });
  const result = await askPanel(app, () => (action === 'restart' ? restart(app, uuid) : switchNode(app, uuid, action)));
  if (result.outcome !== 'done') app.audit?.record({ after: { success: false, reason: reasonOf(result) } });
  return result;
}

async function restart(app: App, uuid: string): Promise<NodeChange | null> {
  if (!(await app.ports.panel.restartNode(uuid))) return null;
  app.audit?.record({ after: { restarted: true } });
  return { isDisabled: null };
}

async function switchNode(app: App, uuid: string, action: 'enable' | 'disable'): Promise<NodeChange | null> {
  const { panel } = app.ports;
  const before = await panel.getNode(uuid);
  if (!before) return null;
  const after = action === 'enable' ? await panel.enableNode(uuid) : await panel.disableNode(uuid);
  if (!after) return null;
  app.audit?.record({ before: stateOf(before), after: stateOf(after) });
  return { isDisabled: after.isDisabled };
}

const stateOf = (node: PanelNode) => ({ name: node.name, is_disabled: node.isDisabled });

/** Restarts every node; the panel executes it after its answer. @throws AppError 503 not configured */
export async function restartAllNodes(app: App, _actor: Actor): Promise<PanelOutcome<true>> {
  app.audit?.record({ resourceId: 'all', after: { restarted: true } });
  const result = await askPanel(app, async () => {
    await app.ports.panel.restartAllNodes();
    return true as const;
  });
  if (result.outcome === 'failed') app.audit?.record({ after: { success: false, reason: result.reason } });
  return result;
}

const reasonOf = (result: { outcome: 'absent' } | { outcome: 'failed'; reason: string }) =>
  result.outcome === 'absent' ? 'Node not found' : result.reason;

/** Rows of users and days. @throws AppError 503, 502, 404 'Node not found' */
async function usageOf(app: App, uuid: string, range: { from: Date; to: Date }): Promise<PanelNodeUsage[]> {
  const rows = await readOfPanel(app, () => app.ports.panel.listNodeUsage(uuid, range));
  if (rows === null) throw nodeNotFound();
  return rows;
}

/**
 * Usage of a node by user and day, bytes; without bounds the last 7 days until now (spec 06 section 11).
 * @throws AppError 503 not configured, 400 'Invalid date range', 400 'Date range cannot exceed 730 days', 404 'Node not found',
 *   502 the panel does not answer
 */
export async function readNodeUsage(
  app: App,
  uuid: string,
  wanted: { from: Date | null; to: Date | null },
): Promise<PanelNodeUsage[]> {
  return usageOf(app, uuid, usageRange(wanted, app.clock.now()));
}

export interface NodeStatistics {
  node: PanelNode;
  /** The panel's object; null when the node has no traffic, or the panel has no such counters. */
  realtime: Record<string, unknown> | null;
  /** The last 7 days. */
  usage: PanelNodeUsage[];
  at: Date;
}

/**
 * A node with its current traffic and that of the last 7 days.
 * @throws AppError 503 not configured, 404 'Node not found', 502 the panel does not answer
 */
export async function readNodeStatistics(app: App, uuid: string): Promise<NodeStatistics> {
  const now = app.clock.now();
  const node = await readNode(app, uuid);
  const [traffic, usage] = await Promise.all([
    readPartOfPanel(app, 'node traffic', () => app.ports.panel.listNodeTraffic()),
    usageOf(app, uuid, usageRange({ from: null, to: null }, now)),
  ]);
  const realtime = traffic?.find((entry) => entry.nodeUuid === node.uuid)?.raw ?? null;
  return { node, realtime, usage, at: now };
}

export interface PanelStatus {
  configurationError: string | null;
  connection: 'connected' | 'error' | 'not_configured';
  message: string;
  apiUrl: string | null;
  /** HTTP status of a failed answer; null without an answer and for a success. */
  statusCode: number | null;
  /** The panel's own statistics as they came. */
  systemInfo: Record<string, unknown> | null;
}

/** Whether the panel is configured and answers. Never an error: a panel that is down is one of the answers. */
export async function readPanelStatus(app: App): Promise<PanelStatus> {
  const { panel } = app.ports;
  const problem = panel.configurationError();
  const base = { configurationError: problem, apiUrl: panel.apiUrl(), statusCode: null, systemInfo: null };
  if (problem !== null) return { ...base, connection: 'not_configured', message: problem };
  try {
    const { raw } = await panel.getSystemStats();
    return { ...base, connection: 'connected', message: 'VPN panel answers', systemInfo: raw };
  } catch (error) {
    if (!isPanelError(error)) throw error;
    if (error.kind === 'not_configured') {
      return { ...base, configurationError: error.message, connection: 'not_configured', message: error.message };
    }
    return { ...base, connection: 'error', message: error.message, statusCode: error.status };
  }
}

export interface PanelSystem {
  stats: PanelSystemStats;
  periods: PanelTrafficPeriods;
  /** Sums over the nodes, bytes. */
  realtime: { downloadBytes: number; uploadBytes: number };
  nodesNow: PanelNodeTraffic[];
  nodesWeekly: NodeWeek[];
  at: Date;
}

const UNKNOWN_PERIOD: PanelTrafficPeriod = { currentBytes: 0, previousBytes: 0, difference: null };
const UNKNOWN_PERIODS: PanelTrafficPeriods = {
  last2Days: UNKNOWN_PERIOD,
  last7Days: UNKNOWN_PERIOD,
  last30Days: UNKNOWN_PERIOD,
  currentMonth: UNKNOWN_PERIOD,
  currentYear: UNKNOWN_PERIOD,
};

/**
 * The panel's state. Values whose route this version of the panel does not have are 0 or empty.
 * @throws AppError 503 not configured, 502 'Failed to get system statistics' or the reason of another failure
 */
export async function readSystem(app: App): Promise<PanelSystem> {
  const { panel } = app.ports;
  const stats = await readOfPanel(app, () => panel.getSystemStats(), 'Failed to get system statistics');
  const [periods, traffic, days] = await Promise.all([
    readPartOfPanel(app, 'traffic periods', () => panel.getTrafficPeriods()),
    readPartOfPanel(app, 'node traffic', () => panel.listNodeTraffic()),
    readPartOfPanel(app, 'node days', () => panel.listNodeDays()),
  ]);
  const nodesNow = traffic ?? [];
  const sum = (pick: (node: PanelNodeTraffic) => number) => nodesNow.reduce((total, node) => total + pick(node), 0);
  return {
    stats,
    periods: periods ?? UNKNOWN_PERIODS,
    realtime: { downloadBytes: sum((node) => node.downloadBytes), uploadBytes: sum((node) => node.uploadBytes) },
    nodesNow,
    nodesWeekly: groupByNode(days ?? []),
    at: app.clock.now(),
  };
}

export const panelUserNotFound = refusal('panel_user_not_found', 404, 'User not found');

/**
 * Traffic of the panel user of a messenger id; of several the one that `findByMessengerId` prefers.
 * @throws AppError 503 not configured, 404 'User not found', 502 the panel does not answer
 */
export async function readUserTraffic(app: App, messengerId: number): Promise<PanelUser> {
  // The panel refuses ids below 1; they belong to no user.
  const find = async () => (messengerId > 0 ? app.ports.panel.findByMessengerId(messengerId) : null);
  const user = await readOfPanel(app, find);
  if (!user) throw panelUserNotFound();
  return user;
}

export const invalidDateRange = refusal('invalid_date_range', 400, 'Invalid date range');
export const dateRangeTooLong = refusal('date_range_too_long', 400, 'Date range cannot exceed <n> days');

const DEFAULT_DAYS = 7;
const MAX_DAYS = 730;

/**
 * Bounds of a usage list: a missing end is now, a missing start 7 days before the end.
 * @throws AppError 400 'Invalid date range', 400 'Date range cannot exceed 730 days'
 */
export function usageRange(wanted: { from: Date | null; to: Date | null }, now: Date): { from: Date; to: Date } {
  const to = wanted.to ?? now;
  const from = wanted.from ?? addDays(to, -DEFAULT_DAYS);
  if (from.getTime() >= to.getTime()) throw invalidDateRange();
  if (to.getTime() - from.getTime() > MAX_DAYS * DAY_MS) {
    throw dateRangeTooLong({ detail: `Date range cannot exceed ${MAX_DAYS} days` });
  }
  return { from, to };
}

interface NodeWeek {
  name: string;
  totalBytes: number;
  /** By day (`YYYY-MM-DD`), ascending; one entry a day. */
  days: { date: string; bytes: number }[];
}

/** The UTC day of a date that the panel writes as a day or as a timestamp (08 P11); a text that is neither stays as it is. */
function dayOfPanelDate(date: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(date)) return date;
  const timestamp = new Date(date);
  return Number.isNaN(timestamp.getTime()) ? date : timestamp.toISOString().slice(0, 10);
}

/** The panel's rows of node and day by node, most traffic first, then by name. */
export function groupByNode(rows: readonly PanelNodeDay[]): NodeWeek[] {
  const nodes = new Map<string, NodeWeek>();
  for (const { nodeName, date, totalBytes } of rows) {
    const node = nodes.get(nodeName) ?? { name: nodeName, totalBytes: 0, days: [] };
    const day = dayOfPanelDate(date);
    const entry = node.days.find((known) => known.date === day);
    node.totalBytes += totalBytes;
    if (entry) entry.bytes += totalBytes;
    else node.days.push({ date: day, bytes: totalBytes });
    nodes.set(nodeName, node);
  }
  for (const node of nodes.values()) node.days.sort((a, b) => (a.date < b.date ? -1 : Number(a.date > b.date)));
  return [...nodes.values()].sort((a, b) => b.totalBytes - a.totalBytes || (a.name < b.name ? -1 : 1));
}
