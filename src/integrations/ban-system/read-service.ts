import type { BanHealth, BanHealthComponent, BanReport, BanStats } from '../../domain/ban-system/types.ts';
import { count, fieldsOf, flag, freeForm, integerOr, momentOrNull, rowsOf, textOr } from './read-values.ts';

export function readStats(answer: unknown): BanStats {
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
    intakeStartedAt: momentOrNull(fieldsOf(row.tcp_metrics).intake_started_at),
  };
}

export function readReport(answer: unknown): BanReport {
  const row = fieldsOf(answer);
  const punishmentStats = freeForm(row.punishment_stats);
  const topViolators = rowsOf(punishmentStats?.top_violators, '').map((item) => ({
    username: textOr(item.username, ''),
    count: count(item.count),
  }));
  return { currentUsers: count(row.current_users), currentIps: count(row.current_ips), punishmentStats, topViolators };
}

export function readHealth(answer: unknown): BanHealth {
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
