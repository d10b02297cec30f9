import type { App } from '../../core/app.ts';
import type { SqlRunner } from '../../core/db/db.ts';
import { sqlState } from '../../core/db/db-errors.ts';
import { DATABASE_RESTORED } from '../../core/events/event-log.ts';
import { secretKeys } from '../settings/catalogue/catalogue.ts';
import { buildIndexes, closeTables, dropIndexes, ledgerProblems, openTables, recount } from './bulk-load.ts';
import { type CheckedArchive, linesOf } from './check-archive.ts';
import { openArchive, type ReadOptions, type TableMember } from './read-archive.ts';
import { listMigrations } from './repo.ts';
import { insertStatement, type OnConflict, publicRelation, quote } from './row-format.ts';
import { digestRows, fateOf, oneAhead, rowsOf } from './snapshot.ts';
import { ArchiveRefused, type Table } from './types.ts';
import { hasJobQueue, LOAD_JOBS, openJobs, replaceJobs, WAITING_JOBS } from './waiting-jobs.ts';

export interface RestoreRowsOptions extends ReadOptions {
  path: string;
  archive: CheckedArchive;
  /** All data of the archive's tables is replaced; false: the archive is merged into it. */
  clearExisting: boolean;
  /** Keeps tokens, roles and superadmins of the running system; false where there is none (a drill). */
  keepsAccess: boolean;
}

/**
 * Restores the rows of a checked archive (spec 06 section 7). In one transaction of its own: what this function throws undoes all of it.
 * Before it returns, rows, foreign keys and the ledger are verified.
 * @throws ArchiveRefused
 */
export async function restoreRows(sql: SqlRunner, { clock }: Pick<App, 'clock'>, options: RestoreRowsOptions): Promise<Loaded> {
  const { path, archive, clearExisting, password, signal } = options;
  const now = clock.now();
  if (options.keepsAccess) await sql('SELECT 1 AS done FROM remember_access()');
  const open = await openTables(sql);
  const { tables } = open;
  const byName = new Map(tables.map((table) => [table.name, table]));
  if (clearExisting) await dropIndexes(sql, open, (table) => archive.schema.tables[table]?.rows ?? 0);
  if (clearExisting) await emptyTables(sql, tables, archive);
  // Jobs that wait name rows by ids, which will be other rows. After a merge they are the same rows, and those of the archive are done by now.
  const replacesJobs = clearExisting && (await hasJobQueue(sql));
  if (replacesJobs) await openJobs(sql);
  const skipped = new Set<string>();
  if (!archive.metadata.includes.sessions) skipped.add('cabinet_refresh_tokens');
  if (!replacesJobs) skipped.add(WAITING_JOBS);
  const read = { path, password, ...(signal ? { signal } : {}) };
  const loaded = await loadRows(sql, { ...read, tables: byName, isEmptied: clearExisting, skipped });
  if (clearExisting) await verifyRows(sql, archive);
  // Numbers of transactions of another time or server: readers of events would take these rows for new ones.
  await sql('UPDATE public.domain_events SET transaction_number = 0 WHERE transaction_number <> 0');
  await buildIndexes(sql, open, refuse);
  if (!clearExisting) await sumBalances(sql);
  // The tables of counters are as complete as those that they count, unless a later migration made some.
  if (!clearExisting || archive.schema.migrations.length < (await listMigrations(sql)).length) await recount(sql);
  await closeTables(sql, open, refuse);
  if (options.keepsAccess) await sql('SELECT 1 AS done FROM restore_access($1::timestamptz)', [now]);
  if (replacesJobs) await replaceJobs(sql, archive.schema.tables[WAITING_JOBS]?.columns ?? null);
  const problems = await ledgerProblems(sql);
  if (problems.length > 0) throw new ArchiveRefused(`The ledger would not be clean: ${problems.join(', ')}`);
  await sql("SELECT emit_event($1, '{}'::jsonb, 'instance', NULL, $2::timestamptz) AS id", [DATABASE_RESTORED, now]);
  return loaded;
}

/** Tables that end with another one, also where the archive is of a release that did not have them. */
const FOLLOWERS: ReadonlyMap<string, string> = new Map([
  ['audit_links', 'admin_audit_log'],
  ['audit_days', 'admin_audit_log'],
  ['second_factors', 'users'],
  ['recovery_codes', 'users'],
]);

/** Removes what a backup of the archive's scope has, and what is derived from it. */
async function emptyTables(sql: SqlRunner, tables: readonly Table[], { metadata, schema }: CheckedArchive): Promise<void> {
  for (const { name } of tables) {
    const fate = fateOf(name);
    const isDependent = fate === 'derived' || fate === 'sessions';
    if (!isDependent && !((FOLLOWERS.get(name) ?? name) in schema.tables)) continue;
    const condition = isDependent ? 'true' : rowsOf(name, metadata.includes, secretKeys);
    // An empty table, as most of a new database are, is not truncated: that makes new files for it and its indexes.
    const [found] = await sql<{ filled: boolean }>(`SELECT EXISTS (SELECT 1 FROM ${publicRelation(name)}) AS filled`);
    if (!found!.filled) continue;
    if (condition === 'true') await sql(`TRUNCATE ${publicRelation(name)}`);
    else await sql(`DELETE FROM public.${quote(name)} WHERE ${condition}`);
  }
}

