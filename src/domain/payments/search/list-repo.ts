import { addDays } from '../../../core/clock.ts';
import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { type AddValue, statementValues } from '../../../core/db/statement-values.ts';
import { PAYMENT } from '../repo.ts';
import type { Payment } from '../types.ts';
import { BUCKETS, bucketSql } from './buckets.ts';
import { filterConditions } from './count-repo.ts';
import type { PaymentFilter } from './payment-filter.ts';

const PAYER = columns('User', ['messengerId', 'username', 'email']);

/** A payment with its payer; the payer's fields are null for people without an account. */
export type PaymentOfPayer = Payment & { [Field in keyof RowOf<typeof PAYER>]: RowOf<typeof PAYER>[Field] | null };

export const ITEM_COLUMNS = `${PAYMENT.of('p')}, ${PAYER.of('u')}`;
export const NEWEST_FIRST = 'p.created_at DESC, p.id DESC';

export async function findPaymentOfPayer(db: Db, method: string, id: number): Promise<PaymentOfPayer | null> {
  const [row] = await db.sql<PaymentOfPayer>(
    `SELECT ${ITEM_COLUMNS} FROM payments p LEFT JOIN users u ON u.id = p.user_id WHERE p.id = $1::bigint AND p.method = $2`,
    [id, method],
  );
  return row ?? null;
}

export interface Slice {
  limit: number;
  offset: number;
}

/**
 * A page without a search text, newest first.
 * @param day the UTC day of its first payment, and how many payments of the filter are younger than that day
 */
export function listPage(
  db: Db,
  filter: PaymentFilter,
  slice: Slice,
  day: { start: Date; skipped: number },
): Promise<PaymentOfPayer[]> {
  const { values, add } = statementValues();
  const [offset, limit] = [slice.offset - day.skipped, slice.limit];
  const before = `p.created_at < ${add(addDays(day.start, 1))}::timestamptz`;
  // The index of methods is by bucket, so that any method and bucket is one range: without a bucket there are three.
  const buckets = filter.bucket === null && filter.method !== null ? BUCKETS : [filter.bucket];
  const branches = buckets.map(
    (bucket) => `(SELECT p.id, p.created_at FROM payments p
       WHERE ${[...filterConditions({ ...filter, bucket }, add), before].join(' AND ')}
       ORDER BY ${NEWEST_FIRST} LIMIT ${add(offset + limit)}::int)`,
  );
  return db.sql<PaymentOfPayer>(
    `WITH page AS MATERIALIZED (
       SELECT p.id FROM (${branches.join(' UNION ALL ')}) p ORDER BY ${NEWEST_FIRST} LIMIT ${add(limit)}::int OFFSET ${add(offset)}::int)
     SELECT ${ITEM_COLUMNS} FROM page JOIN payments p ON p.id = page.id LEFT JOIN users u ON u.id = p.user_id ORDER BY ${NEWEST_FIRST}`,
    values,
  );
}

/** Which payments a text matches: a condition on `p`, and whether so many do that reading the window from its newest payment on is faster. */
export interface TextCondition {
  sql: (add: AddValue) => string;
  isCommon: boolean;
}

/** Matches of a text, the newest `max` at most. */
export function matchesSql(filter: PaymentFilter, text: TextCondition, max: number, add: AddValue): string {
  const [conditions, matches] = [filterConditions(filter, add), text.sql(add)];
  const select = (where: string) =>
    `SELECT p.id, p.created_at, p.method, ${bucketSql('p')} AS bucket FROM payments p WHERE ${[...conditions, where].join(' AND ')}`;
  const newest = `ORDER BY ${NEWEST_FIRST} LIMIT ${max}`;
  // The planner does not know how many payments a text matches. As a CASE the condition counts as one that half of the rows pass, so it
  // walks down the index until it has enough; behind OFFSET 0 it does not see the limit and collects the matches by their indexes.
  return text.isCommon
    ? `${select(`CASE WHEN ${matches} THEN true ELSE false END`)} ${newest}`
    : `SELECT p.* FROM (${select(matches)} OFFSET 0) p ${newest}`;
}

/** A page of the newest `max` matches of a text, and how many of them there are. */
export async function listMatches(
  db: Db,
  filter: PaymentFilter,
  text: TextCondition,
  slice: Slice,
  max: number,
): Promise<{ payments: PaymentOfPayer[]; total: number }> {
  const { values, add } = statementValues();
  const rows = await db.sql<Partial<PaymentOfPayer> & { total: number }>(
    `WITH found AS MATERIALIZED (${matchesSql(filter, text, max, add)}),
     page AS MATERIALIZED (
       SELECT p.id FROM found p ORDER BY ${NEWEST_FIRST} LIMIT ${add(slice.limit)}::int OFFSET ${add(slice.offset)}::bigint)
     SELECT ${ITEM_COLUMNS}, n.total FROM (SELECT count(*)::int AS total FROM found) n LEFT JOIN page ON true
     LEFT JOIN payments p ON p.id = page.id LEFT JOIN users u ON u.id = p.user_id ORDER BY ${NEWEST_FIRST}`,
    values,
  );
  // An empty page is one row with the total alone.
  const payments = rows.filter((row): row is PaymentOfPayer & { total: number } => typeof row.id === 'number');
  return { payments, total: rows[0]!.total };
}
