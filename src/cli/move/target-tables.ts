import { CommandError } from '../command.ts';
import { countRows, fullName, type Query, quote, SERVICE_JOBS, type Table } from './table-facts.ts';

/** Locks the tables, so that nothing reads or writes the target until the end of the transaction. */
export async function lockTables(target: Query, tables: readonly Table[]): Promise<void> {
  await target(`LOCK TABLE ${tables.map(fullName).join(', ')} IN ACCESS EXCLUSIVE MODE`);
}

/**
 * @param seeded rows that the migrations inserted, by table
 * @throws CommandError when the target has more than those
 */
export async function requireEmpty(
  target: Query,
  tables: readonly Table[],
  jobs: Table | null,
  seeded: ReadonlyMap<string, number>,
): Promise<void> {
  const counts = await countRows(target, tables);
  const found = [...counts].filter(([name, rows]) => rows > (seeded.get(name) ?? 0)).map(([name, rows]) => `${name} (${rows})`);
  if (jobs) {
    const [row] = await target<{ rows: string }>(`SELECT count(*)::text AS rows FROM ${fullName(jobs)} WHERE ${SERVICE_JOBS}`);
    if (Number(row!.rows) > 0) found.push(`jobs (${row!.rows})`);
  }
  if (found.length === 0) return;
  throw new CommandError(
    `The target already has data: ${found.join(', ')}. Nothing was changed.\n` +
      'Give an empty database: CREATE DATABASE name OWNER user. (A service that was started on it once has filled it already.)',
  );
}

/** Triggers and keys that were removed from a table for the copy and must be restored. */
export interface OpenedTables {
  tables: readonly Table[];
  foreignKeys: { table: string; name: string; definition: string }[];
}

/**
 * Lets rows be inserted as they are: triggers that check them (for example ledger entries) did so in the source. The owner of
 * the tables may do this, no superuser is needed; other sessions do not see it before the commit. Foreign keys are removed, because rows refer
 * to later rows, and are restored with a check of all rows.
 */
export async function openTables(target: Query, tables: readonly Table[]): Promise<OpenedTables> {
  const foreignKeys = await target<{ table: string; name: string; definition: string }>(
    `SELECT conrelid::regclass::text AS table, conname AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace AND conparentid = 0 ORDER BY 1, 2`,
  );
  for (const key of foreignKeys) await target(`ALTER TABLE ${key.table} DROP CONSTRAINT ${quote(key.name)}`);
  for (const table of tables) await target(`ALTER TABLE ${fullName(table)} DISABLE TRIGGER USER`);
  // Rows that the migrations inserted are copied from the source, too.
  for (const table of tables) await target(`DELETE FROM ${fullName(table)}`);
  return { tables, foreignKeys };
}

export async function closeTables(target: Query, { tables, foreignKeys }: OpenedTables): Promise<void> {
  for (const table of tables) await target(`ALTER TABLE ${fullName(table)} ENABLE TRIGGER USER`);
  for (const key of foreignKeys) await target(`ALTER TABLE ${key.table} ADD CONSTRAINT ${quote(key.name)} ${key.definition}`);
}

/** Sequences continue after the last id of the source. */
export async function copySequences(source: Query, target: Query): Promise<void> {
  const sequences = await source<{ name: string; last: string | null }>(
    `SELECT format('%I.%I', schemaname, sequencename) AS name, last_value::text AS last FROM pg_sequences WHERE schemaname = 'public'`,
  );
  for (const sequence of sequences) {
    if (sequence.last !== null) await target('SELECT setval($1::regclass, $2::bigint)', [sequence.name, sequence.last]);
  }
}

/** Queues of older releases may still have jobs. */
export async function copyQueues(source: Query, target: Query): Promise<void> {
  const queues = await source<{ row: string }>(`SELECT to_jsonb(q)::text AS row FROM jobs.queue q WHERE ${SERVICE_JOBS}`);
  for (const { row } of queues) {
    await target(
      'INSERT INTO jobs.queue SELECT * FROM jsonb_populate_record(NULL::jobs.queue, $1::jsonb) ON CONFLICT (name) DO NOTHING',
      [row],
    );
  }
}
