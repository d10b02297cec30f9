import type { SqlRunner } from '../../core/db/db.ts';
import { dropUniqueIndexes, type OpenTables, openTables } from '../backups/bulk-load.ts';
import { quote } from '../backups/row-format.ts';
import {
  type AppliedRun,
  type ApplyOptions,
  closeImport,
  moveRun,
  OF_THE_RUN,
  postBalances,
  postEntries,
  preparedTables,
} from './apply-import.ts';
import { requireGoing } from './import-progress.ts';
import { ImportRefused } from './import-source.ts';
import { columnsOf, nextTable } from './import-step.ts';

/** Schema of the rows that the pass before has prepared: what changed since is found by comparing with them. */
export const PREVIOUS_SCHEMA = 'import_previous';
/** What the pass before the last one had prepared, until it is dropped. */
export const USED_SCHEMA = 'import_used';
const previousTable = (name: string) => `${PREVIOUS_SCHEMA}.${quote(name)}`;

/** When something was imported, and what is drawn here for each row: no change of the source. */
const OF_THE_PASS = new Set(['imported_at', 'recipient_token']);

export interface AppliedDelta extends AppliedRun {
  changes: Record<string, { added: number; changed: number; removed: number }>;
}

interface Pass extends ApplyOptions {
  number: number;
}

/**
 * Applies what changed in the source since the pass before, in the transaction of the caller (spec 07 section 9). Movements of money that are
 * posted stay as they are: a changed amount is a movement of its own, a removed one is listed. Users who are gone become deleted ones.
 * @throws ImportRefused `target_changed` where a row that changed in the source was changed here, too
 */
export async function applyDelta(sql: SqlRunner, pass: Pass): Promise<AppliedDelta> {
  const open = await openTables(sql);
  const prepared = await preparedTables(sql);
  const changes: AppliedDelta['changes'] = {};
  const changed: string[] = [];
  const tables: Record<string, number> = {};
  for (const [table, rows] of prepared) {
    if (OF_THE_RUN.includes(table) || table === 'import_runs') continue;
    tables[table] = rows;
    requireGoing(pass.watch.signal);
    const compared = await comparedTable(sql, open, table);
    changes[table] = { added: 0, changed: 0, removed: 0 };
    if (!(await isChanged(sql, compared))) continue;
    changed.push(table);
    await findChanges(sql, compared);
    await requireUnchanged(sql, compared, pass.number);
    // Posted movements keep theirs, and are looked up by it.
    if (table !== 'transactions') await dropUniqueIndexes(sql, open, table);
    changes[table] = await (table === 'transactions' ? changeTransactions(sql, compared, pass) : changeRows(sql, compared));
  }
  await removeRows(sql, open, { changes, changed });
  // Balances are the source's again.
  await postBalances(sql, {
    owed: `SELECT * FROM (SELECT u.id, u.balance_kopeks - coalesce((SELECT sum(e.kopeks) FROM ledger_entries e WHERE e.account_id = a.id), 0)::bigint AS kopeks
      FROM users u LEFT JOIN ledger_accounts a ON a.user_id = u.id AND a.kind = 'user_wallet'
      WHERE u.id IN (SELECT n.id FROM ${nextTable('users')} n LEFT JOIN ${previousTable('users')} p ON p.id = n.id
        WHERE n.balance_kopeks IS DISTINCT FROM p.balance_kopeks)) d WHERE kopeks <> 0`,
    ...{ snapshotAt: pass.snapshotAt, suffix: `:${pass.number}`, freeIds: '0' },
  });
  const runId = await moveRun(sql);
  await closeImport(sql, open, pass.lastIds);
  return { runId, tables, changes };
}

interface ComparedTable {
  table: string;
  columns: readonly Column[];
  key: readonly string[];
}

type Column = Awaited<ReturnType<typeof columnsOf>>[number];

/** A row for a comparison; json is a text, which has no equality of its own. */
function rowOf(columns: readonly Column[], alias: string): string {
  return `ROW(${columns.map(({ name, type }) => `${alias}.${quote(name)}${type === 'json' ? '::text' : ''}`).join(', ')})`;
}

const joined = (key: readonly string[], one: string, other: string) =>
  key.map((name) => `${one}.${quote(name)} = ${other}.${quote(name)}`).join(' AND ');

/** The key of a row in the report. */
const reportKeyOf = (key: readonly string[], alias: string) =>
  key.map((name) => `${alias}.${quote(name)}::text`).join(` || ':' || `);

async function comparedTable(sql: SqlRunner, open: OpenTables, table: string): Promise<ComparedTable> {
  const { primaryKey: key } = open.tables.find(({ name }) => name === table)!;
  return { table, columns: await columnsOf(sql, 'public', table), key };
}

