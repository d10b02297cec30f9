/** What the answers about the panel have in other names or units than the domain, alike in both areas (spec 06 section 11). Sizes are bytes. */

import { z } from 'zod';
import type { AdminActor, TokenActor } from '../core/actor.ts';
import {
  dateRangeTooLong,
  invalidDateRange,
  listNodes,
  type NodeStatistics,
  nodeNotFound,
  nodesRealtime,
  type PanelStatus,
  type PanelSystem,
  readNode,
  readNodeStatistics,
  readNodeUsage,
  readPanelStatus,
  readSystem,
} from '../domain/provisioning/nodes.ts';
import { PANEL_READ_REFUSALS } from '../domain/provisioning/panel-access.ts';
import type {
  PanelInbound,
  PanelInternalSquad,
  PanelNode,
  PanelNodeUsage,
  PanelTrafficPeriod,
} from '../domain/provisioning/panel-objects.ts';
import type { PanelUser } from '../domain/provisioning/ports.ts';
import { FreeForm, utcDate } from './shared.schemas.ts';
import type { ReaderFor } from './trpc.ts';
import {
  NodePath,
  NodeUsageQuery,
  type VpnPanelNode,
  type VpnPanelNodeListResponse,
  type VpnPanelNodeStatisticsResponse,
  type VpnPanelNodeUsageResponse,
  type VpnPanelStatusResponse,
  type VpnPanelSystemStatsResponse,
} from './web/vpnpanel.schemas.ts';
import { fromWire, toWire } from './wire.ts';

const GIB = 1024 ** 3;

