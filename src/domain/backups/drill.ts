import { join } from 'node:path';
import type { App } from '../../core/app.ts';
import { HOUR_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { lockState, writeState } from '../../core/service-state.ts';
import { backupFolder, listBackupNames } from './backup-folder.ts';
import { type DrillResult, LAST_DRILL, notifyAdministrators } from './backup-tasks.ts';
import { checkArchive } from './check-archive.ts';
import { listMigrations, listTables } from './repo.ts';
import { restoreRows } from './restore-rows.ts';

/** Row of `service_state`: when the last drill began, so that one instance begins each. */
const BEGUN = 'backups:drill-begun';

/** Runs a drill when there is a backup and the last drill is `BACKUP_DRILL_INTERVAL_HOURS` ago. */
export async function runDueDrill(app: App, signal: AbortSignal): Promise<void> {
  const hours = app.env.backups.drillIntervalHours;
  // A new installation has none yet; the first drill is due as soon as there is one.
  if (hours === 0 || (await listBackupNames(app)).length === 0) return;
  const now = app.clock.now();
  const isDue = await inTransaction(app, async (t) => {
    const { at } = await lockState<{ at: string }>(t.db, BEGUN);
    if (at !== undefined && now.getTime() - Date.parse(at) < hours * HOUR_MS) return false;
    await writeState(t.db, BEGUN, { at: now.toISOString() });
    return true;
  });
  if (isDue) await runDrill(app, signal);
}

/**
 * Restores the newest backup into a database of its own and verifies it as a restore does: rows, checksums, foreign keys, ledger. The
 * database is dropped, and the result stored for metrics and `doctor`. The administrators are notified of a failed drill.
 */
export async function runDrill(app: App, signal?: AbortSignal): Promise<DrillResult> {
  const [name] = await listBackupNames(app);
  const result =
    name === undefined ? { isOk: false, name: '', message: 'There is no backup' } : await tryRestore(app, name, signal);
  const drill: DrillResult = { ...result, at: app.clock.now().toISOString() };
  await writeState(app.db, LAST_DRILL, drill);
  if (!drill.isOk) await notifyAdministrators(app, 'drill_failed', { name: drill.name, reason: drill.message });
  return drill;
}

async function tryRestore(app: App, name: string, signal: AbortSignal | undefined): Promise<Omit<DrillResult, 'at'>> {
  const path = join(backupFolder(app), name);
  const read = { path, password: app.settings.get('BACKUP_ARCHIVE_PASSWORD'), ...(signal ? { signal } : {}) };
  const startedAt = performance.now();
  try {
    const scratch = await app.ports.openScratchDatabase();
    try {
      const work = await scratch.database.db.long!.alone(async (session) => {
        const installed = await session.snapshot(async (sql) => ({
          migrations: await listMigrations(sql),
          tables: await listTables(sql),
        }));
        const archive = await checkArchive(path, read, installed);
        return session.write((sql) => restoreRows(sql, app, { ...read, archive, clearExisting: true, keepsAccess: false }));
      });
      if (work === null) throw new Error('another drill uses the same database');
      const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
      return { isOk: true, name, message: `${work.result.rows} records of ${work.result.tables} tables in ${seconds} s` };
    } finally {
      await scratch.drop();
    }
  } catch (error) {
    // Any failure: it is the result of the drill.
    app.log.error({ err: error, name }, 'a restore drill failed');
    return { isOk: false, name, message: error instanceof Error ? error.message : String(error) };
  }
}
