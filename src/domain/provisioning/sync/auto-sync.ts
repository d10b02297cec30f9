import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS } from '../../../core/clock.ts';
import { putSetting } from '../../settings/change-setting.ts';
import { findOverrideSince } from '../../settings/list-settings.ts';
import type { SettingEditor } from '../../settings/types.ts';
import { requirePanel } from '../panel-access.ts';
import { findLatest } from './run-repo.ts';
import { lastRun, nextRun, parseTimes, timeText } from './schedule-rules.ts';
import { beginSync } from './start-sync.ts';
import type { SyncRun } from './types.ts';

const SWITCH = 'VPNPANEL_AUTO_SYNC_ENABLED';
/** A time that was missed by more than this, because no instance ran, is skipped. */
const GRACE_MS = 10 * MINUTE_MS;

export interface AutoSyncStatus {
  isEnabled: boolean;
  /** `HH:MM` in UTC, ascending. */
  times: string[];
  /** Null while it is off. */
  nextRun: Date | null;
  /** The newest run, scheduled or manual; null before the first. */
  latest: SyncRun | null;
}

/** State of the automatic synchronisation, the same on every instance (spec 06 hazard 12). @throws AppError 503 */
export async function readAutoSync(app: App): Promise<AutoSyncStatus> {
  requirePanel(app);
  const isEnabled = app.settings.get(SWITCH);
  const times = timesOf(app);
  return {
    isEnabled,
    times: times.map(timeText),
    nextRun: isEnabled ? nextRun(times, app.clock.now()) : null,
    latest: await findLatest(app.db, 'auto'),
  };
}

/**
 * Switches the automatic synchronisation on or off, for every instance and also after a restart. Switching it on starts a run.
 * @returns whether it is on now: a value of the environment has precedence
 * @throws AppError 503
 */
export async function switchAutoSync(app: App, editor: SettingEditor, isEnabled: boolean): Promise<boolean> {
  requirePanel(app);
  const before = app.settings.get(SWITCH);
  await putSetting(app, editor, SWITCH, isEnabled);
  const after = app.settings.get(SWITCH);
  if (after && !before) await app.jobs.send('provisioning.watch-runs', {});
  app.audit?.record({ before: { enabled: before }, after: { enabled: after } });
  return after;
}

/** Runs it now: users from the panel, then servers. @returns null when one is under way. @throws AppError 503 */
export function runAutoSyncNow(app: App, actor: Actor): Promise<SyncRun | null> {
  requirePanel(app);
  return beginSync(app, actor, { kind: 'auto', mode: 'all' });
}

/**
 * Starts the run when one of its times has passed; switching it on, in either area, counts as such a time (spec 06 section 6.2). Of
 * several instances one starts it, since the time is due only until a run has begun after it. This job starts the run only; the
 * queue does the work.
 */
export async function startAutoSyncWhenDue(app: App): Promise<void> {
  if (!app.settings.get(SWITCH) || app.ports.panel.configurationError() !== null) return;
  const now = app.clock.now();
  const due = later(lastRun(timesOf(app), now), await findOverrideSince(app, SWITCH));
  if (due === null || now >= addMs(due, GRACE_MS)) return;
  const latest = await findLatest(app.db, 'auto');
  if (latest !== null && latest.startedAt >= due) return;
  const started = await beginSync(app, { kind: 'system', name: 'auto-sync' }, { kind: 'auto', mode: 'all', reason: 'auto' }, 0);
  app.log.info({ runId: started?.id ?? null }, 'panel sync: the automatic run is due');
}

function later(a: Date | null, b: Date | null): Date | null {
  return a === null || (b !== null && b > a) ? b : a;
}

function timesOf(app: App): number[] {
  return parseTimes(app.settings.get('VPNPANEL_AUTO_SYNC_TIMES'));
}
