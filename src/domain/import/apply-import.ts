import type { SqlRunner } from '../../core/db/db.ts';
import {
  buildIndexes,
  closeTables,
  dropIndexes,
  ledgerProblems,
  type OpenTables,
  openTables,
  recount,
} from '../backups/bulk-load.ts';
import { quote } from '../backups/row-format.ts';
import { type ImportWatch, requireGoing } from './import-progress.ts';
import { ImportRefused } from './import-source.ts';
import { columnsOf, NEXT_SCHEMA, nextTable, sqlTime } from './import-step.ts';

/** What a new database has of these before anybody has used it, and what an import replaces (spec 07 section 2). */
const SEEDED = [
  'promo_groups',
  'tariffs',
  'promo_offer_templates',
  'wheel_configs',
  'wheel_prizes',
  'payment_method_configs',
  'admin_roles',
  'contest_templates',
];
/** Rows of these that the service has written already, by their key: those of the source replace them. */
const REPLACED: Readonly<Record<string, string>> = { system_settings: 'key', menu_layouts: 'name', media_files: 'file_id' };
/** Tables of which a single row says that the service is in use. */
const SIGNS_OF_USE = ['users', 'transactions', 'payments', 'subscriptions'];

/** Tables of the import itself, whose rows get the id of the run. */
export const OF_THE_RUN: readonly string[] = ['import_issues', 'import_parked'];

/** What both kinds of passes need. */
export interface ApplyOptions {
  snapshotAt: Date;
  /** The last id that the source has given in each table. */
  lastIds: ReadonlyMap<string, number>;
  watch: ImportWatch;
}

export interface AppliedRun {
  runId: number;
  /** Rows of each table of ours. */
  tables: Record<string, number>;
}

/**
 * Moves the prepared rows into the tables of the service, with their ledger and every counter, in the transaction of the caller: when it fails, or the process ends,
 * the service is as empty as before (spec 07 section 9). Triggers do not run: nothing is notified, sent or pushed.
 * @throws ImportRefused `target_not_empty`; ImportStopped
 */
export async function applyImport(sql: SqlRunner, { snapshotAt, lastIds, watch }: ApplyOptions): Promise<AppliedRun> {
  const open = await openTables(sql);
  await requireUnused(sql);
  const prepared = await preparedTables(sql);
  for (const table of SEEDED) if ((prepared.get(table) ?? 0) > 0) await sql(`DELETE FROM public.${quote(table)}`);
  for (const [table, key] of Object.entries(REPLACED))
    if (prepared.has(table))
      await sql(`DELETE FROM public.${quote(table)} WHERE ${key} IN (SELECT ${key} FROM ${nextTable(table)})`);
  // Entries are two a movement, and a balance has a movement of its own.
  const movements = (prepared.get('transactions') ?? 0) + (prepared.get('users') ?? 0);
  await dropIndexes(sql, open, (table) => (table === 'ledger_entries' ? 2 * movements : (prepared.get(table) ?? 0)));
  const tables: Record<string, number> = {};
  const all = [...prepared.values()].reduce((sum, rows) => sum + rows, 0);
  let done = 0;
  for (const [table, rows] of prepared) {
    if (OF_THE_RUN.includes(table) || table === 'import_runs') continue;
    requireGoing(watch.signal);
    watch.position({ phase: 'moving', part: table, rows, done, all });
    await moveRows(sql, table);
    tables[table] = rows;
    done += rows;
  }
  watch.position({ phase: 'finishing', part: 'the ledger, indexes and counters', rows: done, done, all });
  await postHistory(sql, snapshotAt);
  await postBalances(sql, {
    owed: 'SELECT id, balance_kopeks AS kopeks FROM users WHERE balance_kopeks > 0',
    ...{ snapshotAt, suffix: '', freeIds: `greatest(${FREE_IDS}, h.highest / 10)` },
  });
  const runId = await moveRun(sql);
  await closeImport(sql, open, lastIds);
  return { runId, tables };
}

/** @throws ImportRefused `target_not_empty` */
export async function requireUnused(sql: SqlRunner): Promise<void> {
  for (const table of SIGNS_OF_USE) {
    const [found] = await sql<{ filled: boolean }>(`SELECT EXISTS (SELECT 1 FROM public.${table}) AS filled`);
    if (found!.filled)
      throw new ImportRefused('target_not_empty', `The service has rows in ${table} already. Import into a new, empty database.`);
  }
}

/** Tables that the steps have filled, with their rows. */
export async function preparedTables(sql: SqlRunner): Promise<Map<string, number>> {
  const tables = await sql<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r' ORDER BY relname",
    [NEXT_SCHEMA],
  );
  const rows = new Map<string, number>();
  for (const { name } of tables) {
    const [counted] = await sql<{ rows: number }>(`SELECT count(*) AS rows FROM ${nextTable(name)}`);
    rows.set(name, counted!.rows);
  }
  return rows;
}

async function moveRows(sql: SqlRunner, table: string): Promise<void> {
  const columns = (await columnsOf(sql, 'public', table)).map(({ name }) => quote(name)).join(', ');
  await sql(`INSERT INTO public.${quote(table)} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM ${nextTable(table)}`);
}

