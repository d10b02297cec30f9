/** What a database has, as numbers and rows that the next release must find again. */
import type pg from 'pg';

export interface StoredFacts {
  /** Rows by table. */
  rows: Record<string, number>;
  /** Rows by state, by `table.column`. */
  states: Record<string, Record<string, number>>;
  /** Kopeks by user id. */
  balances: Record<string, number>;
  /** Sum of the entries in kopeks by key of the account. */
  accounts: Record<string, number>;
  /** Of transactions and entries; later ones are not in `accounts`. */
  last: { transactionId: number; entryId: number };
  subscriptions: StoredSubscription[];
  /** Ids of deliveries of webhooks that wait to be sent again. */
  waitingDeliveries: number[];
  /** Ids of jobs that wait or are under way. */
  waitingJobs: string[];
}

export interface StoredSubscription {
  id: number;
  userId: number;
  status: string;
  /** ISO 8601. */
  endsAt: string | null;
}

export async function readStoredFacts(client: pg.Client): Promise<StoredFacts> {
  const rowsOf = async <T>(text: string): Promise<T[]> => (await client.query(text)).rows;
  const counts = async (text: string): Promise<Record<string, number>> =>
    Object.fromEntries((await rowsOf<{ key: string; n: string }>(text)).map(({ key, n }) => [key, Number(n)]));
  const rows: Record<string, number> = {};
  for (const { name } of await rowsOf<{ name: string }>(TABLES))
    rows[name] = (await counts(`SELECT 'all' AS key, count(*) AS n FROM ${name}`)).all!;
  const states: StoredFacts['states'] = {};
  for (const { table, column } of await rowsOf<{ table: string; column: string }>(STATE_COLUMNS))
    if (rows[table]! > 0)
      states[`${table}.${column}`] = await counts(`SELECT ${column} AS key, count(*) AS n FROM ${table} GROUP BY 1 ORDER BY 1`);
  const [last] = await rowsOf<{ transaction_id: number; entry_id: string }>(
    'SELECT (SELECT max(id) FROM transactions) AS transaction_id, (SELECT max(id) FROM ledger_entries) AS entry_id',
  );
  const entryId = Number(last!.entry_id);
  return {
    rows,
    states,
    balances: await counts('SELECT id::text AS key, balance_kopeks AS n FROM users ORDER BY id'),
    accounts: await readAccounts(client, entryId),
    last: { transactionId: Number(last!.transaction_id), entryId },
    subscriptions: await readSubscriptions(client),
    waitingDeliveries: (await rowsOf<{ id: number }>(WAITING_DELIVERIES)).map(({ id }) => id),
    waitingJobs: (await rowsOf<{ id: string }>(WAITING_JOBS)).map(({ id }) => id),
  };
}

/** @param entryId later entries are left out */
export async function readAccounts(client: pg.Client, entryId: number): Promise<Record<string, number>> {
  const { rows } = await client.query<{ key: string; kopeks: string }>(
    `SELECT a.key, sum(e.kopeks) AS kopeks FROM ledger_accounts a JOIN ledger_entries e ON e.account_id = a.id
     WHERE e.id <= $1 GROUP BY a.key ORDER BY a.key`,
    [entryId],
  );
  return Object.fromEntries(rows.map(({ key, kopeks }) => [key, Number(kopeks)]));
}

export async function readSubscriptions(client: pg.Client): Promise<StoredSubscription[]> {
  const { rows } = await client.query<{ id: number; user_id: number; status: string; end_date: Date | null }>(
    'SELECT id, user_id, status, end_date FROM subscriptions ORDER BY id',
  );
  return rows.map((row) => ({
    id: row.id,
    userId: row.user_id,
    status: row.status,
    endsAt: row.end_date?.toISOString() ?? null,
  }));
}

const TABLES = "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1";

const STATE_COLUMNS = `
  SELECT quote_ident(table_name) AS table, quote_ident(column_name) AS column FROM information_schema.columns
  WHERE table_schema = 'public' AND column_name IN ('status', 'state') AND data_type IN ('character varying', 'text')
    AND is_nullable = 'NO' ORDER BY 1, 2`;

const WAITING_DELIVERIES = 'SELECT id FROM webhook_deliveries WHERE next_retry_at IS NOT NULL ORDER BY id';
/** All but what a schedule makes again. */
const WAITING_JOBS = "SELECT id FROM jobs.job WHERE state IN ('created', 'retry', 'active') AND singleton_on IS NULL ORDER BY id";
