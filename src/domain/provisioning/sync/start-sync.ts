import { type Actor, actorKey } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays, addMs, MINUTE_MS, SECOND_MS, startOfDay } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { putSetting } from '../../settings/change-setting.ts';
import { findOverrideSince } from '../../settings/list-settings.ts';
import type { SettingEditor } from '../../settings/types.ts';
import { driveRun, RunLease } from '../long-runs/drive-run.ts';
import { requirePanel } from '../panel-access.ts';
import { findLatest, findRun, insertRun } from './run-repo.ts';
import { firstCursor, NO_SQUADS, syncRun } from './run-sync.ts';
import type { SyncKind, SyncMode, SyncRun } from './types.ts';

export const syncRunning = refusal('sync_running', 409, 'This synchronisation is already under way');
export const panelUnavailable = refusal('panel_unavailable', 502, 'VPN panel did not answer');

/** How long the request works on the run; then the queue continues. Below the time-outs that proxies commonly have. */
const REQUEST_MS = 20 * SECOND_MS;

interface SyncRequest {
  kind: SyncKind;
  /** Of a run from the panel. */
  mode?: SyncMode;
  reason?: 'manual' | 'auto';
}

/**
 * Starts a synchronisation and works on it for at most `forMs`; the queue finishes it.
 * @returns null when one of the kind is under way
 */
export async function beginSync(app: App, actor: Actor, request: SyncRequest, forMs = REQUEST_MS): Promise<SyncRun | null> {
  const untilMs = performance.now() + forMs;
  const { kind, mode = null, reason = 'manual' } = request;
  const started = await inTransaction(app, (t) =>
    insertRun(t.db, {
      kind,
      mode,
      reason,
      startedBy: actorKey(actor),
      cursor: firstCursor(kind, mode),
      now: t.clock.now(),
    }),
  );
  if (!started) return null;
  const run = syncRun(started.id);
  await driveRun(app, run, { untilMs }, new RunLease(run.table, run.id, started.lease));
  const result = await findRun(app.db, started.id);
  if (!result) throw new Error('the synchronisation run was deleted while it ran');
  app.audit?.record({ resourceId: kind, after: { run_id: result.id, status: result.status, counts: result.counts } });
  return result;
}

/**
 * Synchronises with the panel (spec 06 section 10). The request works on the run for up to 20 s; then the queue continues it,
 * also when this instance crashes.
 * @returns the run as it is now: `completed`, `failed` with `error`, or `running`
 * @throws AppError 409 one of the kind is under way, 503 the panel is not configured
 */
export async function startSync(app: App, actor: Actor, request: SyncRequest): Promise<SyncRun> {
  requirePanel(app);
  const run = await beginSync(app, actor, request);
  if (!run) throw syncRunning();
  return run;
}

/** Updates the servers from the panel's squads. @throws AppError 409, 503, 502 'Failed to get squads', with the reason where there is one */
export async function startServerSync(app: App, actor: Actor): Promise<SyncRun> {
  const run = await startSync(app, actor, { kind: 'servers' });
  if (run.status === 'failed') throw panelUnavailable({ detail: run.error ?? NO_SQUADS });
  return run;
}

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

// Pure rules of when the automatic synchronisation runs.

const TIME = /^([01]?\d|2[0-3]):([0-5]\d)$/;

/** Minutes of the day in UTC, ascending; a list separated by blanks, commas or semicolons; invalid items are ignored. */
export function parseTimes(text: string): number[] {
  const minutes = text.split(/[\s,;]+/).flatMap((item) => {
    const match = TIME.exec(item);
    return match ? [Number(match[1]) * 60 + Number(match[2])] : [];
  });
  return [...new Set(minutes)].sort((a, b) => a - b);
}

export function timeText(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

/** The next of the times after `now`; null without times. */
export function nextRun(times: readonly number[], now: Date): Date | null {
  const first = times[0];
  if (first === undefined) return null;
  const day = startOfDay(now);
  const later = times.map((minutes) => addMs(day, minutes * MINUTE_MS)).find((timestamp) => timestamp > now);
  return later ?? addMs(addDays(day, 1), first * MINUTE_MS);
}

/** The latest of the times up to `now`; null without times. */
export function lastRun(times: readonly number[], now: Date): Date | null {
  const last = times.at(-1);
  if (last === undefined) return null;
  const day = startOfDay(now);
  const earlier = times.map((minutes) => addMs(day, minutes * MINUTE_MS)).findLast((timestamp) => timestamp <= now);
  return earlier ?? addMs(addDays(day, -1), last * MINUTE_MS);
}
