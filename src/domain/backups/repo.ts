import { allColumns, plainRow } from '../../core/db/columns.ts';
import type { Db, SqlRunner } from '../../core/db/db.ts';
import type { BackupTask, Table } from './types.ts';

/** The tables of the open database with what an archive needs to know of them, by name. Generated columns are left out. */
export async function listTables(sql: SqlRunner): Promise<Table[]> {
  const rows = await sql<{
    table: string;
    column: string;
    type: string;
    nullable: boolean;
    defaulted: boolean;
    keyAt: number | null;
  }>(
    `SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type, NOT a.attnotnull AS nullable,
       (a.atthasdef OR a.attidentity <> '') AS defaulted, array_position(k.conkey, a.attnum) AS key_at
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY c.relname, a.attnum`,
  );
  const tables = new Map<string, Table & { keyOrder: [number, string][] }>();
  for (const row of rows) {
    const table = tables.get(row.table) ?? { name: row.table, columns: [], primaryKey: [], defaulted: [], keyOrder: [] };
    tables.set(row.table, table);
    table.columns.push({ name: row.column, type: row.type, nullable: row.nullable });
    if (row.defaulted) table.defaulted.push(row.column);
    if (row.keyAt !== null) table.keyOrder.push([row.keyAt, row.column]);
  }
  return [...tables.values()].map(({ keyOrder, ...table }) => ({
    ...table,
    primaryKey: keyOrder.sort(([one], [other]) => one - other).map(([, column]) => column),
  }));
}

/** Names of the applied migrations, in their order. */
export async function listMigrations(sql: SqlRunner): Promise<string[]> {
  const rows = await sql<{ name: string }>('SELECT name FROM schema_migrations ORDER BY name');
  return rows.map(({ name }) => name);
}

export interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

export function listForeignKeys(sql: SqlRunner): Promise<ForeignKey[]> {
  return sql<ForeignKey>(
    `SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
     WHERE contype = 'f' AND connamespace = 'public'::regnamespace AND conparentid = 0 ORDER BY 1, 2`,
  );
}

/** Sequences that give a column its ids. */
export function listOwnedSequences(sql: SqlRunner): Promise<{ sequence: string; table: string; column: string }[]> {
  return sql(
    `SELECT s.oid::regclass::text AS sequence, c.relname AS table, a.attname AS column
     FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S' JOIN pg_class c ON c.oid = d.refobjid
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid
     WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
       AND c.relnamespace = 'public'::regnamespace`,
  );
}

export interface LooseIndex {
  table: string;
  name: string;
  definition: string;
}

/** Indexes that no constraint has, unique ones too: they can be dropped and built again, those of a partitioned table with its partitions. */
export function listLooseIndexes(sql: SqlRunner): Promise<LooseIndex[]> {
  return sql<LooseIndex>(
    `SELECT c.relname AS table, i.indexrelid::regclass::text AS name, replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') AS definition
     FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT i.indisprimary AND NOT i.indisexclusion
       AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid) ORDER BY 1, 2`,
  );
}

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
