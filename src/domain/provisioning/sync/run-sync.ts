import type { App } from '../../../core/app.ts';
import { syncServers } from '../../catalog/server-sync.ts';
import { recordMonitoring } from '../../monitoring/monitoring-log.ts';
import {
  type DriveLimits,
  driveRun,
  type LongRun,
  type RunLease,
  retryPanelCall,
  type StepResult,
} from '../long-runs/drive-run.ts';
import { dropParkedUsers } from '../parked-panel-users.ts';
import { isPanelError, PanelError } from '../ports.ts';
import { applyPanel } from './apply-panel.ts';
import { advance, type PhaseResult } from './progress.ts';
import { pushAll } from './push-all.ts';
import { validateSubscriptions } from './recommend.ts';
import { clearSnapshot, countSnapshot, insertPage, skipDuplicates } from './repo.ts';
import { findRun, finishRun, saveRun } from './run-repo.ts';
import { treatAbsent } from './treat-absent.ts';
import type { SyncCursor, SyncKind, SyncMode, SyncPhase, SyncRun } from './types.ts';

const PAGE = 500;
/** Times that a list is read again whose length does not match, because users were added or deleted during the reading. */
const MAX_RESTARTS = 2;

/**
 * Reads the next page of the panel's users. The list is complete when it has as many different users as the panel's total;
 * otherwise it is read again, and if it stays incomplete, no user counts as absent (spec 06 hazards 4, 5).
 */
async function readList(app: App, lease: RunLease, run: SyncRun): Promise<PhaseResult> {
  await lease.renew(app);
  const readAt = app.clock.now();
  const { start } = run.cursor;
  const page = await retryPanelCall(() => app.ports.panel.listUsers({ start, size: PAGE }));
  const next = start + page.users.length;
  const isOver = page.users.length === 0 || next >= page.total;
  return lease.write(app, async (t) => {
    await insertPage(t.db, run.id, page.users, readAt);
    const began = run.cursor.readAt ?? readAt.toISOString();
    const progress = { done: next, total: page.total };
    if (!isOver) {
      await advance(t, run, { start: next, readAt: began, progress });
      return 'more';
    }
    const listed = await countSnapshot(t.db, run.id);
    const isComplete = listed === page.total;
    if (!isComplete && run.cursor.restarts < MAX_RESTARTS) {
      await clearSnapshot(t.db, run.id);
      await advance(t, run, { start: 0, readAt: null, restarts: run.cursor.restarts + 1 });
      return 'more';
    }
    await dropParkedUsers(t.db, run.id);
    await skipDuplicates(t.db, run.id, t.clock.now());
    await advance(t, run, { readAt: began, isComplete, hasUsers: listed > 0 }, { listed });
    return 'next';
  });
}

/** Detail of the 502 when the panel has no squads (spec 06 section 11); the reason follows where it gave no list at all (08 P10). */
export const NO_SQUADS = 'Failed to get squads';

/** Updates the servers from the panel's squads, by the rules of the catalogue (spec 06 section 10 and section 17, hazard 5). @throws PanelError without a list */
async function syncServersPhase(app: App, lease: RunLease, run: SyncRun): Promise<PhaseResult> {
  await lease.renew(app);
  const result = await syncServers(app);
  if (result.outcome === 'not_configured') throw new PanelError('not_configured', result.reason);
  if (result.outcome === 'no_list')
    throw new PanelError('unavailable', result.reason === null ? NO_SQUADS : `${NO_SQUADS}: ${result.reason}`);
  const { outcome: _outcome, ...servers } = result;
  await lease.write(app, (t) => advance(t, run, {}, {}, { servers }));
  return 'next';
}

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
