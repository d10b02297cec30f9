import type { Db } from '../../core/db/db.ts';
import type { TransactionRecord } from './types.ts';

/** What a list of movements is narrowed to; absent = not narrowed. Moments are UTC, both ends included. */
export interface TransactionFilter {
  userId?: number;
  type?: string;
  paymentMethod?: string;
  isCompleted?: boolean;
  from?: Date;
  to?: Date;
}

interface TransactionRow {
  id: number;
  userId: number;
  type: string;
  amountKopeks: number;
  description: string | null;
  paymentMethod: string | null;
  externalId: string | null;
  isCompleted: boolean;
  createdAt: Date;
  completedAt: Date | null;
}

function toTransaction(row: TransactionRow): TransactionRecord {
  return {
    id: row.id,
    userId: row.userId,
    type: row.type,
    amountKopeks: row.amountKopeks,
    description: row.description,
    paymentMethod: row.paymentMethod,
    externalId: row.externalId,
    isCompleted: row.isCompleted,
    createdAt: row.createdAt,
    completedAt: row.completedAt,
  };
}

/** Equalities of a filter as SQL with its values; texts depend only on which keys are there, so prepared statements stay few. */
export function equalities(filter: TransactionFilter, values: unknown[]): string[] {
  const conditions: string[] = [];
  const add = (condition: (placeholder: string) => string, value: unknown): void => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };
  if (filter.userId !== undefined) add((p) => `user_id = ${p}::bigint`, filter.userId);
  if (filter.type !== undefined) add((p) => `type = ${p}`, filter.type);
  if (filter.paymentMethod !== undefined) add((p) => `payment_method = ${p}`, filter.paymentMethod);
  // Spelt out, so that the index of the few that are not completed can serve.
  if (filter.isCompleted !== undefined) conditions.push(filter.isCompleted ? 'is_completed' : 'NOT is_completed');
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
  const rows = await db.sql<TransactionRow>(
    `SELECT id, user_id, type, amount_kopeks, description, payment_method, external_id, is_completed, created_at, completed_at
     FROM transactions WHERE ${conditions} ORDER BY created_at DESC, id DESC
     LIMIT $${values.push(limit)}::int OFFSET $${values.push(offset)}::bigint`,
    values,
  );
  return rows.map(toTransaction);
}
