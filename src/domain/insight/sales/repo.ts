import type { Db } from '../../../core/db/db.ts';
import { statementValues } from '../../../core/db/statement-values.ts';
import { UNCOUNTED_ROWS } from '../../ledger/types.ts';
import { FIRST_DAY, type WrittenPeriod, type WrittenTimestamp } from './period.ts';

/** Up to which transaction `sales_days` and what belongs to it have counted. */
const COUNTED = 'coalesce((SELECT through_id FROM statistics_mark WHERE id = 1), 0)';

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

/** SQL of the rows that `statistics_days` counts, with the time that gives the day (prisma/sql/statistics-days.sql). */
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

/** Counts up to `most` more ids (prisma/sql/statistics-sales.sql). @returns whether there is more to count now */
export async function countSalesStep(db: Db, most: number): Promise<boolean> {
  const [row] = await db.sql<{ more: boolean }>('SELECT count_sales($1::int) AS more', [most]);
  return row!.more;
}

/** Merges the rows of the counters that triggers keep. */
export async function compactStatistics(db: Db): Promise<void> {
  await db.sql('SELECT compact_statistics()::text AS done');
}

/** The zone in whose days is counted, and whether the database knows the other one. */
export async function findZones(db: Db, wanted: string): Promise<{ current: string; isKnown: boolean }> {
  const [row] = await db.sql<{ current: string; isKnown: boolean }>(
    `SELECT statistics_zone() AS current, EXISTS (SELECT 1 FROM pg_timezone_names WHERE name = $1) AS "isKnown"`,
    [wanted],
  );
  return row!;
}

/** Counts everything again in days of this zone; writers of users and subscriptions wait (prisma/sql/statistics-days.sql). */
export async function recountStatistics(db: Db, zone: string): Promise<void> {
  await db.sql('SELECT recount_statistics($1)::text AS done', [zone]);
}

/** A period with the whole days that contain it, in the days of the statistics. Both ends are included. */
export interface Period {
  from: Date;
  to: Date;
  /** `YYYY-MM-DD` */
  firstDay: string;
  lastDay: string;
  /** The start of the first day, and the end of the last day. */
  firstStart: Date;
  lastEnd: Date;
  /** Of the days. */
  zone: string;
}

const DAYS = `to_char(statistics_day(p.start), 'YYYY-MM-DD') AS first_day, to_char(statistics_day(p.finish), 'YYYY-MM-DD') AS last_day,
  statistics_day_start(statistics_day(p.start)) AS first_start, statistics_day_start(statistics_day(p.finish) + 1) AS last_end,
  statistics_zone() AS zone`;

/** The days around two times. */
export async function findPeriod(db: Db, from: Date, to: Date): Promise<Period> {
  const [row] = await db.sql<Period>(
    `SELECT p.start AS from, p.finish AS to, ${DAYS} FROM (SELECT $1::timestamptz AS start, $2::timestamptz AS finish) p`,
    [from, to],
  );
  return row!;
}

/** The timestamps of a request; those without an offset, and midnights, are of the zone of the statistics. */
export async function findWrittenPeriod(db: Db, written: WrittenPeriod, now: Date): Promise<Period> {
  const timestamp = (local: string, offset: string) =>
    `CASE WHEN ${offset}::text IS NULL THEN ${local}::text::timestamp AT TIME ZONE statistics_zone() ELSE (${local}::text || ${offset}::text)::timestamptz END`;
  if ('start' in written) {
    const values = ({ local, offset }: WrittenTimestamp) => [local, offset];
    const [row] = await db.sql<Period>(
      `SELECT p.start AS from, p.finish AS to, ${DAYS} FROM (SELECT ${timestamp('$1', '$2')} AS start, ${timestamp('$3', '$4')} AS finish) p`,
      [...values(written.start), ...values(written.end)],
    );
    return row!;
  }
  const [row] = await db.sql<Period>(
    `SELECT p.start AS from, p.finish AS to, ${DAYS} FROM (SELECT statistics_day_start(coalesce(
       statistics_day($1::timestamptz) - $2::int, '${FIRST_DAY}'::date)) AS start, $1::timestamptz AS finish) p`,
    [now, written.days],
  );
  return row!;
}

/** Renewals of a day; kopeks. */
export interface RenewalDay {
  /** `YYYY-MM-DD` */
  day: string;
  payments: number;
  amountKopeks: number;
}

const IS_PAYMENT = `t.type = 'subscription_payment' AND ${IS_VISIBLE}`;

/** Days with renewals, in order; days without any are left out. @param part rows (day, payments, kopeks) */
const daysOf = (part: string): string => `SELECT to_char(day, 'YYYY-MM-DD') AS day, sum(payments)::bigint AS payments,
    sum(kopeks)::bigint AS amount_kopeks
  FROM (${part}) AS part (day, payments, kopeks) GROUP BY day HAVING sum(payments) <> 0 ORDER BY day`;

/**
 * Payments in a period of users who paid before it (spec 06 section 4.5, S rows of OLD users). Counted are whole days by the day of the
 * user's first payment; what depends on the time within a day is read from the rows of that day:
 *
 *   + payments of users who first paid before the first day                (months and days of the cohorts)
 *   - those of them on the first day before, on the last day after the period
 *   + payments in the period of users who first paid on the first day before the period
 *   + rows that are not counted yet, of users who paid before the period
 *   + counted payments of users whose payment before the period is not counted yet (a payment may be dated back)
 */
