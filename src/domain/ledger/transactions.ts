import type { App } from '../../core/app.ts';
import type { Changes } from '../../core/changes.ts';
import { DAY_MS } from '../../core/clock.ts';
import { columns, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { pageBounds, statementValues } from '../../core/db/statement-values.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { offsetOf } from '../../core/paging.ts';
import { type CompletedSum, type TransactionRecord, UNCOUNTED_ROWS } from './types.ts';

export interface TransactionPage {
  items: TransactionRecord[];
  /** Exact, at any size; while the job counts what a restore or an import brought, at least what is counted. */
  total: number;
}

/** Visible movements of all users, newest first, amounts as they are stored (spec 03 section 1.2). */
export async function listTransactions(
  app: App,
  filter: TransactionFilter,
  page: { limit: number; offset: number },
): Promise<TransactionPage> {
  const [items, total] = await Promise.all([listRows(app.db, filter, page.limit, page.offset), countTransactions(app, filter)]);
  return { items, total };
}

/** The user's own visible movements, newest first (spec 03 section 3). */
export function listMyTransactions(
  app: App,
  userId: number,
  page: { page: number; perPage: number; type: string | null },
): Promise<TransactionPage> {
  const filter = page.type === null ? { userId } : { userId, type: page.type };
  return listTransactions(app, filter, { limit: page.perPage, offset: offsetOf(page.page, page.perPage) });
}

/**
 * How many movements match a filter. Those of one user and those of less than a whole day are counted with an index. Any other filter
 * would count millions of rows, so whole days come from the counts that `countTransactionsByDay` maintains.
 */
function countTransactions(app: App, filter: TransactionFilter): Promise<number> {
  if (filter.userId != null || filter.paymentMethod === '') return countDirectly(app.db, filter);
  const from = filter.from ? new Date(Math.ceil(filter.from.getTime() / DAY_MS) * DAY_MS) : null;
  const to = filter.to ? new Date(Math.floor(filter.to.getTime() / DAY_MS) * DAY_MS) : null;
  if (from && to && from >= to) return countDirectly(app.db, filter);
  return countByDay(app.db, filter, { from, to });
}

/**
 * What completed visible transactions sum to by type and method, until now. Exact at any size: whole days are read from counts, and only
 * what the last minutes added from the rows; while a restore or an import is being counted, what is counted.
 * @param from a midnight UTC
 */
export function sumTransactions(app: App, from: Date): Promise<CompletedSum[]> {
  return sumCompleted(app.db, from, app.clock.now());
}

/** From when on the sums lack transactions, while a restore or an import is being counted; else null. */
export function readUncountedSince(app: App): Promise<Date | null> {
  return findUncountedSince(app.db);
}

/** The balances of all users together, in kopeks; exact at any size. */
export function readTotalBalance(app: App): Promise<number> {
  return sumWallets(app.db);
}

/** Rows counted in one transaction. */
const STEP = 200_000;
/**
 * A row gets its id before it commits, so rows below the highest id may not be visible yet. No transaction lasts this long, so after
 * this time every id seen is committed or rolled back.
 */
const SETTLE_SECONDS = 60;

/**
 * Counts transactions by day (job `ledger.count`), so that totals of lists are exact and fast with millions of rows. Nothing depends
 * on when it runs: lists count themselves what it has not counted yet, up to a bound that is met after a restore or an import only.
 * @param settleSeconds for tests
 */
export async function countTransactionsByDay(app: App, settleSeconds: number = SETTLE_SECONDS): Promise<void> {
  while (await countStep(app, settleSeconds));
}

/** @returns whether there is more to count now */
function countStep(app: App, settleSeconds: number): Promise<boolean> {
  return inTransaction(app, async (t) => {
    const mark = await lockCountMark(t.db, settleSeconds);
    if (mark.throughId < mark.seenId && !mark.isSettled) return false;
    if (mark.seenId - mark.throughId > UNCOUNTED_ROWS) {
      const since = await findCreatedAfter(t.db, mark.throughId);
      t.log.warn(
        { rows: mark.seenId - mark.throughId, since },
        'totals of lists and statistics leave out transactions until these are counted',
      );
    }
    const through = Math.min(mark.seenId, mark.throughId + STEP);
    if (through > mark.throughId) await countRange(t.db, mark.throughId, through);
    if (through < mark.seenId) return true;
    await recordHighestId(t.db);
    return false;
  });
}

/** Conditions of a list of movements; null and absent both mean "any". Timestamps are UTC, both ends included. */
export type TransactionFilter = Changes<
  Pick<TransactionRecord, 'userId' | 'type' | 'isCompleted'> & { paymentMethod: string; from: Date; to: Date }
>;

const TRANSACTION = columns('Transaction', [
  ...(['id', 'userId', 'type', 'amountKopeks', 'description', 'paymentMethod', 'externalId'] as const),
  ...(['isCompleted', 'createdAt', 'completedAt'] as const),
]);

/** Equalities of a filter as SQL with its values. The text depends only on which keys are given, so there are few prepared statements. */
function equalities(filter: TransactionFilter, values: unknown[]): string[] {
  const conditions: string[] = [];
  const add = (condition: (placeholder: string) => string, value: unknown): void => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  if (filter.userId != null) add((p) => `user_id = ${p}::bigint`, filter.userId);
  if (filter.type != null) add((p) => `type = ${p}`, filter.type);
  if (filter.paymentMethod != null) add((p) => `payment_method = ${p}`, filter.paymentMethod);
  // Written out instead of a parameter, so that the partial index of movements that are not completed can be used.
  if (filter.isCompleted != null) conditions.push(filter.isCompleted ? 'is_completed' : 'NOT is_completed');
  return conditions;
}

/** All of a filter as SQL. */
function conditionsOf(filter: TransactionFilter, values: unknown[]): string {
  const conditions = ['NOT is_internal', ...equalities(filter, values)];
  if (filter.from) conditions.push(`created_at >= $${values.push(filter.from)}::timestamptz`);
  if (filter.to) conditions.push(`created_at <= $${values.push(filter.to)}::timestamptz`);
  return conditions.join(' AND ');
}

/** Newest first. */
export async function listRows(db: Db, filter: TransactionFilter, limit: number, offset: number): Promise<TransactionRecord[]> {
  const { values, add } = statementValues();
  const conditions = conditionsOf(filter, values);
  const page = pageBounds(add, limit, offset);
  return db.sql<TransactionRecord>(
    `SELECT ${TRANSACTION.of()} FROM transactions WHERE ${conditions} ORDER BY created_at DESC, id DESC
     LIMIT ${page.limit} OFFSET ${page.offset}`,
    values,
  );
}

/** Up to which id `transaction_day_counts` has counted. */
const THROUGH = 'coalesce((SELECT through_id FROM transaction_count_mark WHERE id = 1), 0)';

/** Up to which id a request reads rows that are not counted yet. */
const UNCOUNTED_END = `least((SELECT max(id) FROM transactions), ${THROUGH} + ${UNCOUNTED_ROWS})`;

/** Counts row by row. */
async function countDirectly(db: Db, filter: TransactionFilter): Promise<number> {
  const values: unknown[] = [];
  const conditions = conditionsOf(filter, values);
  const [row] = await db.sql<{ total: number }>(`SELECT count(*) AS total FROM transactions WHERE ${conditions}`, values);
  return row!.total;
}

/** UTC midnights around the whole days of a filter; null = that side is open. */
interface WholeDays {
  from: Date | null;
  to: Date | null;
}

/**
 * Counts whole days from `transaction_day_counts`, and row by row only the rest: the partial days at both ends and what is not counted
 * by day yet. It is one statement, hence one snapshot: the parts neither overlap nor leave a gap.
 *
 * The uncounted rows are selected first (OFFSET 0 keeps the planner from merging the subquery), by both bounds of their ids. A prepared
 * plan cannot know that they are few and would otherwise scan the index of a filter over the whole history.
 * @param filter without a user, without an empty payment method
 */
export async function countByDay(db: Db, filter: TransactionFilter, days: WholeDays): Promise<number> {
  const values: unknown[] = [];
  const at = (timestamp: Date): string => `$${values.push(timestamp)}::timestamptz`;
  const dayOf = (timestamp: Date): string => `(${at(timestamp)} AT TIME ZONE 'UTC')::date`;
  const { from, to } = filter;
  const equal = ['true', ...equalities(filter, values)].join(' AND ');
  const inDays: string[] = [];
  const cut: string[] = [];
  const inRange: string[] = [];
  if (from && days.from) {
    inDays.push(`AND day >= ${dayOf(days.from)}`);
    inRange.push(`AND created_at >= ${at(from)}`);
    cut.push(`created_at >= ${at(from)} AND created_at < ${at(days.from)}`);
  }
  if (to && days.to) {
    inDays.push(`AND day < ${dayOf(days.to)}`);
    inRange.push(`AND created_at <= ${at(to)}`);
    cut.push(`created_at >= ${at(days.to)} AND created_at <= ${at(to)}`);
  }
  const parts = [
    `(SELECT coalesce(sum(total), 0) FROM transaction_day_counts WHERE ${equal} ${inDays.join(' ')})`,
    `(SELECT count(*) FROM (SELECT * FROM transactions
        WHERE id > ${THROUGH} AND id <= ${UNCOUNTED_END} OFFSET 0) AS uncounted
      WHERE NOT is_internal AND ${equal} ${inRange.join(' ')})`,
    ...cut.map(
      (range) => `(SELECT count(*) FROM transactions WHERE id <= ${THROUGH} AND NOT is_internal AND ${range} AND ${equal})`,
    ),
  ];
  const [row] = await db.sql<{ total: number }>(`SELECT (${parts.join(' + ')})::bigint AS total`, values);
  return row!.total;
}

/**
 * Sums completed visible transactions by type and method, from a midnight up to `now`. One statement, hence one snapshot, of three parts:
 * days from `transaction_day_counts`; rows that are not counted by day yet (see `countByDay` for the OFFSET 0); and, subtracted from the
 * first part, counted rows of today that are dated later than now, of which there are normally none.
 */
function sumCompleted(db: Db, from: Date, now: Date): Promise<CompletedSum[]> {
  return db.sql<CompletedSum>(
    `WITH part AS (
       SELECT day, type, payment_method, total, amount_kopeks FROM transaction_day_counts
       WHERE is_completed AND day >= utc_day($1::timestamptz) AND day <= utc_day($2::timestamptz)
       UNION ALL
       SELECT utc_day(created_at), type, coalesce(payment_method, ''), 1, abs(amount_kopeks) FROM (SELECT * FROM transactions
         WHERE id > ${THROUGH} AND id <= ${UNCOUNTED_END} OFFSET 0) AS uncounted
       WHERE is_completed AND NOT is_internal AND created_at >= $1::timestamptz AND created_at <= $2::timestamptz
       UNION ALL
       SELECT utc_day(created_at), type, coalesce(payment_method, ''), -1, -abs(amount_kopeks) FROM transactions
       WHERE id <= ${THROUGH} AND is_completed AND NOT is_internal AND created_at > $2::timestamptz
         AND created_at < (utc_day($2::timestamptz) + 1)::timestamp AT TIME ZONE 'UTC')
     SELECT type, nullif(payment_method, '') AS payment_method, sum(total)::bigint AS count, sum(amount_kopeks)::bigint AS amount_kopeks,
       coalesce(sum(total) FILTER (WHERE day = utc_day($2::timestamptz)), 0)::bigint AS today_count,
       coalesce(sum(amount_kopeks) FILTER (WHERE day = utc_day($2::timestamptz)), 0)::bigint AS today_kopeks,
       coalesce(sum(total) FILTER (WHERE day >= utc_day($2::timestamptz) - 7), 0)::bigint AS week_count,
       coalesce(sum(total) FILTER (WHERE day >= utc_day($2::timestamptz) - 30), 0)::bigint AS month_count
     FROM part GROUP BY 1, 2 HAVING sum(total) <> 0 ORDER BY 1, 2`,
    [from, now],
  );
}

/** When the first transaction was made that no sum has yet, because so many are not counted; null = the sums have all (spec 10 D2). */
async function findUncountedSince(db: Db): Promise<Date | null> {
  const [row] = await db.sql<{ createdAt: Date }>(
    `SELECT created_at FROM transactions WHERE id > ${THROUGH} + ${UNCOUNTED_ROWS} ORDER BY id LIMIT 1`,
  );
  return row?.createdAt ?? null;
}

/** Kopeks in all wallets: the entries that the mark has counted and those after it, in one snapshot. */
async function sumWallets(db: Db): Promise<number> {
  const [row] = await db.sql<{ kopeks: number }>(
    `SELECT (coalesce((SELECT wallet_kopeks FROM transaction_count_mark WHERE id = 1), 0) + coalesce((
       SELECT sum(e.kopeks) FROM (SELECT * FROM ledger_entries
         WHERE transaction_id > ${THROUGH} AND transaction_id <= ${UNCOUNTED_END} OFFSET 0) e
       JOIN ledger_accounts a ON a.id = e.account_id WHERE a.kind = 'user_wallet'), 0))::bigint AS kopeks`,
  );
  return row!.kopeks;
}

interface CountMark extends Pick<Rows['TransactionCountMark'], 'throughId' | 'seenId'> {
  /** Whether every id up to `seenId` is settled: committed or rolled back. */
  isSettled: boolean;
}

/** Locks the one row that says up to which id is counted; inserts it where it is missing. */
async function lockCountMark(db: Db, settleSeconds: number): Promise<CountMark> {
  await db.sql('INSERT INTO transaction_count_mark (id) VALUES (1) ON CONFLICT (id) DO NOTHING RETURNING id');
  const [row] = await db.sql<CountMark>(
    `SELECT through_id, seen_id, seen_at <= clock_timestamp() - $1::int * interval '1 second' AS is_settled
     FROM transaction_count_mark WHERE id = 1 FOR UPDATE`,
    [settleSeconds],
  );
  return row!;
}

/** When the first transaction above an id was made; null = there is none. */
async function findCreatedAfter(db: Db, id: number): Promise<Date | null> {
  const [row] = await db.sql<{ createdAt: Date }>('SELECT created_at FROM transactions WHERE id > $1::int ORDER BY id LIMIT 1', [
    id,
  ]);
  return row?.createdAt ?? null;
}

/** Adds the rows with `after < id <= through` to the counts, and what they moved in wallets to the mark. */
async function countRange(db: Db, after: number, through: number): Promise<void> {
  await db.sql(
    `INSERT INTO transaction_day_counts AS c (day, type, payment_method, is_completed, total, amount_kopeks)
     SELECT (created_at AT TIME ZONE 'UTC')::date, type, coalesce(payment_method, ''), is_completed, count(*), sum(abs(amount_kopeks))
     FROM transactions WHERE id > $1::int AND id <= $2::int AND NOT is_internal GROUP BY 1, 2, 3, 4
     ON CONFLICT (day, type, payment_method, is_completed) DO UPDATE SET total = c.total + EXCLUDED.total,
       amount_kopeks = c.amount_kopeks + EXCLUDED.amount_kopeks RETURNING 1 AS done`,
    [after, through],
  );
  await db.sql(
    `UPDATE transaction_count_mark SET through_id = $2::int, wallet_kopeks = wallet_kopeks + coalesce((
       SELECT sum(e.kopeks) FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
       WHERE e.transaction_id > $1::int AND e.transaction_id <= $2::int AND a.kind = 'user_wallet'), 0)::bigint
     WHERE id = 1 RETURNING id`,
    [after, through],
  );
}

/** Stores the highest id of now: the next round may count up to it. */
async function recordHighestId(db: Db): Promise<void> {
  await db.sql(
    `UPDATE transaction_count_mark SET seen_id = greatest(through_id, coalesce((SELECT max(id) FROM transactions), 0)),
       seen_at = clock_timestamp() WHERE id = 1 RETURNING id`,
  );
}