const comparedRow = ({ columns }: ComparedTable, alias: string) =>
  rowOf(
    columns.filter(({ name }) => !OF_THE_PASS.has(name)),
    alias,
  );

/** Most tables have no changes, and need no temporary tables with their locks. */
async function isChanged(sql: SqlRunner, compared: ComparedTable): Promise<boolean> {
  const { table, key } = compared;
  const [found] = await sql<{ isChanged: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM ${nextTable(table)} n FULL JOIN ${previousTable(table)} p ON ${joined(key, 'n', 'p')}
       WHERE n.${quote(key[0]!)} IS NULL OR p.${quote(key[0]!)} IS NULL OR ${comparedRow(compared, 'n')} IS DISTINCT FROM ${comparedRow(compared, 'p')}) AS is_changed`,
  );
  return found!.isChanged;
}

/** How a row of the source differs from the pass before. */
type Difference = 'added' | 'changed' | 'gone';

const differencesOf = (table: string) => quote(`import_differences_${table}`);
/** The keys of the rows of a table that differ so. */
const keysOf = (table: string, difference: Difference) =>
  `(SELECT * FROM ${differencesOf(table)} WHERE difference = '${difference}')`;

/** Makes the table of the keys of the rows that differ, and how. */
async function findChanges(sql: SqlRunner, compared: ComparedTable): Promise<void> {
  const { table, key } = compared;
  const [first] = key.map(quote);
  const keys = key.map((name) => `coalesce(n.${quote(name)}, p.${quote(name)}) AS ${quote(name)}`).join(', ');
  await sql(
    `CREATE TEMP TABLE ${differencesOf(table)} ON COMMIT DROP AS
     SELECT ${keys}, CASE WHEN p.${first} IS NULL THEN 'added' WHEN n.${first} IS NULL THEN 'gone' ELSE 'changed' END AS difference
     FROM ${nextTable(table)} n FULL JOIN ${previousTable(table)} p ON ${joined(key, 'n', 'p')}
     WHERE n.${first} IS NULL OR p.${first} IS NULL OR ${comparedRow(compared, 'n')} IS DISTINCT FROM ${comparedRow(compared, 'p')}`,
  );
  // Still here after a pass that had missed it in the source: it is back, and taken over like a row that has changed.
  await sql(
    `UPDATE ${differencesOf(table)} d SET difference = 'changed' FROM public.${quote(table)} t
     WHERE d.difference = 'added' AND ${joined(key, 't', 'd')} AND ${reportKeyOf(key, 'd')} IN (
       SELECT subject FROM import_issues WHERE source_table = '${table}' AND code IN ('user_vanished', 'transaction_vanished', 'row_vanished'))`,
  );
}

/**
 * A posted movement stays as posted, whatever a pass since has found: what it and its corrections come to is what the pass before
 * has seen.
 */
function isChangedHere({ table, columns }: ComparedTable, pass: number): string {
  const isChanged = `${rowOf(columns, 't')} IS DISTINCT FROM ${rowOf(columns, 'p')}`;
  if (table !== 'transactions') return isChanged;
  const described = (alias: string) => `ROW(${DESCRIBING.map((name) => `${alias}.${name}`).join(', ')})`;
  return `CASE WHEN t.is_completed THEN ${postedKopeks(pass)} <> ${kopeksOf('p')} OR ${described('t')} IS DISTINCT FROM ${described('p')}
    ELSE ${isChanged} END`;
}

/** What a movement of the source is worth. */
const kopeksOf = (alias: string) => `(CASE WHEN ${alias}.is_completed THEN ${alias}.amount_kopeks ELSE 0 END)`;

/** What a posted movement `t` of ours and its corrections come to; by the keys that the passes since the second gave them. */
const postedKopeks = (
  pass: number,
) => `(t.amount_kopeks + coalesce((SELECT sum(r.amount_kopeks) FROM generate_series(2, ${pass}) made
  JOIN public.transactions r ON r.payment_method = 'import' AND r.external_id = 'correction:' || t.id || ':' || made), 0)::bigint)`;

/** A row that the delta would change is here as the pass before has left it. */
async function requireUnchanged(sql: SqlRunner, delta: ComparedTable, pass: number): Promise<void> {
  const { table, key } = delta;
  const [conflict] = await sql<{ rows: number }>(
    `SELECT count(*) AS rows FROM ${differencesOf(table)} c
     JOIN ${previousTable(table)} p ON ${joined(key, 'p', 'c')} LEFT JOIN public.${quote(table)} t ON ${joined(key, 't', 'c')}
     WHERE c.difference <> 'added' AND (${isChangedHere(delta, pass)})`,
  );
  const [taken] = await sql<{ rows: number }>(
    `SELECT count(*) AS rows FROM ${keysOf(table, 'added')} a JOIN public.${quote(table)} t ON ${joined(key, 't', 'a')}`,
  );
  const rows = conflict!.rows + taken!.rows;
  if (rows > 0)
    throw new ImportRefused(
      'target_changed',
      `${rows} rows of ${table} were changed here since the last pass. Between the passes the service must not run; import again into a new, empty database.`,
      { details: { table, rows } },
    );
}

async function changeRows(sql: SqlRunner, { table, columns, key }: ComparedTable): Promise<AppliedDelta['changes'][string]> {
  const names = columns.map(({ name }) => name);
  const list = names.map(quote).join(', ');
  const changing = names.filter((name) => !key.includes(name) && !OF_THE_PASS.has(name));
  const [added] = await sql<{ rows: number }>(
    `WITH made AS (INSERT INTO public.${quote(table)} (${list}) OVERRIDING SYSTEM VALUE
       SELECT ${names.map((name) => `n.${quote(name)}`).join(', ')} FROM ${nextTable(table)} n JOIN ${keysOf(table, 'added')} a ON ${joined(key, 'a', 'n')} RETURNING 1)
     SELECT count(*) AS rows FROM made`,
  );
  if (changing.length === 0) return { added: added!.rows, changed: 0, removed: 0 };
  const [changed] = await sql<{ rows: number }>(
    `WITH made AS (UPDATE public.${quote(table)} t SET ${changing.map((name) => `${quote(name)} = n.${quote(name)}`).join(', ')}
       FROM ${nextTable(table)} n JOIN ${keysOf(table, 'changed')} c ON ${joined(key, 'c', 'n')} WHERE ${joined(key, 't', 'n')} RETURNING 1)
     SELECT count(*) AS rows FROM made`,
  );
  return { added: added!.rows, changed: changed!.rows, removed: 0 };
}

/** Columns of a posted movement that are no money. */
const DESCRIBING = ['description', 'receipt_uuid', 'receipt_created_at'];

async function changeTransactions(
  sql: SqlRunner,
  delta: ComparedTable,
  { number }: Pass,
): Promise<AppliedDelta['changes'][string]> {
  const next = nextTable('transactions');
  const [added, changed] = [keysOf('transactions', 'added'), keysOf('transactions', 'changed')];
  const [counted] = await sql<{ added: number; changed: number }>(
    `SELECT count(*) FILTER (WHERE difference = 'added') AS added, count(*) FILTER (WHERE difference = 'changed') AS changed FROM ${differencesOf('transactions')}`,
  );
  // One that was not posted here may change in everything; posted ones in what is no money.
  await sql(
    `CREATE TEMP TABLE import_posting ON COMMIT DROP AS SELECT n.id FROM ${next} n WHERE n.is_completed AND (n.id IN (SELECT id FROM ${added} a)
       OR n.id IN (SELECT c.id FROM ${changed} c JOIN public.transactions t ON t.id = c.id WHERE NOT t.is_completed))`,
  );
  await sql(
    `CREATE TEMP TABLE import_correction ON COMMIT DROP AS
     SELECT * FROM (SELECT n.id, n.user_id, n.type, ${kopeksOf('n')} - ${postedKopeks(number)} AS kopeks,
         (SELECT a.key FROM public.ledger_entries e JOIN public.ledger_accounts a ON a.id = e.account_id
          WHERE e.transaction_id = t.id AND a.key <> 'import:history' LIMIT 1) AS contra_key
       FROM ${changed} c JOIN ${next} n ON n.id = c.id JOIN public.transactions t ON t.id = c.id WHERE t.is_completed) d
     WHERE kopeks <> 0`,
  );
  await sql(
    `UPDATE public.transactions t SET ${DESCRIBING.map((name) => `${name} = n.${name}`).join(', ')}
     FROM ${changed} c JOIN ${next} n ON n.id = c.id WHERE t.id = n.id AND t.is_completed`,
  );
  await sql(
    `DELETE FROM ${differencesOf('transactions')} d USING public.transactions t WHERE d.difference = 'changed' AND t.id = d.id AND t.is_completed`,
  );
  await changeRows(sql, delta);
  await list(
    sql,
    'transaction_changed',
    'transactions',
    "SELECT id::text AS subject, jsonb_build_object('kopeks', kopeks) AS detail FROM import_correction",
  );
  await list(
    sql,
    'transaction_vanished',
    'transactions',
    `SELECT id::text AS subject, NULL::jsonb AS detail FROM ${keysOf('transactions', 'gone')} g`,
  );
  await sql(
    `INSERT INTO public.transactions (id, user_id, type, amount_kopeks, payment_method, external_id, is_completed, is_internal, completed_at, created_at, imported_at)
     SELECT h.highest + row_number() OVER (ORDER BY c.id), c.user_id, c.type, c.kopeks, 'import', 'correction:' || c.id || ':${number}', true, true, r.snapshot_at, r.snapshot_at, r.snapshot_at
     FROM import_correction c CROSS JOIN (SELECT greatest((SELECT max(id) FROM public.transactions), (SELECT max(id) FROM ${next})) AS highest) h
     CROSS JOIN (SELECT snapshot_at FROM ${nextTable('import_runs')}) r`,
  );
  await sql(
    `INSERT INTO ledger_accounts (kind, key) SELECT DISTINCT contra_kind, contra_key FROM ${next} WHERE id IN (SELECT id FROM import_posting) ON CONFLICT (key) DO NOTHING`,
  );
  await postEntries(
    sql,
    `SELECT n.id, 'import:history' AS account, n.contra_key AS contra, n.amount_kopeks AS kopeks, coalesce(n.completed_at, n.created_at) AS posted_at
     FROM ${next} n WHERE n.id IN (SELECT id FROM import_posting)
     UNION ALL SELECT t.id, 'import:history', c.contra_key, c.kopeks, t.created_at FROM import_correction c
       JOIN public.transactions t ON t.payment_method = 'import' AND t.external_id = 'correction:' || c.id || ':${number}'`,
  );
  return { added: counted!.added, changed: counted!.changed, removed: 0 };
}

async function list(sql: SqlRunner, code: string, table: string, query: string): Promise<void> {
  await sql(
    `INSERT INTO ${nextTable('import_issues')} (run_id, code, source_table, subject, detail) SELECT 0, '${code}', '${table}', subject, detail FROM (${query}) q`,
  );
}

/** Of whoever has them last; each is unique. */
const IDENTIFYING = [
  ...['messenger_id', 'email', 'google_id', 'yandex_id', 'discord_id', 'vk_id', 'vpnpanel_uuid'],
  ...['email_verification_token_hash', 'password_reset_token_hash'],
];

/** What vanished from the source: users become deleted ones, rows on which nothing depends are removed, all others are listed. */
async function removeRows(
  sql: SqlRunner,
  open: OpenTables,
  { changes, changed }: { changes: AppliedDelta['changes']; changed: readonly string[] },
): Promise<void> {
  if (changed.includes('users')) {
    const gone = `id IN (SELECT id FROM ${keysOf('users', 'gone')} g)`;
    await sql(`UPDATE public.users SET status = 'deleted' WHERE ${gone}`);
    // Who was deleted in the bot may have come back as somebody new.
    for (const name of IDENTIFYING)
      await sql(
        `UPDATE public.users t SET ${name} = NULL FROM ${nextTable('users')} n WHERE t.${gone} AND n.${name} = t.${name}`,
      );
    await list(
      sql,
      'user_vanished',
      'users',
      `SELECT id::text AS subject, NULL::jsonb AS detail FROM ${keysOf('users', 'gone')} g`,
    );
  }
  const left = changed.filter((table) => table !== 'users' && table !== 'transactions');
  const references = referencesOf(open);
  // Children before their parents: a round removes what nothing refers to any more.
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for (const table of left) {
      const { primaryKey: key } = open.tables.find(({ name }) => name === table)!;
      const dependents = references.filter(({ parent }) => parent === table);
      const isFree = dependents.map(
        ({ child, column, key: id }) =>
          `NOT EXISTS (SELECT 1 FROM public.${quote(child)} d WHERE d.${quote(column)} = t.${quote(id)})`,
      );
      const [removed] = await sql<{ rows: number }>(
        `WITH gone AS (DELETE FROM public.${quote(table)} t USING ${keysOf(table, 'gone')} g WHERE ${[joined(key, 'g', 't'), ...isFree].join(' AND ')} RETURNING 1)
         SELECT count(*) AS rows FROM gone`,
      );
      if (removed!.rows === 0) continue;
      changes[table]!.removed += removed!.rows;
      isDone = false;
    }
  }
  for (const table of left) {
    const { primaryKey: key } = open.tables.find(({ name }) => name === table)!;
    await list(
      sql,
      'row_vanished',
      table,
      `SELECT ${reportKeyOf(key, 't')} AS subject, NULL::jsonb AS detail FROM public.${quote(table)} t JOIN ${keysOf(table, 'gone')} g ON ${joined(key, 'g', 't')}`,
    );
  }
}

/** Single columns that refer to a column of another table. */
function referencesOf({ foreignKeys }: OpenTables): { child: string; column: string; parent: string; key: string }[] {
  return foreignKeys.flatMap(({ table, definition }) => {
    const found = /^FOREIGN KEY \("?(\w+)"?\) REFERENCES (?:public\.)?"?(\w+)"?\("?(\w+)"?\)/.exec(definition);
    return found ? [{ child: table.replace(/^public\.|"/g, ''), column: found[1]!, parent: found[2]!, key: found[3]! }] : [];
  });
}
