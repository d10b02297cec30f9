import type { App } from '../../../core/app.ts';
import { MINUTE_MS } from '../../../core/clock.ts';
import { continueMigration } from '../migration/migrate-squad.ts';
import { continueSync } from '../sync/run-sync.ts';
import { startAutoSyncWhenDue } from '../sync/start-sync.ts';
import { enqueueContinuation } from './drive-run.ts';
import { listAbandonedRuns, type RunTable } from './repo.ts';

/** Time limit of one job; short, because the rest is done by another job after a stop or a crash. */
const JOB_MS = MINUTE_MS;

/** Continues a run for a minute; then another job continues it (queue `provisioning.continue`). */
export async function continueRun(app: App, run: { table: RunTable; runId: number }, signal: AbortSignal): Promise<void> {
  const limits = { untilMs: performance.now() + JOB_MS, signal };
  if (run.table === 'squad_migration_runs') await continueMigration(app, run.runId, limits);
  else await continueSync(app, run.runId, limits);
}

/** Enqueues runs without a live lease, and starts the automatic synchronisation at its times (spec 06 section 10). */
export async function watchRuns(app: App): Promise<void> {
  for (const table of ['squad_migration_runs', 'panel_sync_runs'] as const) {
    for (const id of await listAbandonedRuns(app.db, table)) await enqueueContinuation(app, { table, id });
  }
  await startAutoSyncWhenDue(app);
}
