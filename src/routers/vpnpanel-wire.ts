/** What the answers about the panel have in other names or units than the domain, alike in both areas (spec 06 section 11). Sizes are bytes. */
import type { NodeStatistics } from '../domain/provisioning/nodes/read-node-usage.ts';
import type { PanelStatus, PanelSystem } from '../domain/provisioning/nodes/read-system.ts';
import type {
  PanelInbound,
  PanelInternalSquad,
  PanelNode,
  PanelNodeUsage,
  PanelTrafficPeriod,
} from '../domain/provisioning/panel-objects.ts';
import type { PanelUser } from '../domain/provisioning/ports.ts';
import { utcDate } from './moment-input.ts';

const GIB = 1024 ** 3;

/** The contract's whole number of a value of the panel, which may be a fraction or beyond exact numbers. */
export function wholeOf(value: number): number {
  return Math.min(Math.max(Math.round(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

const wholeOrNull = (value: number | null) => (value === null ? null : wholeOf(value));

/** A list without pages. */
export const listOf = <T>(items: T[]) => ({ items, total: items.length });

export function toStatus({ configurationError, connection: status, ...connection }: PanelStatus) {
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
export function toUsageRow({ userUuid, username, nodeUuid, totalBytes, date }: PanelNodeUsage) {
  return { userUuid, username, nodeUuid, total: wholeOf(totalBytes), date };
}

/** Bounds of a usage list; a moment without zone is UTC. */
export function toUsageRange({ start, end }: { start?: string | null | undefined; end?: string | null | undefined }) {
  return { from: start ? utcDate(start) : null, to: end ? utcDate(end) : null };
}

export function toStatistics({ node, realtime, usage, at }: NodeStatistics) {
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

export function toSystem({ stats, periods, realtime, nodesNow, nodesWeekly, at }: PanelSystem) {
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
