import { columns, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { LedgerPoint } from '../check-ledger.ts';

/** One range takes some milliseconds to some tenths of a second; less than the limit of a transaction. */
const STATEMENT_LIMIT_MS = 10_000;
const COUNTED_AT_ONCE = 2_000_000;
const PROBLEM = columns('LedgerProblem', ['problem', 'rowId', 'detail']);

export type LedgerProblem = Pick<Rows['LedgerProblem'], 'problem' | 'rowId' | 'detail'>;

/** A range of ids: `after < id <= through`. */
export interface IdRange {
  after: number;
  through: number;
}

/**
 * Limits each statement of the transaction, whatever the limit of the session is. Without JIT, because compiling takes ten times as long
 * as reading a range: one contra account with millions of entries makes the planner expect many in each wallet.
 */
export async function limitStatements(db: Db): Promise<void> {
  await db.sql("SELECT set_config('statement_timeout', $1, true), set_config('jit', 'off', true) AS done", [
    String(STATEMENT_LIMIT_MS),
  ]);
}

/** The highest ids that were given, also by transactions that have not committed. */
export async function readGivenIds(db: Db): Promise<LedgerPoint> {
  const [row] = await db.sql<LedgerPoint>(
    `SELECT coalesce(pg_sequence_last_value('transactions_id_seq'), 0) AS transaction_id,
       coalesce(pg_sequence_last_value('ledger_entries_id_seq'), 0) AS entry_id`,
  );
  return row!;
}

/** The highest id of a user; 0 = there is none. */
export async function readHighestUserId(db: Db): Promise<number> {
  const [row] = await db.sql<{ id: number }>('SELECT coalesce(max(id), 0)::int AS id FROM users');
  return row!.id;
}

/** Stores what a check found; a problem that is stored already keeps its time. */
async function recordFound(db: Db, found: string, now: Date, values: readonly unknown[]): Promise<void> {
  await db.sql(
    `INSERT INTO ledger_problems AS p (problem, row_id, detail, found_at)
     SELECT DISTINCT ON (f.problem, f.row_id) f.problem, f.row_id, f.detail, $1::timestamptz FROM ${found} f ORDER BY f.problem, f.row_id
     ON CONFLICT (problem, row_id) DO UPDATE SET detail = EXCLUDED.detail WHERE p.detail <> EXCLUDED.detail RETURNING 1 AS done`,
    [now, ...values],
  );
}

/** Checks the transactions of a range of transaction ids, and stores what is wrong. */
export function checkTransactions(db: Db, { after, through }: IdRange, now: Date): Promise<void> {
  return recordFound(db, 'ledger_check_transactions($2::bigint, $3::bigint)', now, [after, through]);
}

/**
 * Checks what the entries of a range of entry ids changed, and stores what is wrong.
 * @param throughTransaction transactions with a higher id are checked by `checkTransactions`
 */
export function checkEntries(db: Db, { after, through }: IdRange, throughTransaction: number, now: Date): Promise<void> {
  const values = [after, through, throughTransaction];
  return recordFound(db, 'ledger_check_entries($2::bigint, $3::bigint, $4::bigint)', now, values);
}

/** Checks the balances of a range of user ids from their first entry on, and their withdrawal requests; stores what is wrong. */
export function checkBalances(db: Db, { after, through }: IdRange, now: Date): Promise<void> {
  return recordFound(db, 'ledger_check_balances($2::bigint, $3::bigint)', now, [after, through]);
}

/** Checks all payments and what was taken back with them, and stores what is wrong. */
export function checkPayments(db: Db, now: Date): Promise<void> {
  return recordFound(db, 'ledger_check_payments()', now, []);
}

/** How many rows there are in a range of transaction ids. */
export async function countTransactionRange(db: Db, { after, through }: IdRange): Promise<number> {
  const [row] = await db.sql<{ rows: number }>(
    'SELECT count(*)::int AS rows FROM transactions WHERE id > $1::bigint AND id <= $2::bigint',
    [after, through],
  );
  return row!.rows;
}

/** Adds the entries of a range to the checked sums of their wallets. All entries up to its end are settled. */
export async function addCheckedEntries(db: Db, { after, through }: IdRange): Promise<void> {
  await db.sql(
    `INSERT INTO ledger_checked_balances AS c (account_id, through_entry_id, kopeks)
     SELECT moved.account_id, $2::bigint, (coalesce(old.kopeks, 0) + coalesce((SELECT sum(e.kopeks) FROM ledger_entries e
       WHERE e.account_id = moved.account_id AND e.id > coalesce(old.through_entry_id, 0) AND e.id <= $2::bigint), 0))::bigint
     FROM (SELECT DISTINCT e.account_id FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
       WHERE e.id > $1::bigint AND e.id <= $2::bigint AND a.kind = 'user_wallet') moved
     LEFT JOIN ledger_checked_balances old ON old.account_id = moved.account_id
     ON CONFLICT (account_id) DO UPDATE SET through_entry_id = EXCLUDED.through_entry_id, kopeks = EXCLUDED.kopeks
     WHERE c.through_entry_id < EXCLUDED.through_entry_id RETURNING 1 AS done`,
    [after, through],
  );
}

/**
 * Writes the checked sums of a range of users where they are missing, or differ from the entries that they stand for.
 * @param throughEntry all entries up to this one are settled
 */
export async function correctCheckedBalances(db: Db, { after, through }: IdRange, throughEntry: number): Promise<void> {
  await db.sql(
    `INSERT INTO ledger_checked_balances AS c (account_id, through_entry_id, kopeks)
     SELECT s.account_id, s.through_entry_id, s.kopeks FROM (
       SELECT a.id AS account_id, coalesce(old.through_entry_id, $3::bigint) AS through_entry_id, old.kopeks AS old_kopeks,
         coalesce(w.total, 0)::bigint AS kopeks
       FROM ledger_accounts a LEFT JOIN ledger_checked_balances old ON old.account_id = a.id
       CROSS JOIN LATERAL (SELECT sum(e.kopeks) AS total FROM ledger_entries e
         WHERE e.account_id = a.id AND e.id <= coalesce(old.through_entry_id, $3::bigint)) w
       WHERE a.kind = 'user_wallet' AND a.user_id > $1::bigint AND a.user_id <= $2::bigint) s
     WHERE s.old_kopeks IS DISTINCT FROM s.kopeks
     ON CONFLICT (account_id) DO UPDATE SET through_entry_id = EXCLUDED.through_entry_id, kopeks = EXCLUDED.kopeks RETURNING 1 AS done`,
    [after, through, throughEntry],
  );
}

/** Deletes the first `limit` problems whose rows are in order now. @returns how many were deleted */
export async function deleteCorrectedProblems(db: Db, limit: number): Promise<number> {
  const rows = await db.sql(
    `WITH stored AS (SELECT problem, row_id FROM ledger_problems ORDER BY problem, row_id LIMIT $1::int),
     found AS (
       SELECT f.problem, f.row_id FROM (SELECT DISTINCT row_id FROM stored
           WHERE problem IN ('entries_do_not_sum_to_zero', 'completed_transaction_without_entries')) s
         CROSS JOIN LATERAL ledger_check_transactions(s.row_id - 1, s.row_id) f
       UNION ALL
       SELECT f.problem, f.row_id FROM (SELECT DISTINCT row_id FROM stored
           WHERE problem IN ('balance_differs_from_ledger', 'balance_below_zero')) s
         CROSS JOIN LATERAL ledger_check_balances(s.row_id - 1, s.row_id) f
       UNION ALL
       SELECT f.problem, f.row_id FROM (SELECT DISTINCT row_id FROM stored WHERE problem = 'reserve_differs_from_request') s
         CROSS JOIN LATERAL ledger_check_reserves(s.row_id - 1, s.row_id) f
       UNION ALL
       SELECT f.problem, f.row_id FROM ledger_check_payments() f)
     DELETE FROM ledger_problems p USING stored s WHERE p.problem = s.problem AND p.row_id = s.row_id
       AND NOT EXISTS (SELECT 1 FROM found f WHERE f.problem = p.problem AND f.row_id = p.row_id)
     RETURNING p.row_id`,
    [limit],
  );
  return rows.length;
}

/** The stored problems, at most `limit`. */
export function listProblems(db: Db, limit: number): Promise<LedgerProblem[]> {
  return db.sql<LedgerProblem>(`SELECT ${PROBLEM.of()} FROM ledger_problems ORDER BY problem, row_id LIMIT $1::int`, [limit]);
}

/** The kinds of the stored problems. */
export async function listProblemKinds(db: Db): Promise<string[]> {
  const rows = await db.sql<{ problem: string }>(
    'SELECT DISTINCT problem FROM (SELECT problem FROM ledger_problems LIMIT 1000) AS stored ORDER BY problem',
  );
  return rows.map((row) => row.problem);
}

/** How many rows there are in the tables of the ledger. */
export interface LedgerCounts {
  transactions: number;
  entries: number;
  users: number;
}

/** Counts by ranges of ids, so that no statement is long. */
export async function countLedgerRows(db: Db): Promise<LedgerCounts> {
  const count = async (table: 'transactions' | 'ledger_entries' | 'users'): Promise<number> => {
    const [ids] = await db.sql<{ lowest: number; highest: number }>(
      `SELECT coalesce(min(id), 0)::int8 AS lowest, coalesce(max(id), -1)::int8 AS highest FROM ${table}`,
    );
    let rows = 0;
    for (let from = ids!.lowest; from <= ids!.highest; from += COUNTED_AT_ONCE) {
      const [part] = await db.sql<{ rows: number }>(
        `SELECT count(*)::int AS rows FROM ${table} WHERE id >= $1::bigint AND id < $2::bigint`,
        [from, from + COUNTED_AT_ONCE],
      );
      rows += part!.rows;
    }
    return rows;
  };
  return { transactions: await count('transactions'), entries: await count('ledger_entries'), users: await count('users') };
}
