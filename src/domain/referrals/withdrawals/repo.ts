import { columns, plainRow, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';
import type { Language } from '../../messaging/texts.ts';
import type { WithdrawalStatus } from './types.ts';

const REQUEST = columns('WithdrawalRequest', [
  ...(['id', 'userId', 'amountKopeks', 'status', 'paymentDetails', 'riskScore'] as const),
  ...(['firstApprovedBy', 'firstComment', 'processedBy', 'processedAt', 'adminComment', 'createdAt'] as const),
  'reserveTransactionId',
]);

export type WithdrawalRequest = RowOf<typeof REQUEST>;

export interface NewRequest {
  userId: number;
  amountKopeks: number;
  paymentDetails: string;
  riskScore: number;
  /** JSON. */
  riskAnalysis: string;
  createdAt: Date;
}

export async function insertRequest(db: Db, request: NewRequest): Promise<WithdrawalRequest> {
  const [row] = await db.sql<WithdrawalRequest>(
    `INSERT INTO withdrawal_requests (user_id, amount_kopeks, payment_details, risk_score, risk_analysis, created_at)
     VALUES ($1::int, $2::bigint, $3, $4::int, $5, $6::timestamptz) RETURNING ${REQUEST.of()}`,
    [
      ...[request.userId, request.amountKopeks, request.paymentDetails, request.riskScore, request.riskAnalysis],
      request.createdAt,
    ],
  );
  return row!;
}

/** Whose request it is; null for an unknown id. */
export async function findRequester(db: Db, id: number): Promise<number | null> {
  if (!isRowId(id)) return null;
  return (await db.prisma.withdrawalRequest.findUnique({ where: { id }, select: { userId: true } }))?.userId ?? null;
}

/** Locks a request of a user who is locked already. Null when it belongs to somebody else by now (a merge of accounts). */
export async function lockRequest(db: Db, id: number, userId: number): Promise<WithdrawalRequest | null> {
  const [row] = await db.sql<WithdrawalRequest>(
    `SELECT ${REQUEST.of()} FROM withdrawal_requests WHERE id = $1::int AND user_id = $2::int FOR UPDATE`,
    [id, userId],
  );
  return row ?? null;
}

export interface Processing {
  /** Undefined leaves the state. */
  status?: WithdrawalStatus;
  processedBy: number;
  processedAt: Date;
  /** Undefined leaves the comment. */
  adminComment?: string | null;
  /** Undefined leaves the details. */
  paymentDetails?: null;
  transactionId?: number;
  payoutTransactionId?: number;
}

/** Changes a locked request. */
export async function updateRequest(db: Db, id: number, changes: Processing): Promise<void> {
  await db.prisma.withdrawalRequest.update({ where: { id }, data: changes, select: { id: true } });
}

/** Records the first of two approvals of a locked request, which stays pending. */
export async function recordFirstApproval(
  db: Db,
  id: number,
  approval: { adminId: number; comment: string | null; now: Date },
): Promise<void> {
  await db.prisma.withdrawalRequest.update({
    where: { id },
    data: { firstApprovedBy: approval.adminId, firstApprovedAt: approval.now, firstComment: approval.comment },
    select: { id: true },
  });
}

/** Moves the amount of a new request of a locked user to its hold account (spec 10 M5). @returns whether the balance covers it */
export async function reserveAmount(db: Db, id: number, description: string, now: Date): Promise<boolean> {
  const [row] = await db.sql<{ isReserved: boolean }>('SELECT reserve_withdrawal($1::int, $2, $3::timestamptz) AS is_reserved', [
    ...[id, description, now],
  ]);
  return row!.isReserved;
}

/**
 * Ends a pending request of a locked user without an approval; what it holds goes back to the balance (prisma/sql/withdrawals.sql).
 * @param texts of the movement, and of a debt that is paid from it, by language
 * @returns false when there is no such request
 */
export async function endPending(
  db: Db,
  { id, userId, status }: { id: number; userId: number; status: 'rejected' | 'cancelled' },
  texts: { description: string; debtTitles: Record<Language, string> },
  now: Date,
): Promise<boolean> {
  if (!isRowId(id)) return false;
  const [row] = await db.sql<{ isEnded: boolean }>(
    'SELECT end_withdrawal($1::int, $2::int, $3, $4, $5::timestamptz, $6::jsonb) AS is_ended',
    [id, userId, status, texts.description, now, JSON.stringify(texts.debtTitles)],
  );
  return row!.isEnded;
}

const MINE = columns('WithdrawalRequest', [
  ...(['id', 'amountKopeks', 'status', 'paymentDetails', 'adminComment', 'createdAt', 'processedAt'] as const),
]);

export type MyRequest = RowOf<typeof MINE>;

/** The newest requests of a user, and the number of all. */
export async function listMyRequests(db: Db, userId: number, limit: number): Promise<{ items: MyRequest[]; total: number }> {
  const select = Object.fromEntries(MINE.fields.map((field) => [field, true])) as Record<(typeof MINE.fields)[number], true>;
  const [items, total] = await Promise.all([
    db.prisma.withdrawalRequest.findMany({
      where: { userId },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      take: limit,
      select,
    }),
    db.prisma.withdrawalRequest.count({ where: { userId } }),
  ]);
  return { items: items.map((item) => plainRow('WithdrawalRequest', item)), total };
}
