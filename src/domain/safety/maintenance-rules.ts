/** State of the maintenance mode and of the watch over the panel, shared by all instances (spec 06 section 14). */
export interface MaintenanceState {
  isActive: boolean;
  /** Switched on by the watch, which also switches it off. */
  isAuto: boolean;
  /** Why, for the answer; null = nothing was said. */
  reason: string | null;
  /** ISO 8601; null while off. */
  since: string | null;
  /** `unknown` before the first look. */
  panel: 'unknown' | 'up' | 'down';
  /** Failed looks in a row. */
  failures: number;
  /** ISO 8601 of the last look. */
  checkedAt: string | null;
}

export const NO_MAINTENANCE: MaintenanceState = {
  isActive: false,
  isAuto: false,
  reason: null,
  since: null,
  panel: 'unknown',
  failures: 0,
  checkedAt: null,
};

/** Failed looks in a row that switch maintenance on. */
const FAILURES_TO_START = 3;
export const AUTO_REASON = 'panel_unavailable';

/** What a look at the panel showed. `unconfigured`: address or key is missing, nothing was asked. */
export type PanelCheck = 'up' | 'down' | 'unconfigured';

/** What administrators are told of a change. */
export type MaintenanceChange = 'panel_down' | 'panel_up' | 'maintenance_on' | 'maintenance_off';

/** One look further. A panel that was never configured cannot be missed: it starts nothing and ends what the watch had started. */
export function applyCheck(
  state: MaintenanceState,
  look: PanelCheck,
  options: { mayStart: boolean; now: Date },
): { state: MaintenanceState; news: MaintenanceChange[] } {
  const checkedAt = options.now.toISOString();
  if (look !== 'down') {
    const isOver = state.isActive && state.isAuto;
    const next = { ...state, panel: look === 'up' ? ('up' as const) : ('down' as const), failures: 0, checkedAt };
    const news: MaintenanceChange[] = [];
    if (look === 'up' && state.failures > 0) news.push('panel_up');
    if (isOver) news.push('maintenance_off');
    return { state: isOver ? { ...next, isActive: false, isAuto: false, reason: null, since: null } : next, news };
  }
  const failures = state.failures + 1;
  const starts = options.mayStart && !state.isActive && failures >= FAILURES_TO_START;
  const next: MaintenanceState = { ...state, panel: 'down', failures, checkedAt };
  const news: MaintenanceChange[] = [
    ...(failures === 1 ? (['panel_down'] as const) : []),
    ...(starts ? (['maintenance_on'] as const) : []),
  ];
  return { state: starts ? { ...next, isActive: true, isAuto: true, reason: AUTO_REASON, since: checkedAt } : next, news };
}