/** History is shown and moves no money: the wallet's side is an account of its own (spec 07 section 8). */
async function postHistory(sql: SqlRunner, snapshotAt: Date): Promise<void> {
  await sql(
    `INSERT INTO ledger_accounts (kind, key) SELECT DISTINCT contra_kind, contra_key FROM ${nextTable('transactions')} WHERE is_completed
     UNION SELECT 'import_history', 'import:history' UNION SELECT 'import_opening', 'import:opening' ON CONFLICT (key) DO NOTHING`,
  );
  await postEntries(
    sql,
    `SELECT id, 'import:history' AS account, contra_key AS contra, amount_kopeks AS kopeks, coalesce(completed_at, created_at, ${sqlTime(snapshotAt)}) AS posted_at
     FROM ${nextTable('transactions')} WHERE is_completed`,
  );
}

/**
 * Writes the two entries of each movement.
 * @param movements a query of `id`, the keys of both accounts (`account`, `contra`), `kopeks` on the first, and `posted_at`
 */
export async function postEntries(sql: SqlRunner, movements: string): Promise<void> {
  await sql(
    `INSERT INTO ledger_entries (transaction_id, account_id, kopeks, created_at)
     SELECT m.id, side.account_id, side.kopeks, m.posted_at
     FROM (${movements}) m JOIN ledger_accounts a ON a.key = m.account JOIN ledger_accounts c ON c.key = m.contra
     CROSS JOIN LATERAL (VALUES (a.id, m.kopeks), (c.id, -m.kopeks)) side (account_id, kopeks)`,
  );
}

/** Ids that are left free behind the source's: until the next pass its own movements get them. A tenth of all of them where that is more. */
const FREE_IDS = 100_000;

interface Balances {
  /** A query of users, `id`, with the `kopeks` that their wallets lack; not 0. */
  owed: string;
  snapshotAt: Date;
  /** What distinguishes the movements from those of the passes before. */
  suffix: string;
  /** SQL of the ids that are left free, over the `highest` one. */
  freeIds: string;
}

/** What a balance has beyond its wallet is one movement of the user. */
export async function postBalances(sql: SqlRunner, { owed, snapshotAt, suffix, freeIds }: Balances): Promise<void> {
  const now = sqlTime(snapshotAt);
  const reference = (id: string) => `'opening:' || ${id} || '${suffix}'`;
  await sql(`CREATE TEMP TABLE import_balance ON COMMIT DROP AS ${owed}`);
  await sql(
    `INSERT INTO transactions (id, user_id, type, amount_kopeks, payment_method, external_id, is_completed, is_internal, completed_at, created_at, imported_at)
     SELECT h.highest + ${freeIds} + row_number() OVER (ORDER BY b.id), b.id, CASE WHEN b.kopeks > 0 THEN 'deposit' ELSE 'withdrawal' END, b.kopeks, 'import',
       ${reference('b.id')}, true, true, ${now}, ${now}, ${now}
     FROM import_balance b CROSS JOIN (SELECT coalesce(max(id), 0) AS highest FROM transactions) h`,
  );
  await sql(
    `INSERT INTO ledger_accounts (kind, key, user_id) SELECT 'user_wallet', 'wallet:' || id, id FROM import_balance ON CONFLICT (key) DO NOTHING`,
  );
  await postEntries(
    sql,
    `SELECT t.id, 'wallet:' || b.id AS account, 'import:opening' AS contra, b.kopeks, ${now} AS posted_at
     FROM import_balance b JOIN transactions t ON t.payment_method = 'import' AND t.external_id = ${reference('b.id')}`,
  );
}

/** The run with its deviations and what is parked. */
export async function moveRun(sql: SqlRunner): Promise<number> {
  const columns = (await columnsOf(sql, 'public', 'import_runs'))
    .map(({ name }) => quote(name))
    .filter((name) => name !== '"id"');
  const [run] = await sql<{ id: number }>(
    `INSERT INTO import_runs (${columns.join(', ')}) SELECT ${columns.join(', ')} FROM ${nextTable('import_runs')} RETURNING id`,
  );
  for (const table of OF_THE_RUN) {
    const names = (await columnsOf(sql, 'public', table)).map(({ name }) => name).filter((name) => name !== 'id');
    const values = names.map((name) => (name === 'run_id' ? '$1::int' : quote(name)));
    await sql(
      `INSERT INTO ${table} (${names.map(quote).join(', ')}) SELECT ${values.join(', ')} FROM ${nextTable(table)} ORDER BY id`,
      [run!.id],
    );
  }
  return run!.id;
}

/** Puts indexes, keys and triggers back, counts every counter again, and checks the ledger. */
export async function closeImport(sql: SqlRunner, open: OpenTables, lastIds: ReadonlyMap<string, number>): Promise<void> {
  const refuse = (message: string, cause: unknown) =>
    new ImportRefused('unmapped_value', `${message}. Nothing was imported; report this to us.`, { cause });
  await buildIndexes(sql, open, refuse);
  await recount(sql);
  await sql('SELECT 1 AS done FROM recount_contests()');
  // Links and descriptions at the panel may still name rows that the source has deleted.
  await closeTables(sql, open, refuse, lastIds);
  // Games of ours that the source lacks; methods of payment that it lacks are added by the next start.
  await sql('SELECT seed_contest_templates() AS added');
  const problems = await ledgerProblems(sql);
  if (problems.length > 0)
    throw new ImportRefused(
      'unmapped_value',
      `The ledger would not be clean: ${problems.join(', ')}. Nothing was imported; report this to us.`,
      {
        details: { problems },
      },
    );
}
