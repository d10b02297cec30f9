import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { LastRequest, WithdrawalSums } from './types.ts';

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

/** Earnings of user `u` after a moment, which is a placeholder. */
export const earnedAfter = (moment: string) => `(SELECT coalesce(sum(e.amount_kopeks), 0) FROM referral_earnings e
         WHERE e.user_id = u.id AND e.created_at > ${moment}::timestamptz)::bigint`;

/**
 * What a user earned, withdrew, requested and spent; null when the user does not exist. Exact only under the user's lock.
 * @param maturedBefore earnings after this moment cannot be withdrawn yet; null = all can
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
