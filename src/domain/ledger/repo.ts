import type { Changes } from '../../core/changes.ts';
import { columns } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { type TransactionRecord, UNCOUNTED_ROWS } from './types.ts';

/** Conditions of a list of movements; null and absent both mean "any". Moments are UTC, both ends included. */
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
export async function listTransactions(
  db: Db,
  filter: TransactionFilter,
  limit: number,
  offset: number,
): Promise<TransactionRecord[]> {
  const values: unknown[] = [];
  const conditions = conditionsOf(filter, values);
  return db.sql<TransactionRecord>(
    `SELECT ${TRANSACTION.of()} FROM transactions WHERE ${conditions} ORDER BY created_at DESC, id DESC
     LIMIT $${values.push(limit)}::int OFFSET $${values.push(offset)}::bigint`,
    values,
  );
}

/** Up to which id `transaction_day_counts` has counted. */
export const THROUGH = 'coalesce((SELECT through_id FROM transaction_count_mark WHERE id = 1), 0)';

/** Up to which id a request reads rows that are not counted yet. */
export const UNCOUNTED_END = `least((SELECT max(id) FROM transactions), ${THROUGH} + ${UNCOUNTED_ROWS})`;

/** Counts row by row. */
export async function countDirectly(db: Db, filter: TransactionFilter): Promise<number> {
  const values: unknown[] = [];
  const conditions = conditionsOf(filter, values);
  const [row] = await db.sql<{ total: number }>(`SELECT count(*) AS total FROM transactions WHERE ${conditions}`, values);
  return row!.total;
}

/** UTC midnights around the whole days of a filter; null = that side is open. */
export interface WholeDays {
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
  const at = (moment: Date): string => `$${values.push(moment)}::timestamptz`;
  const dayOf = (moment: Date): string => `(${at(moment)} AT TIME ZONE 'UTC')::date`;
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
