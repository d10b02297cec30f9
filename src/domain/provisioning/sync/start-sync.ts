import { type Actor, actorKey } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { SECOND_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { driveRun, RunLease } from '../long-runs/drive-run.ts';
import { requirePanel } from '../panel-access.ts';
import { findRun, insertRun } from './run-repo.ts';
import { firstCursor, syncRun } from './run-sync.ts';
import { NO_SQUADS } from './sync-servers-phase.ts';
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
