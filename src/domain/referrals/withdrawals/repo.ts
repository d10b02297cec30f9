import { columns, plainRow, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { isRowId } from '../../../core/row-id.ts';
import type { Language } from '../../messaging/texts.ts';
import type { LastRequest, PayoutFilter, WithdrawalStatus, WithdrawalSums } from './types.ts';

const REQUEST = columns('WithdrawalRequest', [
  ...(['id', 'userId', 'amountKopeks', 'status', 'paymentDetails', 'riskScore'] as const),
  ...(['firstApprovedBy', 'firstApprovedAt', 'firstComment', 'processedBy', 'processedAt', 'adminComment', 'createdAt'] as const),
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

const PAYOUT = columns('WithdrawalRequest', [
  ...(['id', 'userId', 'amountKopeks', 'status', 'paymentDetails', 'riskScore', 'firstApprovedBy', 'processedBy'] as const),
  ...(['createdAt', 'adminComment', 'transactionId', 'payoutTransactionId'] as const),
]);
const USER = columns('User', ['messengerId', 'username', 'firstName', 'lastName', 'email']);

/** A request that is to be paid out, or was. */
export type Payout = RowOf<typeof PAYOUT> & RowOf<typeof USER> & { processedAt: Date };

/** The payouts after a known one, in the order of their dates. The conditions are those of the partial index. */
export function listPayouts(
  db: Db,
  { from, to, status }: PayoutFilter,
  after: { processedAt: Date; id: number } | null,
  limit: number,
): Promise<Payout[]> {
  return db.sql<Payout>(
    `SELECT ${PAYOUT.of('w')}, w.processed_at, ${USER.of('u')}
     FROM withdrawal_requests w JOIN users u ON u.id = w.user_id
     WHERE w.status IN ('approved', 'completed') AND ($3::text IS NULL OR w.status = $3::text)
       AND (w.processed_at, w.id) > ($4::timestamptz, $5::int) AND w.processed_at >= $1::timestamptz AND w.processed_at < $2::timestamptz
     ORDER BY w.processed_at, w.id LIMIT $6::int`,
    [from, to, status, after?.processedAt ?? from, after?.id ?? 0, limit],
  );
}

const REQUESTER = columns('User', [
  ...(['id', 'status', 'messengerId', 'username', 'firstName', 'lastName', 'email', 'emailVerified', 'language'] as const),
  'balanceKopeks',
]);

/** The user of a request, with how to reach them. */
export type Requester = RowOf<typeof REQUESTER>;

/** Locks the user: the first lock of everything that creates, approves or completes a request (docs/database.md, Locks and their order). */
export async function lockRequester(db: Db, userId: number): Promise<Requester | null> {
  const [row] = await db.sql<Requester>(`SELECT ${REQUESTER.of()} FROM users WHERE id = $1::int FOR NO KEY UPDATE`, [userId]);
  return row ?? null;
}

export interface MyWithdrawalSums extends WithdrawalSums {
  language: string;
  /** Spending since the first earning, at most what was earned. For display. */
  referralSpentKopeks: number;
  last: LastRequest | null;
}

type SumsRow = Omit<MyWithdrawalSums, 'last'> & {
  lastStatus: LastRequest['status'] | null;
  lastCreatedAt: Date | null;
};

/** Movements that count as spending. */
export const SPENDING = "t.is_completed AND NOT t.is_internal AND t.type IN ('subscription_payment', 'withdrawal')";

/** What pending requests hold of the balance of user `u` (spec 10 M5). */
export const RESERVED = `coalesce((SELECT sum(q.amount_kopeks) FROM withdrawal_requests q
         WHERE q.user_id = u.id AND q.status = 'pending' AND q.reserve_transaction_id IS NOT NULL), 0)`;

/** Earnings of user `u` after a given time, which is a placeholder. */
export const earnedAfter = (timestamp: string) => `(SELECT coalesce(sum(e.amount_kopeks), 0) FROM referral_earnings e
         WHERE e.user_id = u.id AND e.created_at > ${timestamp}::timestamptz)::bigint`;

/**
 * What a user earned, withdrew, requested and spent; null when the user does not exist. Exact only under the user's lock.
 * @param maturedBefore earnings after this time cannot be withdrawn yet; null = all can
 */
export async function findWithdrawalSums(
  db: Db,
  userId: number,
  maturedBefore: Date | null = null,
): Promise<MyWithdrawalSums | null> {
  const [row] = await db.sql<SumsRow>(
    `SELECT u.language, (u.balance_kopeks + ${RESERVED})::bigint AS balance_kopeks, coalesce(f.earned_kopeks, 0)::bigint AS earned_kopeks,
       ${earnedAfter('$2')} AS maturing_kopeks,
       w.withdrawn AS withdrawn_kopeks, w.pending AS pending_kopeks,
       least(coalesce(f.earned_kopeks, 0), s.spent)::bigint AS referral_spent_kopeks,
       l.status AS last_status, l.created_at AS last_created_at
     FROM users u LEFT JOIN referrer_stats f ON f.user_id = u.id
     CROSS JOIN LATERAL (
       SELECT coalesce(sum(q.amount_kopeks) FILTER (WHERE q.status IN ('approved', 'completed')), 0)::bigint AS withdrawn,
         coalesce(sum(q.amount_kopeks) FILTER (WHERE q.status = 'pending'), 0)::bigint AS pending
       FROM withdrawal_requests q WHERE q.user_id = u.id) w
     CROSS JOIN LATERAL (
       SELECT abs(coalesce(sum(t.amount_kopeks), 0))::bigint AS spent FROM transactions t
       WHERE t.user_id = u.id AND ${SPENDING}
         AND t.created_at >= (SELECT min(e.created_at) FROM referral_earnings e WHERE e.user_id = u.id AND e.amount_kopeks > 0)) s
     LEFT JOIN LATERAL (
       SELECT q.status, q.created_at FROM withdrawal_requests q WHERE q.user_id = u.id
       ORDER BY q.created_at DESC, q.id DESC LIMIT 1) l ON true
     WHERE u.id = $1::int`,
    [userId, maturedBefore],
  );
  if (!row) return null;
  const { lastStatus: status, lastCreatedAt: createdAt, ...sums } = row;
  return { ...sums, last: status !== null && createdAt !== null ? { status, createdAt } : null };
}
