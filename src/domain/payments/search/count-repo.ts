import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import { type Bucket, bucketSql } from './buckets.ts';
import type { PaymentFilter } from './payment-filter.ts';

/** Conditions on `p`, only those that are set, so that each combination gets its own plan and index; without the text. */
export function filterConditions(filter: PaymentFilter, add: AddValue): string[] {
  return [
    `p.created_at >= ${add(filter.from)}::timestamptz`,
    ...(filter.to === null ? [] : [`p.created_at <= ${add(filter.to)}::timestamptz`]),
    ...(filter.method === null ? [] : [`p.method = ${add(filter.method)}`]),
    // As text, so that the plan of the prepared statement is made for this bucket: some are a thousand times larger than others.
    ...(filter.bucket === null ? [] : [`${bucketSql('p')} = '${filter.bucket}'`]),
  ];
}

/**
 * How many payments the window has by day, method and bucket: whole days from the counters that triggers maintain, the first and the last
 * day from the payments themselves. Reads one or two days of payments, however long the window is (spec 03 H19).
 */
function countsOfWindow(filter: PaymentFilter, add: AddValue): string {
  const { from, to, method, bucket } = filter;
  const firstDay = utcDay(from);
  const lastDay = to && utcDay(to);
  const conditions = filterConditions(filter, add);
  const edge = (day: string) => {
    const start = add(day);
    return `SELECT ${start}::date AS day, p.method, ${bucketSql('p')} AS bucket, count(*)::int AS payments FROM payments p
      WHERE ${conditions.join(' AND ')} AND p.created_at >= (${start}::date::timestamp AT TIME ZONE 'UTC')
        AND p.created_at < ((${start}::date + 1)::timestamp AT TIME ZONE 'UTC') GROUP BY 2, 3`;
  };
  const whole = [
    `c.day > ${add(firstDay)}::date`,
    ...(lastDay === null ? [] : [`c.day < ${add(lastDay)}::date`]),
    ...(method === null ? [] : [`c.method = ${add(method)}`]),
    ...(bucket === null ? [] : [`c.bucket = ${add(bucket)}`]),
  ];
  return [
    `SELECT c.day, c.method, c.bucket, c.payments FROM payment_day_counters c WHERE ${whole.join(' AND ')}`,
    edge(firstDay),
    ...(lastDay === null || lastDay === firstDay ? [] : [edge(lastDay)]),
  ].join('\n UNION ALL ');
}

const utcDay = (moment: Date) => moment.toISOString().slice(0, 10);

/** Days with payments of the filter, the last one first. `day` is its midnight in UTC. */
export function countByDay(db: Db, filter: PaymentFilter): Promise<{ day: Date; payments: number }[]> {
  const { values, add } = statementValues();
  return db.sql<{ day: Date; payments: number }>(
    `SELECT (day::timestamp AT TIME ZONE 'UTC') AS day, sum(payments)::int AS payments FROM (${countsOfWindow(filter, add)}) d
     GROUP BY d.day HAVING sum(payments) <> 0 ORDER BY d.day DESC`,
    values,
  );
}

export interface GroupCount {
  method: string;
  bucket: Bucket;
  payments: number;
}

export function countByGroup(db: Db, filter: PaymentFilter): Promise<GroupCount[]> {
  const { values, add } = statementValues();
  return db.sql<GroupCount>(
    `SELECT method, bucket, sum(payments)::int AS payments FROM (${countsOfWindow(filter, add)}) d
     GROUP BY method, bucket HAVING sum(payments) <> 0 ORDER BY method, bucket`,
    values,
  );
}
