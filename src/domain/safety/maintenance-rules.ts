import { MINUTE_MS } from '../../core/clock.ts';

/** State of the maintenance mode and of the checks of the panel, shared by all instances (spec 06 section 14). */
export interface MaintenanceState {
  isActive: boolean;
  /** Switched on by the checks, which also switch it off. */
  isAuto: boolean;
  /** Reason for the answer; null = none was given. */
  reason: string | null;
  /** ISO 8601; null while off. */
  since: string | null;
  /** `unknown` before the first check. */
  panel: 'unknown' | 'up' | 'down';
  /** Failed checks in a row. */
  failures: number;
  /** ISO 8601 of the last check. */
  checkedAt: string | null;
  /** ISO 8601 of the last notices that the panel is away, and that it is back. */
  notifiedAt: { panel_down?: string; panel_up?: string };
}

export const NO_MAINTENANCE: MaintenanceState = {
  isActive: false,
  isAuto: false,
  reason: null,
  since: null,
  panel: 'unknown',
  failures: 0,
  checkedAt: null,
  notifiedAt: {},
};

/** A panel that goes away and comes back all the time is reported at most this often (spec 06 section 14). */
const NOTICE_PAUSE_MS = 5 * MINUTE_MS;

/** Failed checks in a row that switch maintenance on. */
const FAILURES_TO_START = 3;
export const AUTO_REASON = 'panel_unavailable';

/** Result of one check of the panel. `unconfigured`: address or key is missing, no call was made. */
export type PanelCheck = 'up' | 'down' | 'unconfigured';

/** Changes that administrators are notified of. */
export type MaintenanceChange = 'panel_down' | 'panel_up' | 'maintenance_on' | 'maintenance_off';

/** The state after one more check. A panel that is not configured starts nothing and ends a maintenance that the checks had started. */
export function applyCheck(
  state: MaintenanceState,
  check: PanelCheck,
  options: { mayStart: boolean; now: Date },
): { state: MaintenanceState; changes: MaintenanceChange[] } {
  const checkedAt = options.now.toISOString();
  if (check !== 'down') {
    const isOver = state.isActive && state.isAuto;
    const next = { ...state, panel: check === 'up' ? ('up' as const) : ('down' as const), failures: 0, checkedAt };
    const changes: MaintenanceChange[] = [];
    if (check === 'up' && state.failures > 0) changes.push('panel_up');
    if (isOver) changes.push('maintenance_off');
    return { state: isOver ? { ...next, isActive: false, isAuto: false, reason: null, since: null } : next, changes };
  }
  const failures = state.failures + 1;
  const starts = options.mayStart && !state.isActive && failures >= FAILURES_TO_START;
  const next: MaintenanceState = { ...state, panel: 'down', failures, checkedAt };
  const changes: MaintenanceChange[] = [
    ...(failures === 1 ? (['panel_down'] as const) : []),
    ...(starts ? (['maintenance_on'] as const) : []),
  ];
  return { state: starts ? { ...next, isActive: true, isAuto: true, reason: AUTO_REASON, since: checkedAt } : next, changes };
}

/** Which changes are notified, and the state that records it: those of the mode always, those of the panel once in five minutes each. */
export function selectNotices(
  state: MaintenanceState,
  changes: readonly MaintenanceChange[],
  now: Date,
): { state: MaintenanceState; notices: MaintenanceChange[] } {
  const notifiedAt = { ...state.notifiedAt };
  const notices = changes.filter((change) => {
    if (change !== 'panel_down' && change !== 'panel_up') return true;
    const last = notifiedAt[change];
    if (last !== undefined && now.getTime() - new Date(last).getTime() < NOTICE_PAUSE_MS) return false;
    notifiedAt[change] = now.toISOString();
    return true;
  });
  return { state: { ...state, notifiedAt }, notices };
}
