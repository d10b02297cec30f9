import type { App } from '../../core/app.ts';
import { csvLine } from '../../core/csv.ts';
import type { SqlRunner } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { PREVIOUS_SCHEMA, USED_SCHEMA } from './apply-delta.ts';
import { NEXT_SCHEMA } from './import-step.ts';
import { SOURCE_SCHEMA } from './load-source.ts';

const PAGE = 5_000;

/** One list of what happened here since the switch-over: pages by the id, which is the first column. */
interface List {
  columns: readonly string[];
  /** `$1`: the time of the start; `$2`: the last id of the page before; `$3`: rows of a page. */
  query: string;
}

const LISTS: Readonly<Record<string, List>> = {
  users: {
    columns: ['id', 'messenger_id', 'email', 'username', 'status', 'balance_kopeks', 'created_at'],
    query: `SELECT id, messenger_id, email, username, status, balance_kopeks, created_at FROM users
      WHERE created_at >= $1::timestamptz AND id > $2::bigint ORDER BY id LIMIT $3::int`,
  },
  payments: {
    columns: ['id', 'method', 'external_id', 'user_id', 'amount_kopeks', 'currency', 'purpose', 'paid_at'],
    query: `SELECT id, method, external_id, user_id, amount_kopeks, currency, purpose, paid_at FROM payments
      WHERE is_paid AND paid_at >= $1::timestamptz AND id > $2::bigint ORDER BY id LIMIT $3::int`,
  },
  movements: {
    // What is paid through a provider directly is no change of the balance.
    columns: [
      ...['id', 'user_id', 'type', 'amount_kopeks', 'balance_change_kopeks'],
      ...['payment_method', 'external_id', 'description', 'created_at'],
    ],
    query: `SELECT id, user_id, type, amount_kopeks, coalesce((SELECT sum(e.kopeks) FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
        WHERE e.transaction_id = m.id AND a.kind = 'user_wallet' AND a.user_id = m.user_id), 0)::bigint AS balance_change_kopeks,
        payment_method, external_id, description, created_at FROM transactions m
      WHERE is_completed AND imported_at IS NULL AND id > $2::bigint AND created_at >= $1::timestamptz ORDER BY id LIMIT $3::int`,
  },
};

/**
 * Ends the passes of an import, because the service starts: from here on rows are changed here, and what the last pass has prepared is
 * removed.
 */
export async function endImport({ db, clock, log }: Pick<App, 'db' | 'clock' | 'log'>): Promise<void> {
  const ended = await db.sql('UPDATE import_runs SET served_at = $1::timestamptz WHERE served_at IS NULL RETURNING id', [
    clock.now(),
  ]);
  if (ended.length === 0) return;
  log.info('the service starts after an import: no further pass can follow');
  for (const schema of [PREVIOUS_SCHEMA, USED_SCHEMA, NEXT_SCHEMA, SOURCE_SCHEMA])
    await db.sql(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
}

/** Whether the data of another product were imported into this service. */
export async function isImported({ db }: Pick<App, 'db'>): Promise<boolean> {
  const [run] = await db.sql<{ isImported: boolean }>('SELECT EXISTS (SELECT 1 FROM import_runs) AS is_imported');
  return run!.isImported;
}

/** When the service was started after an import; null when it was not. */
export async function readSwitchOver({ db }: Pick<App, 'db'>): Promise<Date | null> {
  const [run] = await db.sql<{ servedAt: Date | null }>('SELECT max(served_at) AS served_at FROM import_runs');
  return run!.servedAt;
}

/**
 * What the old bot does not know, as CSV, so that it can be entered there after a way back (spec 07 section 9): new users, payments and
 * movements of money since the switch-over. All lists are of one time.
 * @param write called with each part of the file of a list: `users`, `payments` or `movements`
 * @returns rows of each list
 */
export function exportSince(
  app: App,
  since: Date,
  write: (list: string, csv: string) => Promise<void>,
): Promise<Record<string, number>> {
  return inTransaction(app, async (t) => {
    await t.db.sql('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const counts: Record<string, number> = {};
    for (const [name, list] of Object.entries(LISTS)) {
      await write(name, csvLine(list.columns));
      counts[name] = await writeRows(t.db.sql, list, since, (csv) => write(name, csv));
    }
    return counts;
  });
}

async function writeRows(sql: SqlRunner, { query }: List, since: Date, write: (csv: string) => Promise<void>): Promise<number> {
  let rows = 0;
  for (let last = 0; ; ) {
    const page = await sql<Record<string, string | number | Date | null>>(query, [since, last, PAGE]);
    if (page.length > 0) await write(page.map((row) => csvLine(Object.values(row).map(cellOf))).join(''));
    rows += page.length;
    if (page.length < PAGE) return rows;
    last = Number(page.at(-1)!.id);
  }
}

const cellOf = (value: string | number | Date | null) => (value instanceof Date ? value.toISOString() : value);