/** The contract's whole number of a value of the panel, which may be a fraction or beyond exact numbers. */
export function wholeOf(value: number): number {
  return Math.min(Math.max(Math.round(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

const wholeOrNull = (value: number | null) => (value === null ? null : wholeOf(value));

/** A list without pages. */
export const listOf = <T>(items: T[]) => ({ items, total: items.length });

function toStatus({ configurationError, connection: status, ...connection }: PanelStatus) {
  return { isConfigured: configurationError === null, configurationError, connection: { ...connection, status } };
}

export function toNode(node: PanelNode) {
  return {
    ...node,
    // The panel has one state for the node and for the core that runs on it.
    isNodeOnline: node.isConnected,
    isXrayRunning: node.isConnected,
    usersOnline: wholeOf(node.usersOnline),
    trafficUsedBytes: wholeOrNull(node.trafficUsedBytes),
    trafficLimitBytes: wholeOrNull(node.trafficLimitBytes),
    xrayUptime: node.coreUptime === null ? null : String(node.coreUptime),
    trafficResetDay: wholeOrNull(node.trafficResetDay),
    notifyPercent: wholeOrNull(node.notifyPercent),
    cpuCount: wholeOrNull(node.cpuCount),
  };
}

/** A row with the panel's field names; `total` is bytes. */
function toUsageRow({ userUuid, username, nodeUuid, totalBytes, date }: PanelNodeUsage) {
  return { userUuid, username, nodeUuid, total: wholeOf(totalBytes), date };
}

/** Bounds of a usage list; a timestamp without zone is UTC. */
function toUsageRange({ start, end }: { start?: string | null | undefined; end?: string | null | undefined }) {
  return { from: start ? utcDate(start) : null, to: end ? utcDate(end) : null };
}

function toStatistics({ node, realtime, usage, at }: NodeStatistics) {
  return { node: toNode(node), realtime, usageHistory: usage.map(toUsageRow), lastUpdated: at };
}

/** Traffic in bytes and in GiB; a limit of 0 means unlimited. */
export function toUserTraffic(user: PanelUser) {
  const usedTrafficBytes = wholeOf(user.usedTrafficBytes);
  const lifetimeUsedTrafficBytes = wholeOf(user.lifetimeUsedTrafficBytes);
  const trafficLimitBytes = wholeOf(user.trafficLimitBytes);
  return {
    messengerId: user.messengerId,
    usedTrafficBytes,
    usedTrafficGb: usedTrafficBytes / GIB,
    lifetimeUsedTrafficBytes,
    lifetimeUsedTrafficGb: lifetimeUsedTrafficBytes / GIB,
    trafficLimitBytes,
    trafficLimitGb: trafficLimitBytes / GIB,
    subscriptionUrl: user.subscriptionUrl || null,
  };
}

const toPeriod = ({ currentBytes: current, previousBytes: previous, difference }: PanelTrafficPeriod) => ({
  current,
  previous,
  difference,
});

function toSystem({ stats, periods, realtime, nodesNow, nodesWeekly, at }: PanelSystem) {
  return {
    system: {
      usersOnline: wholeOf(stats.onlineNow),
      totalUsers: wholeOf(stats.totalUsers),
      // The panel counts users, not connections.
      activeConnections: wholeOf(stats.onlineNow),
      nodesOnline: wholeOf(stats.nodesOnline),
      usersLastDay: wholeOf(stats.onlineLastDay),
      usersLastWeek: wholeOf(stats.onlineLastWeek),
      usersNeverOnline: wholeOf(stats.neverOnline),
      totalUserTraffic: wholeOf(stats.totalTrafficBytes),
    },
    usersByStatus: Object.fromEntries(Object.entries(stats.usersByStatus).map(([status, users]) => [status, wholeOf(users)])),
    serverInfo: {
      cpuCores: wholeOf(stats.cpuCores),
      cpuPhysicalCores: wholeOf(stats.cpuPhysicalCores),
      memoryTotal: wholeOf(stats.memoryTotalBytes),
      memoryUsed: wholeOf(stats.memoryUsedBytes),
      memoryFree: wholeOf(stats.memoryFreeBytes),
      memoryAvailable: wholeOf(stats.memoryAvailableBytes),
      uptimeSeconds: wholeOf(stats.uptimeSeconds),
    },
    bandwidth: {
      realtimeDownload: wholeOf(realtime.downloadBytes),
      realtimeUpload: wholeOf(realtime.uploadBytes),
      realtimeTotal: wholeOf(realtime.downloadBytes + realtime.uploadBytes),
    },
    trafficPeriods: {
      last2Days: toPeriod(periods.last2Days),
      last7Days: toPeriod(periods.last7Days),
      last30Days: toPeriod(periods.last30Days),
      currentMonth: toPeriod(periods.currentMonth),
      currentYear: toPeriod(periods.currentYear),
    },
    nodesRealtime: nodesNow.map((node) => node.raw),
    nodesWeekly: nodesWeekly.map(({ name, totalBytes, days }) => ({ name, total_bytes: wholeOf(totalBytes), days_data: days })),
    lastUpdated: at,
  };
}

/** An inbound in a list. */
export function toInbound({ uuid, tag, type, network, security, port }: PanelInbound) {
  return { uuid, tag, type, network, security, port };
}

export function toSquad(squad: PanelInternalSquad) {
  return {
    uuid: squad.uuid,
    name: squad.name,
    membersCount: wholeOf(squad.membersCount),
    inboundsCount: wholeOf(squad.inboundsCount),
    inbounds: squad.inbounds.map((inbound) => ({
      ...toInbound(inbound),
      profile_uuid: inbound.profileUuid,
      raw_inbound: inbound.rawInbound,
    })),
  };
}

interface Group {
  reading: ReaderFor<TokenActor | AdminActor>;
  base: '/vpnpanel' | '/cabinet/admin/vpnpanel';
  tag: string;
  /** The same shapes have other component names in each area. */
  schemas: {
    status: typeof VpnPanelStatusResponse;
    system: typeof VpnPanelSystemStatsResponse;
    nodes: typeof VpnPanelNodeListResponse;
    node: typeof VpnPanelNode;
    nodeStatistics: typeof VpnPanelNodeStatisticsResponse;
    nodeUsage: typeof VpnPanelNodeUsageResponse;
  };
}

/** Reads of the panel and its nodes that the Web API and the administration have alike. */
export function vpnpanelReadProcedures({ reading, base, tag, schemas }: Group) {
  const tags: [string] = [tag];
  return {
    status: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/status`, tags, summary: 'State of the connection to the panel' },
        description:
          'Returns whether the panel is configured and answers, with the outcome of one attempt. A failure of the panel is reported in the answer with status 200.',
      })
      .output(toWire(schemas.status))
      .query(async ({ ctx }) => toStatus(await readPanelStatus(ctx.app))),

    system: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/system`, tags, summary: 'The panel at a glance' },
        description: 'Returns current users, nodes, machine and traffic of the panel.',
        refuses: [...PANEL_READ_REFUSALS],
      })
      .output(toWire(schemas.system))
      .query(async ({ ctx }) => toSystem(await readSystem(ctx.app))),

    nodes: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/nodes`, tags, summary: 'List nodes' },
        description: 'Lists the current nodes of the panel.',
        refuses: [...PANEL_READ_REFUSALS],
      })
      .output(toWire(schemas.nodes))
      .query(async ({ ctx }) => listOf((await listNodes(ctx.app)).map(toNode))),

    nodesRealtime: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/nodes/realtime`, tags, summary: 'Current traffic of the nodes' },
        description: 'Returns the current traffic of the nodes, as the panel reports it.',
        refuses: [...PANEL_READ_REFUSALS],
      })
      .output(z.array(FreeForm))
      .query(({ ctx }) => nodesRealtime(ctx.app)),

    node: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/nodes/{node_uuid}`, tags, summary: 'Read a node' },
        description: 'Returns a node of the panel.',
        refuses: [...PANEL_READ_REFUSALS, nodeNotFound],
      })
      .input(fromWire(NodePath))
      .output(toWire(schemas.node))
      .query(async ({ ctx, input }) => toNode(await readNode(ctx.app, input.nodeUuid))),

    nodeStatistics: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/nodes/{node_uuid}/statistics`, tags, summary: 'A node with its statistics' },
        description: 'Returns a node with its current traffic and its usage of the last 7 days.',
        refuses: [...PANEL_READ_REFUSALS, nodeNotFound],
      })
      .input(fromWire(NodePath))
      .output(toWire(schemas.nodeStatistics))
      .query(async ({ ctx, input }) => toStatistics(await readNodeStatistics(ctx.app, input.nodeUuid))),

    nodeUsage: reading
      .meta({
        openapi: { method: 'GET', path: `${base}/nodes/{node_uuid}/usage`, tags, summary: 'Usage of a node by day' },
        description:
          'Returns the usage of a node in a period by user and day, as the panel reports it. Without a period the last 7 days.',
        refuses: [...PANEL_READ_REFUSALS, dateRangeTooLong, invalidDateRange, nodeNotFound],
      })
      .input(fromWire(NodeUsageQuery))
      .output(schemas.nodeUsage)
      .query(async ({ ctx, input }) => ({
        items: (await readNodeUsage(ctx.app, input.nodeUuid, toUsageRange(input))).map(toUsageRow),
      })),
  };
}
