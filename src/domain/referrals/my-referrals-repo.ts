import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { countActiveReferralsOf } from './stats/active-sql.ts';
import { earnedAfter, RESERVED } from './withdrawals/sums-repo.ts';

/** What the referral page of a user starts from; kopeks. */
export interface MyCounters {
  referralCode: string;
  commissionPercent: number | null;
  /** With what pending withdrawal requests hold. */
  balanceKopeks: number;
  totalReferrals: number;
  activeReferrals: number;
  totalEarningsKopeks: number;
  /** Of these, what cannot be withdrawn yet. */
  maturingKopeks: number;
  /** Of requests that were approved or completed. */
  withdrawnKopeks: number;
  /** Of pending requests. */
  pendingKopeks: number;
}

export async function findMyCounters(db: Db, userId: number, now: Date, maturedBefore: Date | null): Promise<MyCounters | null> {
  const [row] = await db.sql<MyCounters>(
    `SELECT u.referral_code, u.referral_commission_percent::float8 AS commission_percent, (u.balance_kopeks + ${RESERVED})::bigint AS balance_kopeks,
       ${earnedAfter('$3')} AS maturing_kopeks,
       coalesce(f.referrals, 0) AS total_referrals, ${countActiveReferralsOf('u.id', '$2')} AS active_referrals,
       coalesce(f.earned_kopeks, 0) AS total_earnings_kopeks, w.withdrawn AS withdrawn_kopeks, w.pending AS pending_kopeks
     FROM users u LEFT JOIN referrer_stats f ON f.user_id = u.id
     CROSS JOIN LATERAL (
       SELECT coalesce(sum(q.amount_kopeks) FILTER (WHERE q.status IN ('approved', 'completed')), 0)::bigint AS withdrawn,
         coalesce(sum(q.amount_kopeks) FILTER (WHERE q.status = 'pending'), 0)::bigint AS pending
       FROM withdrawal_requests q WHERE q.user_id = u.id) w
     WHERE u.id = $1::int`,
    [userId, now, maturedBefore],
  );
  return row ?? null;
}

interface Slice {
  limit: number;
  offset: number;
}

const REFERRAL = columns('User', ['id', 'username', 'firstName', 'createdAt']);

export type MyReferral = RowOf<typeof REFERRAL> & {
  /** In any state. */
  hasSubscription: boolean;
  hasPaid: boolean;
};

/** The referrals of a user, newest first, with their number. */
export async function listReferrals(db: Db, userId: number, slice: Slice): Promise<{ items: MyReferral[]; total: number }> {
  const [items, [count]] = await Promise.all([
    db.sql<MyReferral>(
      `SELECT ${REFERRAL.of('r')}, r.has_had_paid_subscription AS has_paid,
         EXISTS (SELECT 1 FROM subscriptions s WHERE s.user_id = r.id) AS has_subscription
       FROM users r WHERE r.referred_by_id = $1::int ORDER BY r.created_at DESC, r.id DESC LIMIT $2::int OFFSET $3::bigint`,
      [userId, slice.limit, slice.offset],
    ),
    db.sql<{ total: number }>('SELECT count(*)::int AS total FROM users WHERE referred_by_id = $1::int', [userId]),
  ]);
  return { items, total: count!.total };
}

const EARNING = columns('ReferralEarning', ['id', 'amountKopeks', 'reason', 'createdAt']);

export type MyEarning = RowOf<typeof EARNING> & {
  referralUsername: string | null;
  referralFirstName: string | null;
  campaignName: string | null;
};

/** A user's rewards, newest first, those of 0 kopeks included, with their number and the sum of all. */
export async function listEarnings(
  db: Db,
  userId: number,
  slice: Slice,
): Promise<{ items: MyEarning[]; total: number; totalAmountKopeks: number }> {
  const [items, [all]] = await Promise.all([
    db.sql<MyEarning>(
      `WITH page AS MATERIALIZED (
         SELECT e.* FROM referral_earnings e WHERE e.user_id = $1::int ORDER BY e.created_at DESC, e.id DESC LIMIT $2::int OFFSET $3::bigint)
       SELECT ${EARNING.of('e')}, r.username AS referral_username, r.first_name AS referral_first_name, c.name AS campaign_name
       FROM page e JOIN users r ON r.id = e.referral_id LEFT JOIN advertising_campaigns c ON c.id = e.campaign_id
       ORDER BY e.created_at DESC, e.id DESC`,
      [userId, slice.limit, slice.offset],
    ),
    db.sql<{ total: number; totalAmountKopeks: number }>(
      `SELECT count(*)::int AS total,
         coalesce((SELECT earned_kopeks FROM referrer_stats WHERE user_id = $1::int), 0)::bigint AS total_amount_kopeks
       FROM referral_earnings WHERE user_id = $1::int`,
      [userId],
    ),
  ]);
  return { items, ...all! };
}
