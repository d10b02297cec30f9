import type { Db } from '../../../core/db/db.ts';
import { countActiveReferralsOf } from '../stats/active-sql.ts';

/** What a user's own page starts from; kopeks. */
export interface OwnFigures {
  referralCode: string;
  commissionPercent: number | null;
  balanceKopeks: number;
  totalReferrals: number;
  activeReferrals: number;
  earnedKopeks: number;
  /** Of requests that were approved or completed. */
  withdrawnKopeks: number;
  /** Of requests that wait. */
  pendingKopeks: number;
}

export async function findOwnFigures(db: Db, userId: number, now: Date): Promise<OwnFigures | null> {
  const [row] = await db.sql<OwnFigures>(
    `SELECT u.referral_code AS "referralCode", u.referral_commission_percent::float8 AS "commissionPercent",
       u.balance_kopeks AS "balanceKopeks", coalesce(f.referrals, 0) AS "totalReferrals",
       ${countActiveReferralsOf('u.id', '$2')} AS "activeReferrals",
       coalesce(f.earned_kopeks, 0) AS "earnedKopeks", w.withdrawn AS "withdrawnKopeks", w.pending AS "pendingKopeks"
     FROM users u LEFT JOIN referrer_stats f ON f.user_id = u.id
     CROSS JOIN LATERAL (
       SELECT coalesce(sum(q.amount_kopeks) FILTER (WHERE q.status IN ('approved', 'completed')), 0)::bigint AS withdrawn,
         coalesce(sum(q.amount_kopeks) FILTER (WHERE q.status = 'pending'), 0)::bigint AS pending
       FROM withdrawal_requests q WHERE q.user_id = u.id) w
     WHERE u.id = $1::int`,
    [userId, now],
  );
  return row ?? null;
}

interface Slice {
  limit: number;
  offset: number;
}

export interface OwnReferral {
  id: number;
  username: string | null;
  firstName: string | null;
  createdAt: Date;
  /** In any state. */
  hasSubscription: boolean;
  hasPaid: boolean;
}

/** Whom a user invited, newest first, with their number. */
export async function listOwnReferrals(db: Db, userId: number, slice: Slice): Promise<{ items: OwnReferral[]; total: number }> {
  const [items, [count]] = await Promise.all([
    db.sql<OwnReferral>(
      `SELECT r.id, r.username, r.first_name AS "firstName", r.created_at AS "createdAt",
         EXISTS (SELECT 1 FROM subscriptions s WHERE s.user_id = r.id) AS "hasSubscription", r.has_had_paid_subscription AS "hasPaid"
       FROM users r WHERE r.referred_by_id = $1::int ORDER BY r.created_at DESC, r.id DESC LIMIT $2::int OFFSET $3::bigint`,
      [userId, slice.limit, slice.offset],
    ),
    db.sql<{ total: number }>('SELECT count(*)::int AS total FROM users WHERE referred_by_id = $1::int', [userId]),
  ]);
  return { items, total: count!.total };
}

export interface OwnEarning {
  id: number;
  amountKopeks: number;
  reason: string;
  referralUsername: string | null;
  referralFirstName: string | null;
  campaignName: string | null;
  createdAt: Date;
}

/** A user's rewards, newest first, those of 0 kopeks included, with their number and the sum of all. */
export async function listOwnEarnings(
  db: Db,
  userId: number,
  slice: Slice,
): Promise<{ items: OwnEarning[]; total: number; totalKopeks: number }> {
  const [items, [all]] = await Promise.all([
    db.sql<OwnEarning>(
      `WITH page AS MATERIALIZED (
         SELECT e.* FROM referral_earnings e WHERE e.user_id = $1::int ORDER BY e.created_at DESC, e.id DESC LIMIT $2::int OFFSET $3::bigint)
       SELECT e.id, e.amount_kopeks AS "amountKopeks", e.reason, r.username AS "referralUsername", r.first_name AS "referralFirstName",
         c.name AS "campaignName", e.created_at AS "createdAt"
       FROM page e JOIN users r ON r.id = e.referral_id LEFT JOIN advertising_campaigns c ON c.id = e.campaign_id
       ORDER BY e.created_at DESC, e.id DESC`,
      [userId, slice.limit, slice.offset],
    ),
    db.sql<{ total: number; totalKopeks: number }>(
      `SELECT count(*)::int AS total, coalesce((SELECT earned_kopeks FROM referrer_stats WHERE user_id = $1::int), 0)::bigint AS "totalKopeks"
       FROM referral_earnings WHERE user_id = $1::int`,
      [userId],
    ),
  ]);
  return { items, ...all! };
}
