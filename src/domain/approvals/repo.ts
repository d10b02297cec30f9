import { columns, type RowOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { isRowId } from '../../core/row-id.ts';

/** A change of money that waits for a second administrator (spec 01 section 4.8). */
type Approval = Rows['Approval'];
export type ApprovalKind = Approval['kind'];
type ApprovalStatus = Approval['status'];

const APPROVAL = columns('Approval', [
  ...(['id', 'kind', 'status', 'userId', 'paymentId', 'amountKopeks', 'description', 'isShown'] as const),
  ...(['requestedBy', 'requesterId', 'createdAt', 'expiresAt', 'decidedBy', 'decidedAt', 'reason'] as const),
  ...(['reserveTransactionId', 'releaseTransactionId'] as const),
]);
const USER = columns('User', ['messengerId', 'username', 'firstName', 'lastName', 'email']);

/** With the amount that is held of the balance, in kopeks, and who the user is. */
const LISTED = `${APPROVAL.of('a')}, CASE WHEN a.status = 'waiting' THEN coalesce(-h.amount_kopeks, 0) ELSE 0 END AS reserved_kopeks,
  ${USER.of('u')}`;
const FROM = 'FROM approvals a LEFT JOIN transactions h ON h.id = a.reserve_transaction_id LEFT JOIN users u ON u.id = a.user_id';

type Nullable<T> = { [F in keyof T]: T[F] | null };

export type ListedApproval = RowOf<typeof APPROVAL> & { reservedKopeks: number } & Nullable<RowOf<typeof USER>>;

export interface ApprovalFilter {
  status: Exclude<ApprovalStatus, 'exempt'> | null;
  kind: ApprovalKind | null;
  limit: number;
  offset: number;
}

/** Newest first, without those below the amounts. */
export async function listApprovals(
  db: Db,
  { status, kind, limit, offset }: ApprovalFilter,
): Promise<{ items: ListedApproval[]; total: number }> {
  const where = `WHERE a.status <> 'exempt' AND ($1::text IS NULL OR a.status = $1) AND ($2::text IS NULL OR a.kind = $2)`;
  const [items, [count]] = await Promise.all([
    db.sql<ListedApproval>(`SELECT ${LISTED} ${FROM} ${where} ORDER BY a.id DESC LIMIT $3::int OFFSET $4::bigint`, [
      ...[status, kind, limit, offset],
    ]),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM approvals a ${where}`, [status, kind]),
  ]);
  return { items, total: count!.total };
}

export async function findApproval(db: Db, id: number): Promise<ListedApproval | null> {
  if (!isRowId(id)) return null;
  const [row] = await db.sql<ListedApproval>(`SELECT ${LISTED} ${FROM} WHERE a.id = $1::int AND a.status <> 'exempt'`, [id]);
  return row ?? null;
}

/** Locks the user whose balance it is, before anything else of him. @returns null when he was erased */
export async function lockBalance(db: Db, userId: number): Promise<{ balanceKopeks: number } | null> {
  const [row] = await db.sql<{ balanceKopeks: number }>(
    "SELECT balance_kopeks FROM users WHERE id = $1::int AND referral_code <> 'erased:' || id FOR NO KEY UPDATE",
    [userId],
  );
  return row ?? null;
}

export type NewApproval = Pick<
  Approval,
  'kind' | 'userId' | 'paymentId' | 'amountKopeks' | 'description' | 'isShown' | 'requestedBy' | 'requesterId' | 'createdAt'
> & { status: 'waiting' | 'exempt'; expiresAt: Date | null };

export async function insertApproval(db: Db, row: NewApproval): Promise<number> {
  const [made] = await db.sql<{ id: number }>(
    `INSERT INTO approvals (kind, status, user_id, payment_id, amount_kopeks, description, is_shown, requested_by, requester_id, created_at,
       expires_at)
     VALUES ($1, $2, $3::int, $4::int, $5::bigint, $6, $7::boolean, $8, $9::int, $10::timestamptz, $11::timestamptz) RETURNING id`,
    [
      ...[row.kind, row.status, row.userId, row.paymentId, row.amountKopeks, row.description, row.isShown, row.requestedBy],
      ...[row.requesterId, row.createdAt, row.expiresAt],
    ],
  );
  return made!.id;
}

/**
 * What a requester has changed without an approval since `since`, kopeks in both directions. Other requests of his wait until this transaction
 * ends, so that two of them at once are summed. API tokens count as one requester, since a token can make others.
 */
export async function sumWithoutApproval(db: Db, requestedBy: string, kind: ApprovalKind, since: Date): Promise<number> {
  const isToken = requestedBy.startsWith('token:');
  await db.sql(`SELECT 1 AS locked FROM pg_advisory_xact_lock(hashtext('approvals:' || $1))`, [isToken ? 'token' : requestedBy]);
  const [row] = await db.sql<{ kopeks: number }>(
    `SELECT coalesce(sum(abs(amount_kopeks)), 0)::bigint AS kopeks FROM approvals
     WHERE (requested_by = $1 OR ($4::boolean AND requested_by LIKE 'token:%')) AND kind = $2 AND status = 'exempt'
       AND created_at > $3::timestamptz`,
    [requestedBy, kind, since, isToken],
  );
  return row!.kopeks;
}

/** Whose money a refund that was just requested gives back, and how much, below 0. */
export async function readRequestedRefund(
  db: Db,
  refundId: number,
): Promise<{ userId: number | null; paymentId: number; amountKopeks: number }> {
  const [row] = await db.sql<{ userId: number | null; paymentId: number; amountKopeks: number }>(
    `SELECT p.user_id, r.payment_id, -r.amount_kopeks AS amount_kopeks
     FROM payment_reversals r JOIN payments p ON p.id = r.payment_id WHERE r.id = $1::int`,
    [refundId],
  );
  return row!;
}

/** @returns whether the balance of the locked user covers it; false has written nothing */
export async function reserveForApproval(db: Db, id: number, amountKopeks: number, now: Date): Promise<boolean> {
  const [row] = await db.sql<{ isReserved: boolean }>(
    'SELECT reserve_for_approval($1::int, $2::bigint, $3::timestamptz) AS is_reserved',
    [...[id, amountKopeks, now]],
  );
  return row!.isReserved;
}

export interface ApprovalEnd {
  status: 'approved' | 'refused' | 'withdrawn' | 'expired';
  decidedBy: number | null;
  reason: string | null;
}

/** Ends a waiting one of a locked user; what it holds is on the balance again. @returns false when it does not wait any more */
export async function endApproval(db: Db, id: number, { status, decidedBy, reason }: ApprovalEnd, now: Date): Promise<boolean> {
  const [row] = await db.sql<{ isEnded: boolean }>('SELECT end_approval($1::int, $2, $3::int, $4, $5::timestamptz) AS is_ended', [
    ...[id, status, decidedBy, reason, now],
  ]);
  return row!.isEnded;
}

/** Waiting ones that are over at `now`, the oldest first. */
export async function listOverdue(db: Db, now: Date, limit: number): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `SELECT id FROM approvals WHERE status = 'waiting' AND expires_at <= $1::timestamptz ORDER BY expires_at, id LIMIT $2::int`,
    [now, limit],
  );
  return rows.map(({ id }) => id);
}

/** Deletes what no sum reads any more. @returns how many */
export async function deleteExempt(db: Db, before: Date): Promise<number> {
  const { count } = await db.prisma.approval.deleteMany({ where: { status: 'exempt', createdAt: { lt: before } } });
  return count;
}
