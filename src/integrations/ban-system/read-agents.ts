import type { BanAgent, BanAgentHistory, BanAgentsSummary, BanNode } from '../../domain/ban-system/types.ts';
import {
  count,
  type Fields,
  fieldsOf,
  firstOf,
  flag,
  freeForm,
  integerOr,
  isFields,
  momentOrNull,
  numberOr,
  rowsOf,
  textOr,
} from './read-values.ts';

/** Of `[N]` or `{nodes: [N]}`. */
export function readNodes(answer: unknown): BanNode[] {
  return rowsOf(answer, 'nodes').map((row) => ({
    name: textOr(row.name, ''),
    address: textOr(row.address, null),
    isConnected: flag(firstOf(row, 'is_online', 'is_connected')),
    lastSeen: momentOrNull(firstOf(row, 'last_heartbeat', 'last_seen')),
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
    lastReport: momentOrNull(row.updated_at),
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
    lastReport: momentOrNull(row.last_report),
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
    const timestamp = momentOrNull(item.timestamp);
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