export function sumRenewals(db: Db, period: Period): Promise<RenewalDay[]> {
  const day = '(t.created_at AT TIME ZONE $7::text)::date';
  const inPeriod = 't.created_at >= $1::timestamptz AND t.created_at <= $2::timestamptz';
  const outside = (ofDay: string, range: string) =>
    `SELECT ${ofDay}::text::date, -1, -abs(t.amount_kopeks) FROM transactions t
       JOIN payers p ON p.user_id = t.user_id AND p.first_paid_at < $5::timestamptz
       WHERE t.id <= ${COUNTED} AND ${IS_PAYMENT} AND ${range}`;
  return db.sql<RenewalDay>(
    `WITH uncounted AS MATERIALIZED (
       SELECT t.user_id, t.created_at, t.amount_kopeks FROM ${UNCOUNTED} t WHERE ${IS_PAYMENT}),
     early AS MATERIALIZED (SELECT DISTINCT user_id FROM uncounted WHERE created_at < $1::timestamptz)
     ${daysOf(`SELECT day, payments, amount_kopeks FROM payer_cohort_months
       WHERE day >= $3::text::date AND day <= $4::text::date AND first_month < date_trunc('month', $3::text::date)::date
       UNION ALL SELECT day, payments, amount_kopeks FROM payer_cohort_days
       WHERE first_day >= date_trunc('month', $3::text::date)::date AND first_day < $3::text::date
         AND day >= $3::text::date AND day <= $4::text::date
       UNION ALL ${outside('$3', 't.created_at >= $5::timestamptz AND t.created_at < $1::timestamptz')}
       UNION ALL ${outside('$4', 't.created_at > $2::timestamptz AND t.created_at < $6::timestamptz')}
       UNION ALL SELECT ${day}, 1, abs(t.amount_kopeks) FROM payers p JOIN transactions t ON t.user_id = p.user_id
       WHERE p.first_paid_at >= $5::timestamptz AND p.first_paid_at < $1::timestamptz AND t.id <= ${COUNTED} AND ${IS_PAYMENT} AND ${inPeriod}
       UNION ALL SELECT ${day}, 1, abs(t.amount_kopeks) FROM uncounted t
       WHERE ${inPeriod} AND (EXISTS (SELECT 1 FROM early o WHERE o.user_id = t.user_id)
         OR EXISTS (SELECT 1 FROM payers p WHERE p.user_id = t.user_id AND p.first_paid_at < $1::timestamptz))
       UNION ALL SELECT ${day}, 1, abs(t.amount_kopeks) FROM early o JOIN payers p ON p.user_id = o.user_id
       JOIN transactions t ON t.user_id = o.user_id
       WHERE p.first_paid_at >= $1::timestamptz AND t.id <= ${COUNTED} AND ${IS_PAYMENT} AND ${inPeriod}`)}`,
    [period.from, period.to, period.firstDay, period.lastDay, period.firstStart, period.lastEnd, period.zone],
  );
}

/** All payments until now of users with more than one: all of them, less those of users with exactly one. */
export function sumAllRenewals(db: Db, period: Period): Promise<RenewalDay[]> {
  const day = (timestamp: string) => `(${timestamp} AT TIME ZONE $6::text)::date`;
  return db.sql<RenewalDay>(
    `WITH uncounted AS MATERIALIZED (
       SELECT t.user_id, t.created_at, t.amount_kopeks FROM ${UNCOUNTED} t WHERE ${IS_PAYMENT}),
     repeated AS MATERIALIZED (SELECT user_id FROM uncounted GROUP BY user_id HAVING count(*) > 1)
     ${daysOf(`SELECT day, payments, amount_kopeks FROM sales_days
       WHERE type = 'subscription_payment' AND day >= $3::text::date AND day <= $4::text::date
       UNION ALL SELECT day, -payers, -amount_kopeks FROM single_payment_days WHERE day >= $3::text::date AND day <= $4::text::date
       UNION ALL SELECT $4::text::date, -1, -abs(t.amount_kopeks) FROM transactions t
       JOIN payers p ON p.user_id = t.user_id AND p.payments > 1
       WHERE t.id <= ${COUNTED} AND ${IS_PAYMENT} AND t.created_at > $2::timestamptz AND t.created_at < $5::timestamptz
       UNION ALL SELECT ${day('t.created_at')}, 1, abs(t.amount_kopeks) FROM uncounted t
       WHERE t.created_at >= $1::timestamptz AND t.created_at <= $2::timestamptz
         AND (EXISTS (SELECT 1 FROM payers p WHERE p.user_id = t.user_id)
           OR t.user_id IN (SELECT user_id FROM repeated))
       UNION ALL SELECT ${day('p.first_paid_at')}, 1, p.amount_kopeks FROM payers p
       WHERE p.payments = 1 AND p.user_id IN (SELECT user_id FROM uncounted)
         AND p.first_paid_at >= $1::timestamptz AND p.first_paid_at <= $2::timestamptz`)}`,
    [period.from, period.to, period.firstDay, period.lastDay, period.lastEnd, period.zone],
  );
}

/** Names of tariffs, inactive ones too, in the order of display. */
export function listTariffNames(db: Db): Promise<{ id: number; name: string }[]> {
  return db.sql<{ id: number; name: string }>('SELECT id, name FROM tariffs ORDER BY display_order, id');
}

interface TariffCount {
  /** 0 for subscriptions without a tariff. */
  tariffId: number;
  /** With status `active`, and those of them that are trials. */
  active: number;
  activeTrials: number;
}

/** Subscriptions of now by tariff, from counters. */
export function countByTariff(db: Db): Promise<TariffCount[]> {
  return db.sql<TariffCount>(
    `SELECT tariff_id, coalesce(sum(subscriptions) FILTER (WHERE status = 'active'), 0)::int AS active,
       coalesce(sum(subscriptions) FILTER (WHERE status = 'active' AND is_trial), 0)::int AS active_trials
     FROM subscription_counters GROUP BY tariff_id ORDER BY tariff_id`,
  );
}
