import type { App } from '../../../core/app.ts';
import { readOfPanel, readPartOfPanel } from '../panel-access.ts';
import type { PanelNodeTraffic, PanelSystemStats, PanelTrafficPeriod, PanelTrafficPeriods } from '../panel-objects.ts';
import { isPanelError } from '../ports.ts';
import { groupByNode, type NodeWeek } from './rules.ts';

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

/** Whether the panel is configured and answers. Never an error: a panel that is down is one of the answers (spec 06 section 11). */
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
