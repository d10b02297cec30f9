import type { App } from '../../../core/app.ts';
import { type DriveLimits, driveRun, type LongRun, type RunHold, type StepResult } from '../long-runs/drive-run.ts';
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

const PHASES: Record<SyncPhase, (app: App, hold: RunHold, run: SyncRun) => Promise<PhaseResult>> = {
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

/** Where a run of this kind begins. */
export function firstCursor(kind: SyncKind, mode: SyncMode | null): SyncCursor {
  const phase = phasesOf(kind, mode)[0]!;
  return {
    phase,
    start: 0,
    readAt: null,
    restarts: 0,
    isComplete: false,
    after: firstOf(phase),
    isShareChecked: false,
    trouble: 0,
  };
}

/** A panel that fails at the very beginning is down; one that fails later on is given more patience, for much is done already. */
const MAX_TROUBLE_AT_FIRST = 3;
const MAX_TROUBLE = 12;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 30_000;

/** A synchronisation with the panel as long work: phase after phase, batch after batch, each batch one transaction. */
export function syncRun(id: number): LongRun {
  return {
    table: 'panel_sync_runs',
    id,
    async step(app, hold) {
      const run = await findRun(app.db, id);
      if (run?.status !== 'running') return 'done';
      try {
        return await afterPhase(app, hold, run, await PHASES[run.cursor.phase](app, hold, run));
      } catch (error) {
        if (!isPanelError(error)) throw error;
        return noteTrouble(app, hold, error);
      }
    },
    giveUp: (app, hold) => fail(app, hold, 'Unexpected failure'),
  };
}

async function afterPhase(app: App, hold: RunHold, run: SyncRun, result: PhaseResult): Promise<StepResult> {
  if (result !== 'next') return result;
  const phases = phasesOf(run.kind, run.mode);
  const next = phases[phases.indexOf(run.cursor.phase) + 1];
  // Read again: the phase has stored its own counts.
  return hold.write(app, async (t) => {
    const current = (await findRun(t.db, run.id))!;
    if (next === undefined) {
      await finishRun(t.db, current, null, t.clock.now());
      return 'done';
    }
    await saveRun(t.db, { ...current, cursor: { ...current.cursor, phase: next, after: firstOf(next) } }, t.clock.now());
    return 'more';
  });
}

/** Waits longer and longer, and in the end gives up. What the panel refuses, or cannot be asked for, is not asked again. */
async function noteTrouble(app: App, hold: RunHold, error: PanelError): Promise<StepResult> {
  const run = (await findRun(app.db, hold.id))!;
  const trouble = run.cursor.trouble + 1;
  const hasBegun = run.cursor.start > 0 || run.cursor.readAt !== null || run.counts.checked > 0;
  app.log.warn({ runId: run.id, kind: run.kind, phase: run.cursor.phase, trouble, err: error }, 'panel sync: no answer');
  if (error.kind !== 'unavailable' || trouble >= (hasBegun ? MAX_TROUBLE : MAX_TROUBLE_AT_FIRST)) {
    await fail(app, hold, error.message);
    return 'done';
  }
  await hold.write(app, (t) => saveRun(t.db, { ...run, cursor: { ...run.cursor, trouble } }, t.clock.now()));
  return { pauseMs: Math.min(FIRST_PAUSE_MS * 2 ** trouble, MAX_PAUSE_MS) };
}

async function fail(app: App, hold: RunHold, text: string): Promise<void> {
  await hold.write(app, async (t) => {
    const run = (await findRun(t.db, hold.id))!;
    const counts = { ...run.counts, errors: run.counts.errors + 1 };
    await finishRun(t.db, { ...run, counts }, text, t.clock.now());
  });
}

/** Goes on with a run that its starter left or died on (queue `provisioning.continue`). */
export async function continueSync(app: App, runId: number, limits: DriveLimits): Promise<void> {
  await driveRun(app, syncRun(runId), limits);
}
