import type { Changes } from '../../core/changes.ts';
import { columns } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import type { TransactionRecord } from './types.ts';

/** Conditions of a list of movements; null and absent both mean "any". Moments are UTC, both ends included. */
export type TransactionFilter = Changes<
  Pick<TransactionRecord, 'userId' | 'type' | 'isCompleted'> & { paymentMethod: string; from: Date; to: Date }
>;

const TRANSACTION = columns('Transaction', [
  ...(['id', 'userId', 'type', 'amountKopeks', 'description', 'paymentMethod', 'externalId'] as const),
  ...(['isCompleted', 'createdAt', 'completedAt'] as const),
]);

/** Equalities of a filter as SQL with its values. The text depends only on which keys are given, so there are few prepared statements. */
export function equalities(filter: TransactionFilter, values: unknown[]): string[] {
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
export function conditionsOf(filter: TransactionFilter, values: unknown[]): string {
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
