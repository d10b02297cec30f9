import type { App } from '../../core/app.ts';
import type { SqlRunner } from '../../core/db/db.ts';
import { DATABASE_RESTORED } from '../../core/events/database-restored.ts';
import { secretKeys } from '../settings/catalogue/catalogue.ts';
import type { CheckedArchive } from './check-archive.ts';
import { advanceSequences, type Loaded, loadRows } from './load-rows.ts';
import { closeTables, openTables } from './opened-tables.ts';
import type { ReadOptions } from './read-archive.ts';
import { quote } from './row-format.ts';
import { listForeignKeys, listMigrations, listOwnedSequences, listPlainIndexes, listTables } from './schema-repo.ts';
import { digestRows } from './snapshot.ts';
import { fateOf, rowsOf } from './table-plan.ts';
import { ArchiveRefused, type Table } from './types.ts';

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
  // Building an index of all rows at once takes a small part of the time that adding the rows one by one takes.
  const indexes = clearExisting ? await listPlainIndexes(sql) : [];
  for (const { name } of indexes) await sql(`DROP INDEX ${name}`);
  if (clearExisting) await emptyTables(sql, tables, archive);
  const skipped = new Set(['cabinet_refresh_tokens'].filter(() => !archive.metadata.includes.sessions));
  const read = { path, password, ...(signal ? { signal } : {}) };
  const loaded = await loadRows(sql, { ...read, tables: byName, isEmptied: clearExisting, skipped });
  if (clearExisting) await verifyRows(sql, archive);
  // Numbers of transactions of another time or server: readers of events would take these rows for new ones.
  await sql('UPDATE public.domain_events SET transaction_number = 0 WHERE transaction_number <> 0');
  await sql("DELETE FROM public.service_state WHERE key = 'ledger:check' RETURNING key");
  for (const { definition } of indexes) await sql(definition);
  // Every statement from here on would be planned as if the tables were empty.
  await sql(`ANALYZE ${tables.map(({ name }) => `public.${quote(name)}`).join(', ')}`);
  if (!clearExisting) await sumBalances(sql);
  // The tables of counters are as complete as those that they count, unless a later migration made some.
  if (!clearExisting || archive.schema.migrations.length < (await listMigrations(sql)).length) await recount(sql);
  await advanceSequences(sql, await listOwnedSequences(sql));
  await closeTables(sql, tables, foreignKeys);
  if (options.keepsAccess) await sql('SELECT 1 AS done FROM restore_access($1::timestamptz)', [now]);
  await discardJobs(sql, clearExisting);
  await requireCleanLedger(sql);
  await sql("SELECT emit_event($1, '{}'::jsonb, 'instance', NULL, $2::timestamptz) AS id", [DATABASE_RESTORED, now]);
  return loaded;
}

/** Removes what a backup of the archive's scope has, and what is derived from it. */
async function emptyTables(sql: SqlRunner, tables: readonly Table[], { metadata, schema }: CheckedArchive): Promise<void> {
  for (const { name } of tables) {
    const fate = fateOf(name);
    const isDependent = fate === 'derived' || fate === 'sessions';
    if (!isDependent && !(name in schema.tables)) continue;
    const condition = isDependent ? 'true' : rowsOf(name, metadata.includes, secretKeys);
    if (condition === 'true') await sql(`TRUNCATE public.${quote(name)}`);
    else await sql(`DELETE FROM public.${quote(name)} WHERE ${condition}`);
  }
}

/** Reads every table again as a backup would, and compares it with the archive: what was written is what the archive has. */
async function verifyRows(sql: SqlRunner, { schema, metadata }: CheckedArchive): Promise<void> {
  for (const [name, archived] of Object.entries(schema.tables)) {
    if (fateOf(name) === 'sessions') continue;
    const { columns, primaryKey } = archived;
    const found = await digestRows(sql, {
      table: name,
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

/**
 * Jobs that wait name rows by ids, which are other rows now. What has to be done is found again by the jobs that look for it: pushes to the
 * panel, deliveries, mails, payments.
 */
async function discardJobs(sql: SqlRunner, clearExisting: boolean): Promise<void> {
  const [table] = await sql<{ found: string | null }>("SELECT to_regclass('jobs.job')::text AS found");
  if (!clearExisting || !table?.found) return;
  await sql("DELETE FROM jobs.job WHERE state < 'active' AND name NOT LIKE '\\_\\_pgboss%' AND name NOT LIKE 'backups.%'");
}

async function requireCleanLedger(sql: SqlRunner): Promise<void> {
  const problems = await sql<{ problem: string }>(
    'SELECT DISTINCT problem FROM (SELECT problem FROM ledger_check() LIMIT 1000) AS found',
  );
  if (problems.length === 0) return;
  throw new ArchiveRefused(`The ledger would not be clean: ${problems.map(({ problem }) => problem).join(', ')}`);
}
