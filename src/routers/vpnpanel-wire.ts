import type { NodeStatistics } from '../domain/provisioning/nodes/read-node-usage.ts';
import type { PanelStatus, PanelSystem } from '../domain/provisioning/nodes/read-system.ts';
import type {
  PanelInbound,
  PanelInternalSquad,
  PanelNode,
  PanelNodeUsage,
  PanelTrafficPeriod,
  PanelUser,
} from '../domain/provisioning/ports.ts';
import { utcDate } from './shared.schemas.ts';

/** Names of the panel's things on the wire, alike at both doors (spec 06 section 11). Sizes are bytes. */

const GIB = 1024 ** 3;

/** The contract's whole number of what the panel counts, which may be a fraction or beyond exact numbers. */
function wholeOf(value: number): number {
  return Math.min(Math.max(Math.round(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** A list that is there as a whole. */
export const listOf = <T>(items: T[]) => ({ items, total: items.length });

const wholeOrNull = (value: number | null) => (value === null ? null : wholeOf(value));

export function toStatusAnswer(status: PanelStatus) {
  return {
    is_configured: status.configurationError === null,
    configuration_error: status.configurationError,
    connection: {
      status: status.connection,
      message: status.message,
      api_url: status.apiUrl,
      status_code: status.statusCode,
      system_info: status.systemInfo,
    },
  };
}

export function toNodeAnswer(node: PanelNode) {
  return {
    uuid: node.uuid,
    name: node.name,
    address: node.address,
    country_code: node.countryCode,
    is_connected: node.isConnected,
    is_disabled: node.isDisabled,
    // The panel no longer tells the node from the core that runs on it.
    is_node_online: node.isConnected,
    is_xray_running: node.isConnected,
    users_online: wholeOf(node.usersOnline),
    traffic_used_bytes: wholeOrNull(node.trafficUsedBytes),
    traffic_limit_bytes: wholeOrNull(node.trafficLimitBytes),
    last_status_change: node.lastStatusChange,
    last_status_message: node.lastStatusMessage,
    xray_uptime: node.coreUptime === null ? null : String(node.coreUptime),
    is_traffic_tracking_active: node.isTrafficTrackingActive,
    traffic_reset_day: wholeOrNull(node.trafficResetDay),
    notify_percent: wholeOrNull(node.notifyPercent),
    consumption_multiplier: node.consumptionMultiplier,
    cpu_count: wholeOrNull(node.cpuCount),
    cpu_model: node.cpuModel,
    total_ram: node.totalRam,
    created_at: node.createdAt,
    updated_at: node.updatedAt,
    provider_uuid: node.providerUuid,
  };
}

/** Rows under the panel's names; `total` is bytes. */
export function toUsageRow(row: PanelNodeUsage) {
  return {
    userUuid: row.userUuid,
    username: row.username,
    nodeUuid: row.nodeUuid,
    total: wholeOf(row.totalBytes),
    date: row.date,
  };
}

/** Bounds as asked for; a moment without zone is UTC. */
export function toUsageRange({ start, end }: { start?: string | null | undefined; end?: string | null | undefined }) {
  return { from: start ? utcDate(start) : null, to: end ? utcDate(end) : null };
}

export function toStatisticsAnswer({ node, realtime, usage, at }: NodeStatistics) {
  return { node: toNodeAnswer(node), realtime, usage_history: usage.map(toUsageRow), last_updated: at };
}

/** Bytes and the same in GiB; a limit of 0 is none. */
export function toUserTrafficAnswer(user: PanelUser) {
  const [used, lifetime, limit] = [user.usedTrafficBytes, user.lifetimeUsedTrafficBytes, user.trafficLimitBytes].map(wholeOf) as [
    number,
    number,
    number,
  ];
  return {
    messenger_id: user.messengerId,
    used_traffic_bytes: used,
    used_traffic_gb: used / GIB,
    lifetime_used_traffic_bytes: lifetime,
    lifetime_used_traffic_gb: lifetime / GIB,
    traffic_limit_bytes: limit,
    traffic_limit_gb: limit / GIB,
    subscription_url: user.subscriptionUrl || null,
  };
}

const toPeriod = (period: PanelTrafficPeriod) => ({
  current: period.currentBytes,
  previous: period.previousBytes,
  difference: period.difference,
});

export function toSystemAnswer({ stats, periods, realtime, nodesNow, nodesWeekly, at }: PanelSystem) {
  return {
    system: {
      users_online: wholeOf(stats.onlineNow),
      total_users: wholeOf(stats.totalUsers),
      // The panel counts people, not connections.
      active_connections: wholeOf(stats.onlineNow),
      nodes_online: wholeOf(stats.nodesOnline),
      users_last_day: wholeOf(stats.onlineLastDay),
      users_last_week: wholeOf(stats.onlineLastWeek),
      users_never_online: wholeOf(stats.neverOnline),
      total_user_traffic: wholeOf(stats.totalTrafficBytes),
    },
    users_by_status: Object.fromEntries(Object.entries(stats.usersByStatus).map(([status, users]) => [status, wholeOf(users)])),
    server_info: {
      cpu_cores: wholeOf(stats.cpuCores),
      cpu_physical_cores: wholeOf(stats.cpuPhysicalCores),
      memory_total: wholeOf(stats.memoryTotalBytes),
      memory_used: wholeOf(stats.memoryUsedBytes),
      memory_free: wholeOf(stats.memoryFreeBytes),
      memory_available: wholeOf(stats.memoryAvailableBytes),
      uptime_seconds: wholeOf(stats.uptimeSeconds),
    },
    bandwidth: {
      realtime_download: wholeOf(realtime.downloadBytes),
      realtime_upload: wholeOf(realtime.uploadBytes),
      realtime_total: wholeOf(realtime.downloadBytes + realtime.uploadBytes),
    },
    traffic_periods: {
      last_2_days: toPeriod(periods.lastTwoDays),
      last_7_days: toPeriod(periods.lastSevenDays),
      last_30_days: toPeriod(periods.last30Days),
      current_month: toPeriod(periods.currentMonth),
      current_year: toPeriod(periods.currentYear),
    },
    nodes_realtime: nodesNow.map((node) => node.raw),
    nodes_weekly: nodesWeekly.map(({ name, totalBytes, days }) => ({
      name,
      total_bytes: wholeOf(totalBytes),
      days_data: days,
    })),
    last_updated: at,
  };
}

/** An inbound in the list of all: what tells it apart. */
export function toInboundItem({ uuid, tag, type, network, security, port }: PanelInbound) {
  return { uuid, tag, type, network, security, port };
}

export function toSquadAnswer(squad: PanelInternalSquad) {
  return {
    uuid: squad.uuid,
    name: squad.name,
    members_count: wholeOf(squad.membersCount),
    inbounds_count: wholeOf(squad.inboundsCount),
    inbounds: squad.inbounds.map((inbound) => ({
      ...toInboundItem(inbound),
      profile_uuid: inbound.profileUuid,
      raw_inbound: inbound.rawInbound,
    })),
  };
}
