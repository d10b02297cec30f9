import type { App } from '../../../core/app.ts';
import { recordMonitoring } from '../../monitoring/record-event.ts';
import { type DriveLimits, driveRun, type LongRun, type RunLease, type StepResult } from '../long-runs/drive-run.ts';
import { isPanelError, type PanelError } from '../ports.ts';
import { applyPanel } from './apply-panel.ts';
import type { PhaseResult } from './progress.ts';
import { pushAll } from './push-all.ts';
import { readList } from './read-list.ts';
import { findRun, finishRun, saveRun } from './run-repo.ts';
import { syncServersPhase } from './sync-servers-phase.ts';
import { treatAbsent } from './treat-absent.ts';
import type { SyncCursor, SyncKind, SyncMode, SyncPhase, SyncRun } from './types.ts';
import { validateSubscriptions } from './validate.ts';

const PHASES: Record<SyncPhase, (app: App, lease: RunLease, run: SyncRun) => Promise<PhaseResult>> = {
  read: readList,
  apply: applyPanel,
  absent: treatAbsent,
  push: pushAll,
  validate: validateSubscriptions,
  servers: syncServersPhase,
};

function phasesOf(kind: SyncKind, mode: SyncMode | null): SyncPhase[] {
  switch (kind) {
    case 'from_panel':
      return mode === 'all' ? ['read', 'apply', 'absent'] : ['read', 'apply'];
    case 'auto':
      return ['read', 'apply', 'absent', 'servers'];
    case 'statuses':
      return ['read', 'apply', 'absent'];
    case 'cleanup':
      return ['read', 'absent'];
    case 'to_panel':
      return ['read', 'push'];
    default:
      return [kind];
  }
}

/** Before any uuid, and before any id. */
const FIRST_UUID = '00000000-0000-0000-0000-000000000000';
const firstOf = (phase: SyncPhase): string => (phase === 'apply' ? FIRST_UUID : '0');

/** The first cursor of a run of this kind. */
export function firstCursor(kind: SyncKind, mode: SyncMode | null): SyncCursor {
  const phase = phasesOf(kind, mode)[0]!;
  return {
    phase,
    start: 0,
    readAt: null,
    restarts: 0,
    isComplete: false,
    hasUsers: false,
    after: firstOf(phase),
    isShareChecked: false,
    trouble: 0,
  };
}

/** Failures in a row after which a run is closed as failed: few at its beginning, more after it has done something. */
const MAX_TROUBLE_AT_FIRST = 3;
const MAX_TROUBLE = 12;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 30_000;

/** A synchronisation with the panel as a long run: phase after phase, batch after batch, each batch one transaction. */
export function syncRun(id: number): LongRun {
  return {
    table: 'panel_sync_runs',
    id,
    async step(app, lease) {
      const run = await findRun(app.db, id);
      if (run?.status !== 'running') return 'done';
      try {
        return await afterPhase(app, lease, run, await PHASES[run.cursor.phase](app, lease, run));
      } catch (error) {
        if (!isPanelError(error)) throw error;
        return recordFailure(app, lease, error);
      }
    },
    giveUp: (app, lease) => fail(app, lease, 'Unexpected failure'),
  };
}

async function afterPhase(app: App, lease: RunLease, run: SyncRun, result: PhaseResult): Promise<StepResult> {
  if (result !== 'next') return result;
  const phases = phasesOf(run.kind, run.mode);
  const next = phases[phases.indexOf(run.cursor.phase) + 1];
  // The run is read again, because the phase has stored its own counts.
  return lease.write(app, async (t) => {
    const current = (await findRun(t.db, run.id))!;
    if (next === undefined) {
      await finishRun(t.db, current, null, t.clock.now());
      await recordMonitoring(t, 'vpnpanel_sync', { stats: { kind: current.kind, ...current.counts } });
      return 'done';
    }
    await saveRun(
      t.db,
      { ...current, cursor: { ...current.cursor, phase: next, after: firstOf(next), progress: null } },
      t.clock.now(),
    );
    return 'more';
  });
}

/** Returns a growing pause, and closes the run as failed after too many failures. A refusal of the panel closes it immediately. */
async function recordFailure(app: App, lease: RunLease, error: PanelError): Promise<StepResult> {
  const run = (await findRun(app.db, lease.id))!;
  const trouble = run.cursor.trouble + 1;
  const hasBegun = run.cursor.start > 0 || run.cursor.readAt !== null || run.counts.checked > 0;
  app.log.warn(
    { runId: run.id, kind: run.kind, phase: run.cursor.phase, trouble, err: error },
    'panel sync: the panel gave no answer',
  );
  if (error.kind !== 'unavailable' || trouble >= (hasBegun ? MAX_TROUBLE : MAX_TROUBLE_AT_FIRST)) {
    await fail(app, lease, error.message);
    return 'done';
  }
  await lease.write(app, (t) => saveRun(t.db, { ...run, cursor: { ...run.cursor, trouble } }, t.clock.now()));
  return { pauseMs: Math.min(FIRST_PAUSE_MS * 2 ** trouble, MAX_PAUSE_MS) };
}

async function fail(app: App, lease: RunLease, text: string): Promise<void> {
  await lease.write(app, async (t) => {
    const run = (await findRun(t.db, lease.id))!;
    const counts = { ...run.counts, errors: run.counts.errors + 1 };
    await finishRun(t.db, { ...run, counts }, text, t.clock.now());
    await recordMonitoring(t, 'vpnpanel_sync_error', { error: text });
  });
}

/** Continues a run whose request is over or whose worker crashed (queue `provisioning.continue`). */
export async function continueSync(app: App, runId: number, limits: DriveLimits): Promise<void> {
  await driveRun(app, syncRun(runId), limits);
}
