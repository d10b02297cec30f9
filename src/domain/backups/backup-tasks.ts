import { join } from 'node:path';
import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addDays, addMs, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { hexToken } from '../../core/random.ts';
import { writeState } from '../../core/service-state.ts';
import { LAST_BACKUP } from './backup-health.ts';
import { backupFolder, listBackupNames, readBackupFile, removeBackup } from './folder.ts';
import { notifyAdministrators } from './notices.ts';
import { type TakenBackup, takeBackup } from './take-backup.ts';
import { deleteTasksBefore, failRunningTasks, findTask, insertTask, listLostTasks, listTasks, updateTask } from './task-repo.ts';
import type { BackupOrigin, BackupTask } from './types.ts';

export const backupTaskNotFound = refusal('backup_task_not_found', 404, 'Task not found');

const KEPT_TASK_DAYS = 30;
/** A task whose jobs ended so often without its beginning is not queued again. */
const MAX_DEATHS = 3;
/** A queued backup waits so long for another one, or for a restore. */
const TRY_AGAIN_MS = 5 * SECOND_MS;

/** Queues a backup; the answer does not wait for it. */
export function requestBackup(app: App, actor: Actor | null, origin: BackupOrigin): Promise<BackupTask> {
  const createdBy = actor?.kind === 'token' ? actor.tokenId : null;
  return inTransaction(app, async (t) => {
    const task = await insertTask(t.db, { taskId: hexToken(t.random, 16), origin, createdBy }, t.clock.now());
    await t.jobs.send('backups.create', { taskId: task.taskId });
    return task;
  });
}

/** @throws AppError 404 */
export async function readTask(app: App, taskId: string): Promise<BackupTask> {
  const task = /^[0-9a-f]{32}$/.test(taskId) ? await findTask(app.db, taskId) : null;
  if (!task) throw backupTaskNotFound();
  return task;
}

/** Oldest first. */
export function readTasks(app: App, { activeOnly }: { activeOnly: boolean }): Promise<BackupTask[]> {
  return listTasks(app.db, activeOnly);
}

/** Runs a queued backup, one at a time in the whole cluster; while another one or a restore is under way, it is queued again. */
export async function runTask(app: App, taskId: string, signal: AbortSignal): Promise<void> {
  const work = await app.db.long!.alone(async (session) => {
    // The one who may work knows that nobody else does.
    await failRunningTasks(app.db, INTERRUPTED, app.clock.now());
    if (!(await updateTask(app.db, taskId, { status: 'running' }, app.clock.now()))) return null;
    const task = (await findTask(app.db, taskId))!;
    try {
      return await takeBackup(app, session, task, signal);
    } catch (error) {
      // Any failure: it ends the task, which says so, and the administrators are notified.
      const reason = signal.aborted ? INTERRUPTED : 'The backup failed, see the log';
      app.log.error({ err: error, taskId }, 'a backup failed');
      await updateTask(app.db, taskId, { status: 'failed', message: reason }, app.clock.now());
      await notifyAdministrators(app, 'create_failed', { reason });
      return null;
    }
  });
  if (work === null) {
    await app.jobs.send('backups.create', { taskId }, { startAfter: addMs(app.clock.now(), TRY_AGAIN_MS) });
    return;
  }
  if (work.result) await finishTask(app, taskId, work.result);
}

export const INTERRUPTED = 'The process ended before the backup was complete';

async function finishTask(app: App, taskId: string, backup: TakenBackup): Promise<void> {
  const { name, sizeBytes, metadata } = backup;
  const megabytes = (sizeBytes / 1024 / 1024).toFixed(2);
  const message = `Backup ${name}: ${metadata.totalRecords} records of ${metadata.tablesCount} tables, ${megabytes} MB`;
  app.log.info({ name, records: metadata.totalRecords, sizeBytes }, 'a backup was created');
  await inTransaction(app, async (t) => {
    await updateTask(t.db, taskId, { status: 'completed', message, filePath: name }, t.clock.now());
    await writeState(t.db, LAST_BACKUP, { name, at: metadata.timestamp.toISOString() });
    await t.jobs.send('backups.send', { name });
  });
  await notifyAdministrators(app, 'created', { name, records: metadata.totalRecords, megabytes });
  await prune(app);
}

/** Keeps the newest `BACKUP_MAX_KEEP` backups, and as many safety backups, which do not count among them; and the tasks of a month. */
async function prune(app: App): Promise<void> {
  const keep = app.settings.get('BACKUP_MAX_KEEP');
  const kept = { ordinary: 0, safety: 0 };
  for (const name of await listBackupNames(app)) {
    const file = await readBackupFile(app, name);
    // What cannot be read was put there by somebody, and is not ours to delete.
    if (!file?.metadata) continue;
    const kind = file.metadata.origin === 'safety' ? 'safety' : 'ordinary';
    kept[kind] += 1;
    if (kept[kind] > keep) await removeBackup(join(backupFolder(app), name));
  }
  await deleteTasksBefore(app.db, addDays(app.clock.now(), -KEPT_TASK_DAYS));
}

async function giveUp(app: App, taskId: string): Promise<void> {
  if (!(await updateTask(app.db, taskId, { status: 'failed', message: INTERRUPTED }, app.clock.now()))) return;
  app.log.error({ taskId, jobs: MAX_DEATHS }, 'a backup was given up: its process ended each time before it began');
  await notifyAdministrators(app, 'create_failed', { reason: INTERRUPTED });
}

/**
 * Ends tasks whose process died, and queues those anew that wait for a job that is no more (spec 10 F4), unless each of
 * three jobs ended so: what ends the process must not do so for ever. Nothing that runs ends while a
 * backup or a restore is under way.
 */
export async function endInterruptedTasks(app: App): Promise<void> {
  for (const { taskId, deaths } of await listLostTasks(app.db)) {
    if (deaths < MAX_DEATHS) await app.jobs.send('backups.create', { taskId });
    else await giveUp(app, taskId);
  }
  if (!(await listTasks(app.db, true)).some(({ status }) => status === 'running')) return;
  await app.db.long!.alone(() => failRunningTasks(app.db, INTERRUPTED, app.clock.now()));
}
