import type { App } from '../../core/app.ts';
import type { SqlRunner } from '../../core/db/db.ts';
import { isUniqueViolation } from '../../core/db/db-errors.ts';
import { DATABASE_RESTORED } from '../../core/events/database-restored.ts';
import { secretKeys } from '../settings/catalogue/catalogue.ts';
import type { CheckedArchive } from './check-archive.ts';
import { advanceSequences, type Loaded, loadRows } from './load-rows.ts';
import { closeTables, openTables } from './opened-tables.ts';
import type { ReadOptions } from './read-archive.ts';
import { publicRelation, quote } from './row-format.ts';
import {
  type LooseIndex,
  listForeignKeys,
  listLooseIndexes,
  listMigrations,
  listOwnedSequences,
  listTables,
} from './schema-repo.ts';
import { digestRows } from './snapshot.ts';
import { fateOf, rowsOf } from './table-plan.ts';
import { ArchiveRefused, type Table } from './types.ts';
import { hasJobQueue, openJobs, replaceJobs, WAITING_JOBS } from './waiting-jobs.ts';

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
  await sql("SET LOCAL timezone TO 'UTC'");
  await sql('SET LOCAL extra_float_digits TO 1');
  await sql("SET LOCAL datestyle TO 'ISO, YMD'");
  const tables = (await listTables(sql)).filter(({ name }) => fateOf(name) !== 'local');
  const byName = new Map(tables.map((table) => [table.name, table]));
  const foreignKeys = await listForeignKeys(sql);
  if (options.keepsAccess) await sql('SELECT 1 AS done FROM remember_access()');
  await openTables(sql, tables, foreignKeys);
  await sql(`SET LOCAL maintenance_work_mem = '${INDEX_MEMORY}'`);
  // Building an index of all rows at once takes a small part of the time that adding the rows one by one takes.
  const isLarge = (table: string) => (archive.schema.tables[table]?.rows ?? 0) >= LARGE_TABLE_ROWS;
  const indexes = clearExisting ? (await listLooseIndexes(sql)).filter(({ table }) => isLarge(table)) : [];
  for (const { name } of indexes) await sql(`DROP INDEX ${name}`);
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
  await sql("DELETE FROM public.service_state WHERE key = 'ledger:check' RETURNING key");
  for (const index of indexes) await buildIndex(sql, index);
  // Every statement from here on would be planned as if the tables were empty.
  await sql(`ANALYZE ${tables.map(({ name }) => `public.${quote(name)}`).join(', ')}`);
  if (!clearExisting) await sumBalances(sql);
  // The tables of counters are as complete as those that they count, unless a later migration made some.
  if (!clearExisting || archive.schema.migrations.length < (await listMigrations(sql)).length) await recount(sql);
  await advanceSequences(sql, await listOwnedSequences(sql));
  await closeTables(sql, tables, foreignKeys);
  if (options.keepsAccess) await sql('SELECT 1 AS done FROM restore_access($1::timestamptz)', [now]);
  if (replacesJobs) await replaceJobs(sql, archive.schema.tables[WAITING_JOBS]?.columns ?? null);
  await requireCleanLedger(sql);
  await sql("SELECT emit_event($1, '{}'::jsonb, 'instance', NULL, $2::timestamptz) AS id", [DATABASE_RESTORED, now]);
  return loaded;
}

/** With fewer rows an index is filled sooner than it is dropped and built. */
const LARGE_TABLE_ROWS = 1_000;
/** For each index that is built; the server's default makes the large ones of a million users several times as slow. */
const INDEX_MEMORY = '256MB';

/** @throws ArchiveRefused when two rows have one value of a unique index */
async function buildIndex(sql: SqlRunner, { table, name, definition }: LooseIndex): Promise<void> {
  try {
    await sql(definition);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new ArchiveRefused(`A row of ${table} violates ${name}`, { cause: error });
  }
}

/** Removes what a backup of the archive's scope has, and what is derived from it. */
async function emptyTables(sql: SqlRunner, tables: readonly Table[], { metadata, schema }: CheckedArchive): Promise<void> {
  for (const { name } of tables) {
    const fate = fateOf(name);
    const isDependent = fate === 'derived' || fate === 'sessions';
    if (!isDependent && !(name in schema.tables)) continue;
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

/** Counts every counter again. */
async function recount(sql: SqlRunner): Promise<void> {
  for (const name of RECOUNTS) await sql(`SELECT 1 AS done FROM ${name}()`);
  for (const table of ['ledger_checked_balances', 'ledger_problems', 'transaction_day_counts', 'transaction_count_mark'])
    await sql(`DELETE FROM public.${quote(table)}`);
}

/** Functions that count a group of counters again (docs/database.md, Maintained counters). */
const RECOUNTS = [
  ...['recount_users', 'recount_user_days', 'recount_user_stats', 'recount_payments', 'recount_subscriptions', 'recount_squads'],
  ...['recount_referrals', 'recount_campaigns', 'recount_withdrawals'],
];

async function requireCleanLedger(sql: SqlRunner): Promise<void> {
  const problems = await sql<{ problem: string }>(
    'SELECT DISTINCT problem FROM (SELECT problem FROM ledger_check() LIMIT 1000) AS found',
  );
  if (problems.length === 0) return;
  throw new ArchiveRefused(`The ledger would not be clean: ${problems.map(({ problem }) => problem).join(', ')}`);
}
