import type { Db } from '../../../core/db/db.ts';
import { statementValues } from '../../../core/db/statement-values.ts';
import { UNCOUNTED_ROWS } from '../../ledger/types.ts';
import type { Period } from './period-repo.ts';

/** Up to which transaction `sales_days` and what belongs to it have counted. */
export const COUNTED = 'coalesce((SELECT through_id FROM statistics_mark WHERE id = 1), 0)';

/**
 * SQL: the transactions that are not counted yet, as many as a request may read (`UNCOUNTED_ROWS`); by both bounds of their ids, see
 * `countByDay` of the ledger for the OFFSET 0.
 */
export const UNCOUNTED = `(SELECT * FROM transactions WHERE id > ${COUNTED}
  AND id <= least((SELECT max(id) FROM transactions), ${COUNTED} + ${UNCOUNTED_ROWS}) OFFSET 0)`;

/** SQL: is a row `t` a completed visible one? */
export const IS_VISIBLE = 't.is_completed AND NOT t.is_internal';

/** What the row `t` sold: the account of its entry; empty for a deposit. */
const PRODUCT = `coalesce((SELECT substr(a.key, 7) FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.account_id
  WHERE e.transaction_id = t.id AND a.kind = 'sales_revenue' LIMIT 1), '')`;

/** Deposits and subscription payments of a group; amounts are absolute, in kopeks. */
export interface SalesSum {
  /** `YYYY-MM-DD` */
  day: string;
  type: 'deposit' | 'subscription_payment';
  /** Empty where the transaction has none. */
  paymentMethod: string;
  /** `traffic`, `devices`, `tariff` …; empty for a deposit. */
  product: string;
  payments: number;
  amountKopeks: number;
}

const COLUMNS = {
  day: "to_char(day, 'YYYY-MM-DD') AS day",
  type: 'type',
  paymentMethod: 'payment_method',
  product: 'product',
} as const;
type Group = keyof typeof COLUMNS;

/**
 * Sums completed visible deposits and subscription payments of a period. One statement, hence one snapshot, of three parts: whole days; rows
 * that are not counted by day yet; and, subtracted, counted rows of the first and the last day that are outside of the period.
 * @param by what the rows are grouped by
 * @param type null = both
 */
export function sumSales<const G extends Group>(
  db: Db,
  period: Period,
  by: readonly G[],
  type: SalesSum['type'] | null = null,
): Promise<Pick<SalesSum, G | 'payments' | 'amountKopeks'>[]> {
  const { values, add } = statementValues();
  const types = type === null ? "('deposit', 'subscription_payment')" : `('${type}')`;
  const [from, to] = [`${add(period.from)}::timestamptz`, `${add(period.to)}::timestamptz`];
  const [firstDay, lastDay] = [`${add(period.firstDay)}::text::date`, `${add(period.lastDay)}::text::date`];
  const product = (by as readonly Group[]).includes('product') ? PRODUCT : "''";
  const row = (day: string, sign: string) =>
    `SELECT ${day}, t.type, coalesce(t.payment_method, ''), ${product}, ${sign}1, ${sign}abs(t.amount_kopeks)`;
  const outside = (day: string, range: string) =>
    `${row(day, '-')} FROM transactions t WHERE t.id <= ${COUNTED} AND t.type IN ${types} AND ${IS_VISIBLE} AND ${range}`;
  const zone = `${add(period.zone)}::text`;
  return db.sql(
    `WITH part (day, type, payment_method, product, payments, kopeks) AS (
       SELECT day, type, payment_method, product, payments, amount_kopeks FROM sales_days
       WHERE day >= ${firstDay} AND day <= ${lastDay} AND type IN ${types}
       UNION ALL ${row(`(t.created_at AT TIME ZONE ${zone})::date`, '')} FROM ${UNCOUNTED} t
       WHERE t.type IN ${types} AND ${IS_VISIBLE} AND t.created_at >= ${from} AND t.created_at <= ${to}
       UNION ALL ${outside(firstDay, `t.created_at >= ${add(period.firstStart)}::timestamptz AND t.created_at < ${from}`)}
       UNION ALL ${outside(lastDay, `t.created_at > ${to} AND t.created_at < ${add(period.lastEnd)}::timestamptz`)})
     SELECT ${[...by.map((group) => COLUMNS[group]), 'sum(payments)::bigint AS payments', 'sum(kopeks)::bigint AS amount_kopeks'].join(', ')}
     FROM part ${by.length === 0 ? 'HAVING sum(payments) <> 0' : `GROUP BY ${by.map((_, index) => index + 1).join(', ')} HAVING sum(payments) <> 0 ORDER BY ${by.map((_, index) => index + 1).join(', ')}`}`,
    values,
  );
}

/** SQL of the rows that `statistics_days` counts, with the moment that gives the day (prisma/sql/statistics-days.sql). */
const SOURCES = {
  registrations: `SELECT created_at AS moment, CASE WHEN has_had_paid_subscription THEN 'paid' ELSE 'unpaid' END AS key, 0 AS amount FROM users`,
  trials: 'SELECT created_at AS moment, provider AS key, 0 AS amount FROM trial_origins',
  sold: 'SELECT created_at AS moment, coalesce(tariff_id, 0)::text AS key, 0 AS amount FROM subscriptions WHERE NOT is_trial',
  sold_periods:
    'SELECT created_at AS moment, period_days(start_date, end_date) AS key, 0 AS amount FROM subscriptions WHERE NOT is_trial',
  conversions: `SELECT converted_at AS moment, CASE WHEN trial_duration_days IS NULL THEN 'untimed' ELSE 'timed' END AS key,
    coalesce(trial_duration_days, 0) AS amount FROM subscription_conversions`,
  traffic: 'SELECT created_at AS moment, traffic_gb::text AS key, traffic_gb AS amount FROM traffic_purchases',
} as const;

export interface DaySum {
  /** `YYYY-MM-DD` */
  day: string;
  key: string;
  total: number;
  amount: number;
}

/** Sums what `statistics_days` counts of one kind: whole days, less the rows of the first and the last day outside of the period. */
export function sumDays<const G extends 'day' | 'key'>(
  db: Db,
  kind: keyof typeof SOURCES,
  period: Period,
  by: readonly G[],
): Promise<Pick<DaySum, G | 'total' | 'amount'>[]> {
  const outside = (day: string, range: string) =>
    `SELECT ${day}::text::date, key, -1, -amount FROM (${SOURCES[kind]}) AS s WHERE ${range}`;
  const columns = by.map((group) => (group === 'day' ? "to_char(day, 'YYYY-MM-DD') AS day" : 'key'));
  const groups = by.map((_, index) => index + 1).join(', ');
  return db.sql(
    `WITH part (day, key, total, amount) AS (
       SELECT day, key, total, amount FROM statistics_days WHERE kind = '${kind}' AND day >= $1::text::date AND day <= $2::text::date
       UNION ALL ${outside('$1', 'moment >= $3::timestamptz AND moment < $4::timestamptz')}
       UNION ALL ${outside('$2', 'moment > $5::timestamptz AND moment < $6::timestamptz')})
     SELECT ${[...columns, 'sum(total)::bigint AS total', 'sum(amount)::bigint AS amount'].join(', ')}
     FROM part GROUP BY ${groups} HAVING sum(total) <> 0 ORDER BY ${groups}`,
    [period.firstDay, period.lastDay, period.firstStart, period.from, period.to, period.lastEnd],
  );
}