/** Reads every table again as a backup would, and compares it with the archive: what was written is what the archive has. */
async function verifyRows(sql: SqlRunner, { schema, metadata }: CheckedArchive): Promise<void> {
  for (const [name, archived] of Object.entries(schema.tables)) {
    if (fateOf(name) === 'sessions' || name === WAITING_JOBS) continue;
    const { columns, primaryKey } = archived;
    const found = await digestRows(sql, {
      relation: publicRelation(name),
      columns,
      primaryKey,
      condition: rowsOf(name, metadata.includes, secretKeys),
    });
    if (found.rows === archived.rows && found.sha256 === archived.sha256) continue;
    const what = found.rows === archived.rows ? 'some values differ' : `${found.rows} of ${archived.rows} rows`;
    throw new ArchiveRefused(`What was restored of ${name} does not equal the archive (${what})`);
  }
}

/** After a merge: the entries of both sides are there, and a balance is their sum. */
async function sumBalances(sql: SqlRunner): Promise<void> {
  await sql(
    `UPDATE public.users u SET balance_kopeks = s.kopeks FROM (
       SELECT w.id, coalesce(sum(e.kopeks), 0)::bigint AS kopeks FROM public.users w
       LEFT JOIN public.ledger_accounts a ON a.user_id = w.id AND a.kind = 'user_wallet'
       LEFT JOIN public.ledger_entries e ON e.account_id = a.id GROUP BY w.id) s
     WHERE s.id = u.id AND s.kopeks <> u.balance_kopeks`,
  );
}

const refuse = (message: string, cause: unknown) => new ArchiveRefused(message, { cause });

/** What one statement inserts at most: some thousand rows, or one large one. */
const BATCH_ROWS = 5_000;
const BATCH_BYTES = 4 * 1024 * 1024;

interface LoadOptions extends ReadOptions {
  path: string;
  tables: ReadonlyMap<string, Table>;
  /** The tables are empty; otherwise rows that exist are updated, and those of append-only tables stay. */
  isEmptied: boolean;
  /** Tables of the archive that are not loaded. */
  skipped: ReadonlySet<string>;
}

interface Loaded {
  tables: number;
  /** Rows that were inserted or updated. */
  rows: number;
}

/**
 * Inserts the rows of an archive; in the transaction of the restore, with foreign keys and triggers off.
 * @throws ArchiveRefused with table and key when the database refuses a row
 */
async function loadRows(sql: SqlRunner, options: LoadOptions): Promise<Loaded> {
  const { members } = await openArchive(options.path, options);
  const loaded: Loaded = { tables: 0, rows: 0 };
  try {
    for await (const member of members) {
      if (member.kind !== 'table' || options.skipped.has(member.name)) continue;
      const statement = statementFor(member, options);
      for await (const batch of oneAhead(batchesOf(linesOf(member.content))))
        loaded.rows += await insert(sql, statement, batch, member.name);
      if (member.table.rows > 0) loaded.tables += 1;
    }
  } finally {
    await members.return(undefined);
  }
  return loaded;
}

function statementFor({ name, table: archived }: TableMember, { tables, isEmptied }: LoadOptions): string {
  if (name === WAITING_JOBS) return LOAD_JOBS;
  const table = tables.get(name)!;
  const given = new Set(archived.columns.map(({ name: column }) => column));
  const columns = table.columns.filter(({ name: column }) => given.has(column));
  return insertStatement(name, columns, onConflict(table, isEmptied));
}

function onConflict({ name, primaryKey: key }: Table, isEmptied: boolean): OnConflict {
  if (isEmptied) return { do: 'fail' };
  return { do: fateOf(name) === 'append-only' ? 'nothing' : 'update', key };
}

async function insert(sql: SqlRunner, statement: string, lines: readonly string[], table: string): Promise<number> {
  try {
    const [written] = await sql<{ rows: number }>(statement, [`[${lines.join(',')}]`]);
    return written!.rows;
  } catch (error) {
    // Any failure: `refusedRow` changes errors that a row caused only.
    throw refusedRow(error, table);
  }
}

/** Classes of SQLSTATE that a row causes: data exceptions and violated constraints. The rest (lost sessions, full disks) is no fault of the archive. */
function refusedRow(error: unknown, table: string): unknown {
  const state = sqlState(error) ?? '';
  if (state.startsWith('23')) {
    const { constraint } = error as { constraint?: string };
    return new ArchiveRefused(`A row of ${table} violates ${constraint ?? 'a key'}`, { cause: error });
  }
  if (state.startsWith('22'))
    return new ArchiveRefused(`A row of ${table} has a value that its column does not take`, { cause: error });
  return error;
}

async function* batchesOf(given: AsyncIterable<string[]>): AsyncGenerator<string[]> {
  let batch: string[] = [];
  let length = 0;
  for await (const lines of given) {
    for (const line of lines) {
      batch.push(line);
      length += line.length;
      if (batch.length < BATCH_ROWS && length < BATCH_BYTES) continue;
      yield batch;
      batch = [];
      length = 0;
    }
  }
  if (batch.length > 0) yield batch;
}
