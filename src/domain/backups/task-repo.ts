import { allColumns, plainRow } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { BackupTask } from './types.ts';

const TASK = allColumns('BackupTask').of();
/** Of the list, whatever is stored: tasks are pruned long before. */
const LISTED = 1_000;

export async function insertTask(
  db: Db,
  task: Pick<BackupTask, 'taskId' | 'origin' | 'createdBy'>,
  now: Date,
): Promise<BackupTask> {
  return plainRow(
    'BackupTask',
    await db.prisma.backupTask.create({ data: { ...task, status: 'queued', createdAt: now, updatedAt: now } }),
  );
}

export async function findTask(db: Db, taskId: string): Promise<BackupTask | null> {
  const row = await db.prisma.backupTask.findUnique({ where: { taskId } });
  return row && plainRow('BackupTask', row);
}

/** Oldest first; of all tasks, the newest ones. */
export function listTasks(db: Db, activeOnly: boolean): Promise<BackupTask[]> {
  return db.sql<BackupTask>(
    `SELECT * FROM (SELECT ${TASK} FROM backup_tasks ${activeOnly ? "WHERE status IN ('queued', 'running')" : ''}
       ORDER BY created_at DESC, task_id DESC LIMIT ${LISTED}) newest ORDER BY created_at, task_id`,
  );
}

/** Changes a task that has not ended. @returns false when it has */
export async function updateTask(
  db: Db,
  taskId: string,
  changes: Pick<BackupTask, 'status'> & Partial<Pick<BackupTask, 'message' | 'filePath'>>,
  now: Date,
): Promise<boolean> {
  const { count } = await db.prisma.backupTask.updateMany({
    where: { taskId, status: { in: ['queued', 'running'] } },
    data: { ...changes, updatedAt: now },
  });
  return count > 0;
}

/** Queued tasks without a job: the process that had taken it died. With the number of jobs that ended so. */
export function listLostTasks(db: Db): Promise<{ taskId: string; deaths: number }[]> {
  return db.sql(
    `SELECT task_id, (SELECT count(*)::int FROM jobs.job WHERE name = 'backups.create' AND state = 'failed'
         AND data->>'taskId' = task.task_id) AS deaths
     FROM backup_tasks task WHERE status = 'queued' AND NOT EXISTS (
       SELECT 1 FROM jobs.job WHERE name = 'backups.create' AND state < 'completed' AND data->>'taskId' = task.task_id)`,
  );
}

/** Whether the newest scheduled backup ended with this message. */
export async function hasLastScheduledFailed(db: Db, message: string): Promise<boolean> {
  const last = await db.prisma.backupTask.findFirst({ where: { origin: 'schedule' }, orderBy: { createdAt: 'desc' } });
  return last?.status === 'failed' && last.message === message;
}

/** Ends the tasks that run: their process is no more. To be called by the one who may run one. @returns how many */
export async function failRunningTasks(db: Db, message: string, now: Date): Promise<number> {
  const { count } = await db.prisma.backupTask.updateMany({
    where: { status: 'running' },
    data: { status: 'failed', message, updatedAt: now },
  });
  return count;
}

export async function deleteTasksBefore(db: Db, before: Date): Promise<void> {
  await db.prisma.backupTask.deleteMany({ where: { status: { in: ['completed', 'failed'] }, createdAt: { lt: before } } });
}
