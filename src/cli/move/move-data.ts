import { LONG_ANSWER_MS, serverClient } from '../../core/db/answer-limit.ts';
import type { Database } from '../../core/db/database.ts';
import { isForeignKeyViolation } from '../../core/db/db-errors.ts';
import { COMMAND_LINE } from '../../core/process-env.ts';
import { CommandError } from '../command.ts';
import {
  countRows,
  findJobTable,
  fullName,
  listTables,
  PRINT_ALIKE,
  type Query,
  quote,
  readContents,
  SERVICE_JOBS,
  type Table,
} from './table-facts.ts';

/** The lock of migrations, so that no service can start on the target meanwhile. */
const MIGRATION_LOCK = 727_110_001;
const LOCK_WAIT = '10s';

export interface MovedTable {
  name: string;
  rows: number;
}

export interface MoveOptions {
  source: Database;
  targetUrl: string;
  /** Rows that the migrations inserted into the target, by table. */
  seeded: ReadonlyMap<string, number>;
  progress: (text: string) => void;
}

/**
 * Copies everything from the embedded database to a migrated server, in one transaction of the target: after a failure it is as
 * empty as before. Compares counts and contents of every table and checks the ledger before it commits.
 * @throws CommandError
 */
export async function moveData({ source: database, targetUrl, seeded, progress }: MoveOptions): Promise<MovedTable[]> {
  const source: Query = (text, values) => database.db.sql(text, values);
  for (const statement of PRINT_ALIKE) await source(statement);
  await requireCleanLedger(source, 'embedded database');

  const client = serverClient({ url: targetUrl, name: 'db move', connectMs: 5_000, answerMs: LONG_ANSWER_MS });
  const target: Query = async <Row extends object>(text: string, values?: unknown[]) =>
    (await client.query(text, values)).rows as Row[];
  await client.connect();
  try {
    await target('BEGIN');
    for (const statement of PRINT_ALIKE) await target(statement.replace('SET ', 'SET LOCAL '));
    await target('SET LOCAL statement_timeout = 0');
    await target('SET LOCAL idle_in_transaction_session_timeout = 0');
    await target(`SET LOCAL lock_timeout = '${LOCK_WAIT}'`);
    await target('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const moved = await copyEverything(source, target, seeded, progress);
    await target('COMMIT');
    return moved;
  } catch (error) {
    // A lost connection has rolled back already.
    await target('ROLLBACK').catch(() => undefined);
    throw explained(error);
  } finally {
    await client.end();
  }
}

function explained(error: unknown): unknown {
  if (!isForeignKeyViolation(error)) return error;
  const detail = (error as { detail?: unknown }).detail;
  return new CommandError(
    `The embedded data has a row that refers to a missing one, so it was changed by hand: ${String(detail ?? '')} The target was left empty.`,
    { cause: error },
  );
}

async function copyEverything(
  source: Query,
  target: Query,
  seeded: MoveOptions['seeded'],
  progress: MoveOptions['progress'],
): Promise<MovedTable[]> {
  const tables = await listTables(source);
  const jobs = await findJobTable(source);
  requireSameTables(tables, await listTables(target));
  await lockTables(target, tables);
  await requireEmpty(target, tables, jobs, seeded);
  const opened = await openTables(target, tables);
  const moved: MovedTable[] = [];
  for (const table of tables) {
    await copyTable(source, target, table);
    moved.push({ name: table.name, rows: await compare(source, target, table) });
    if (moved.at(-1)!.rows > 0) progress(`  ${table.name}: ${moved.at(-1)!.rows}`);
  }
  if (jobs) {
    await copyQueues(source, target);
    await copyTable(source, target, jobs, SERVICE_JOBS);
    moved.push({ name: 'jobs', rows: await compare(source, target, jobs, SERVICE_JOBS) });
    progress(`  jobs: ${moved.at(-1)!.rows}`);
  }
  await copySequences(source, target);
  await closeTables(target, opened);
  progress('Counts and contents of all tables agree. Checking the ledger …');
  await requireCleanLedger(target, 'copy');
  return moved;
}

/** Both sides have run the same migrations, so a difference means that one of them was changed by hand. */
function requireSameTables(ours: readonly Table[], theirs: readonly Table[]): void {
  const describe = (tables: readonly Table[]) =>
    new Map(
      tables.map((table) => [
        table.name,
        table.columns
          .map((column) => `${column.name} ${column.type}`)
          .sort()
          .join(', '),
      ]),
    );
  const [from, to] = [describe(ours), describe(theirs)];
  const different = [...from].filter(([name, columns]) => to.get(name) !== columns).map(([name]) => name);
  if (different.length === 0) return;
  throw new CommandError(
    `The tables of the target differ from those of this release: ${different.join(', ')}. Nothing was changed. Give a new, empty database.`,
  );
}

async function compare(source: Query, target: Query, table: Table, condition?: string): Promise<number> {
  const [ours, theirs] = [await readContents(source, table, condition), await readContents(target, table, condition)];
  if (ours.rows === theirs.rows && ours.digest === theirs.digest) return ours.rows;
  const what = ours.rows === theirs.rows ? 'some values differ' : `${theirs.rows} of ${ours.rows} rows arrived`;
  throw new CommandError(`The copy of ${table.name} does not equal its source (${what}). The target was left empty.`);
}

async function requireCleanLedger(query: Query, where: string): Promise<void> {
  const problems = await query<{ problem: string; row_id: string }>('SELECT problem, row_id FROM ledger_check() LIMIT 20');
  if (problems.length === 0) return;
  const kinds = [...new Set(problems.map((problem) => problem.problem))].join(', ');
  throw new CommandError(
    `The ledger of the ${where} is not clean (${kinds}). Nothing was moved. Look at: ${COMMAND_LINE} ledger check`,
  );
}

/** Pages of 8 KiB read at once: at most a few thousand rows. */
const PAGES = 16;

/**
 * Copies a table as text, so that each value is exactly what the source prints; no number, time or JSON is converted by JavaScript.
 * Pages are read in their order on disk, which needs neither a key nor a sort; nothing else writes to the source.
 * @param condition on the source's rows
 */
async function copyTable(source: Query, target: Query, table: Table, condition = 'true'): Promise<void> {
  const insert = insertStatement(table);
  const list = table.columns.map((column, at) => `${quote(column.name)}::text AS c${at}`).join(', ');
  for (const part of await listParts(source, table)) {
    for (let page = 0; page < part.pages; page += PAGES) {
      const rows = await source<Record<string, string | null>>(
        `SELECT ${list} FROM ONLY ${part.name} WHERE ctid >= '(${page},0)'::tid AND ctid < '(${page + PAGES},0)'::tid AND (${condition})`,
      );
      if (rows.length === 0) continue;
      await target(
        insert,
        table.columns.map((_, at) => rows.map((row) => row[`c${at}`] ?? null)),
      );
    }
  }
}

/** One array of texts a column; the database casts it back to the column's type. */
function insertStatement(table: Table): string {
  const names = table.columns.map((column) => quote(column.name)).join(', ');
  const values = table.columns.map((column, at) => `c${at}::${column.type}`).join(', ');
  const arrays = table.columns.map((_, at) => `$${at + 1}::text[]`).join(', ');
  const aliases = table.columns.map((_, at) => `c${at}`).join(', ');
  return `INSERT INTO ${fullName(table)} (${names}) OVERRIDING SYSTEM VALUE SELECT ${values} FROM unnest(${arrays}) AS given(${aliases})`;
}

/** The tables that contain the rows: the table itself or its partitions. */
async function listParts(source: Query, table: Table): Promise<{ name: string; pages: number }[]> {
  const rows = await source<{ name: string; bytes: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name, pg_relation_size(c.oid)::text AS bytes
     FROM pg_partition_tree('${fullName(table)}'::regclass) tree JOIN pg_class c ON c.oid = tree.relid
     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r'
     UNION SELECT format('%I.%I', n.nspname, c.relname), pg_relation_size(c.oid)::text
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = '${fullName(table)}'::regclass AND c.relkind = 'r'`,
  );
  return rows.map((row) => ({ name: row.name, pages: Math.ceil(Number(row.bytes) / 8_192) }));
}

/** Locks the tables, so that nothing reads or writes the target until the end of the transaction. */
async function lockTables(target: Query, tables: readonly Table[]): Promise<void> {
  await target(`LOCK TABLE ${tables.map(fullName).join(', ')} IN ACCESS EXCLUSIVE MODE`);
}

/**
 * @param seeded rows that the migrations inserted, by table
 * @throws CommandError when the target has more than those
 */
async function requireEmpty(
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
interface OpenedTables {
  tables: readonly Table[];
  foreignKeys: { table: string; name: string; definition: string }[];
}

/**
 * Lets rows be inserted as they are: triggers that check them (for example ledger entries) did so in the source. The owner of
 * the tables may do this, no superuser is needed; other sessions do not see it before the commit. Foreign keys are removed, because rows refer
 * to later rows, and are restored with a check of all rows.
 */
async function openTables(target: Query, tables: readonly Table[]): Promise<OpenedTables> {
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

async function closeTables(target: Query, { tables, foreignKeys }: OpenedTables): Promise<void> {
  for (const table of tables) await target(`ALTER TABLE ${fullName(table)} ENABLE TRIGGER USER`);
  for (const key of foreignKeys) await target(`ALTER TABLE ${key.table} ADD CONSTRAINT ${quote(key.name)} ${key.definition}`);
}

/** Sequences continue after the last id of the source. */
async function copySequences(source: Query, target: Query): Promise<void> {
  const sequences = await source<{ name: string; last: string | null }>(
    `SELECT format('%I.%I', schemaname, sequencename) AS name, last_value::text AS last FROM pg_sequences WHERE schemaname = 'public'`,
  );
  for (const sequence of sequences) {
    if (sequence.last !== null) await target('SELECT setval($1::regclass, $2::bigint)', [sequence.name, sequence.last]);
  }
}

/** Queues of older releases may still have jobs. */
async function copyQueues(source: Query, target: Query): Promise<void> {
  const queues = await source<{ row: string }>(`SELECT to_jsonb(q)::text AS row FROM jobs.queue q WHERE ${SERVICE_JOBS}`);
  for (const { row } of queues) {
    await target(
      'INSERT INTO jobs.queue SELECT * FROM jsonb_populate_record(NULL::jobs.queue, $1::jsonb) ON CONFLICT (name) DO NOTHING',
      [row],
    );
  }
}
