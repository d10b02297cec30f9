import type { SqlRunner } from '../../core/db/db.ts';
import { isForeignKeyViolation, isUniqueViolation } from '../../core/db/db-errors.ts';
import { type ForeignKey, type LooseIndex, listForeignKeys, listLooseIndexes, listOwnedSequences, listTables } from './repo.ts';
import { quote } from './row-format.ts';
import { fateOf } from './snapshot.ts';
import type { Table } from './types.ts';

/** Makes the error for rows that a key refuses; the message says which. */
type Refuse = (message: string, cause: unknown) => Error;

/** Tables whose rows are replaced in one transaction: locked, without foreign keys, triggers, and the indexes of the large ones. */
export interface OpenTables {
  tables: readonly Table[];
  foreignKeys: readonly ForeignKey[];
  indexes: LooseIndex[];
}

/** How long it waits for transactions that are under way. */
const LOCK_WAIT = '30s';
/** The lock of migrations (core/db/migrate.ts): an instance that starts waits until the tables are closed. */
const MIGRATION_LOCK = 727_110_001;
/** For each index that is built; the server's default makes the large ones of a million users several times as slow. */
const INDEX_MEMORY = '256MB';

/**
 * Locks every table, and lets rows be inserted as they are: triggers that check or count them did so in the source, and rows refer to later
 * rows. The owner of the tables may do this, no superuser is needed. Other sessions see nothing of it before the commit.
 */
export async function openTables(sql: SqlRunner): Promise<OpenTables> {
  await sql("SET LOCAL timezone TO 'UTC'");
  await sql('SET LOCAL extra_float_digits TO 1');
  await sql("SET LOCAL datestyle TO 'ISO, YMD'");
  const tables = (await listTables(sql)).filter(({ name }) => fateOf(name) !== 'local');
  const foreignKeys = await listForeignKeys(sql);
  await sql(`SET LOCAL lock_timeout = '${LOCK_WAIT}'`);
  await sql(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})::text AS locked`);
  await sql(`LOCK TABLE ${tables.map(({ name }) => `public.${quote(name)}`).join(', ')} IN ACCESS EXCLUSIVE MODE`);
  for (const key of foreignKeys) await sql(`ALTER TABLE ${key.table} DROP CONSTRAINT ${quote(key.name)}`);
  for (const { name } of tables) await sql(`ALTER TABLE public.${quote(name)} DISABLE TRIGGER USER`);
  await sql(`SET LOCAL maintenance_work_mem = '${INDEX_MEMORY}'`);
  return { tables, foreignKeys, indexes: [] };
}

/** With fewer rows an index is filled sooner than it is dropped and built. */
const LARGE_TABLE_ROWS = 1_000;

/** Building an index of all rows at once takes a small part of the time that adding the rows one by one takes. */
export async function dropIndexes(sql: SqlRunner, open: OpenTables, rowsOf: (table: string) => number): Promise<void> {
  await dropThose(sql, open, ({ table }) => rowsOf(table) >= LARGE_TABLE_ROWS);
}

/** Drops the unique indexes of a table, among whose rows a value moves: each is held by two of them until all rows are as they will be. */
export async function dropUniqueIndexes(sql: SqlRunner, open: OpenTables, table: string): Promise<void> {
  await dropThose(sql, open, (index) => index.table === table && index.definition.startsWith('CREATE UNIQUE'));
}

async function dropThose(sql: SqlRunner, open: OpenTables, isDropped: (index: LooseIndex) => boolean): Promise<void> {
  const indexes = (await listLooseIndexes(sql)).filter(isDropped);
  for (const { name } of indexes) await sql(`DROP INDEX ${name}`);
  open.indexes.push(...indexes);
}

/** Builds the indexes that were dropped, and reads the sizes of the tables: every later statement would be planned as if they were empty. */
export async function buildIndexes(sql: SqlRunner, { tables, indexes }: OpenTables, refuse: Refuse): Promise<void> {
  for (const { table, name, definition } of indexes) {
    try {
      await sql(definition);
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw refuse(`A row of ${table} violates ${name}`, error);
    }
  }
  await sql(`ANALYZE ${tables.map(({ name }) => `public.${quote(name)}`).join(', ')}`);
}

/**
 * Puts triggers and foreign keys back; every row is checked by them.
 * @param lastIds by table: ids that were given elsewhere, of rows that are gone
 */
export async function closeTables(
  sql: SqlRunner,
  { tables, foreignKeys }: OpenTables,
  refuse: Refuse,
  lastIds: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
  await advanceSequences(sql, lastIds);
  for (const { name } of tables) await sql(`ALTER TABLE public.${quote(name)} ENABLE TRIGGER USER`);
  for (const { table, name, definition } of foreignKeys) {
    try {
      await sql(`ALTER TABLE ${table} ADD CONSTRAINT ${quote(name)} ${definition}`);
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw refuse(`A row of ${table} refers to a missing one (${name})`, error);
    }
  }
}

/** Counts every counter again. */
export async function recount(sql: SqlRunner): Promise<void> {
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
 * What of the ledger is not in order after a load; empty = it is clean. The next check begins with the first movement, and entries of the audit
 * log without a link are looked for from the first one.
 */
export async function ledgerProblems(sql: SqlRunner): Promise<string[]> {
  await sql("DELETE FROM public.service_state WHERE key IN ('ledger:check', 'audit:links') RETURNING key");
  const problems = await sql<{ problem: string }>(
    'SELECT DISTINCT problem FROM (SELECT problem FROM ledger_check() LIMIT 1000) AS found ORDER BY problem',
  );
  return problems.map(({ problem }) => problem);
}

/** Sequences that would give an id again that a row has. */
export async function sequencesBehind(sql: SqlRunner): Promise<string[]> {
  const behind: string[] = [];
  for (const { sequence, table, column } of await listOwnedSequences(sql)) {
    const [found] = await sql<{ isBehind: boolean }>(
      `SELECT coalesce(max(${quote(column)}) > coalesce(pg_sequence_last_value($1::regclass), 0), false) AS is_behind FROM public.${quote(table)}`,
      [sequence],
    );
    if (found!.isBehind) behind.push(sequence);
  }
  return behind.sort();
}

/** Sets the sequence of each id past the highest one; never back, because ids of before may still be known to somebody. */
async function advanceSequences(sql: SqlRunner, lastIds: ReadonlyMap<string, number>): Promise<void> {
  for (const { sequence, table, column } of await listOwnedSequences(sql)) {
    await sql(
      `SELECT setval($1::regclass, greatest(m.highest, pg_sequence_last_value($1::regclass), $2::bigint))::text AS value
       FROM (SELECT max(${quote(column)})::bigint AS highest FROM public.${quote(table)}) m
       WHERE coalesce(m.highest, pg_sequence_last_value($1::regclass), $2::bigint) IS NOT NULL`,
      [sequence, lastIds.get(table) ?? null],
    );
  }
}
