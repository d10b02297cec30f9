import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { SPENDING } from './repo.ts';
import type { RiskFacts } from './risk-analysis.ts';

/** Where a month and a week begin, and from when on deposits of a referral are suspicious; kopeks. */
export interface RiskLimits {
  monthStart: Date;
  weekStart: Date;
  maxDepositsPerMonth: number;
  minDepositKopeks: number;
}

/** Facts of the score and what the analysis shows besides; kopeks. */
export interface RiskRow extends Omit<RiskFacts, 'earnedKopeks'> {
  /** Of all referrals, ever. */
  referralDepositsCount: number;
  referralDepositsKopeks: number;
  weekEarningsKopeks: number;
  earningsByReason: Record<string, { count: number; total: number }>;
}

/** Money from outside: bonuses have no payment method. */
const DEPOSIT = "t.type = 'deposit' AND t.payment_method IS NOT NULL AND t.is_completed AND NOT t.is_internal";

/** Deposits of the referrals of user $1 by referral; the month begins at $2. */
const REFERRAL_DEPOSITS = `SELECT t.user_id, count(*) AS deposits, sum(t.amount_kopeks) AS kopeks,
    count(*) FILTER (WHERE t.created_at >= $2::timestamptz) AS month_deposits,
    coalesce(sum(t.amount_kopeks) FILTER (WHERE t.created_at >= $2::timestamptz), 0) AS month_kopeks
  FROM users r JOIN transactions t ON t.user_id = r.id AND ${DEPOSIT} WHERE r.referred_by_id = $1::int GROUP BY t.user_id`;

/** Sums over the movements of a user and of the referrals, computed by the database. */
export async function readRiskFacts(db: Db, userId: number, limits: RiskLimits): Promise<RiskRow> {
  const [row] = await db.sql<RiskRow>(
    `WITH mine AS (
       SELECT coalesce(sum(t.amount_kopeks) FILTER (WHERE ${DEPOSIT}), 0)::bigint AS deposits,
         abs(coalesce(sum(t.amount_kopeks) FILTER (WHERE ${SPENDING}), 0))::bigint AS spending
       FROM transactions t WHERE t.user_id = $1::int),
     paid AS (${REFERRAL_DEPOSITS}),
     referrals AS (
       SELECT count(*)::int AS paying, coalesce(sum(deposits), 0)::int AS deposits, coalesce(sum(kopeks), 0)::bigint AS kopeks,
         (count(*) FILTER (WHERE month_deposits > $4::int))::int AS frequent,
         (count(*) FILTER (WHERE month_kopeks > $5::bigint))::int AS large
       FROM paid),
     reasons AS (
       SELECT e.reason, count(*)::int AS count, sum(e.amount_kopeks)::bigint AS total,
         (count(*) FILTER (WHERE e.created_at >= $3::timestamptz AND e.amount_kopeks > 0))::int AS week_count,
         coalesce(sum(e.amount_kopeks) FILTER (WHERE e.created_at >= $3::timestamptz), 0)::bigint AS week_kopeks
       FROM referral_earnings e WHERE e.user_id = $1::int GROUP BY e.reason)
     SELECT m.deposits AS deposits_kopeks, m.spending AS spending_kopeks,
       coalesce((SELECT f.referrals FROM referrer_stats f WHERE f.user_id = $1::int), 0) AS referral_count,
       r.paying AS paying_referrals, r.deposits AS referral_deposits_count, r.kopeks AS referral_deposits_kopeks,
       r.frequent AS frequent_referrals, r.large AS large_referrals,
       (SELECT coalesce(sum(week_count), 0)::int FROM reasons) AS week_earnings_count,
       (SELECT coalesce(sum(week_kopeks), 0)::bigint FROM reasons) AS week_earnings_kopeks,
       (SELECT coalesce(jsonb_object_agg(reason, jsonb_build_object('count', count, 'total', total)), '{}') FROM reasons) AS earnings_by_reason
     FROM mine m CROSS JOIN referrals r`,
    [userId, limits.monthStart, limits.weekStart, limits.maxDepositsPerMonth, limits.minDepositKopeks],
  );
  return row!;
}

const REFERRAL = columns('User', ['id', 'username', 'firstName', 'lastName', 'messengerId', 'email']);

/** A referral with suspicious deposits in the last 30 days; kopeks. */
export type SuspiciousReferral = RowOf<typeof REFERRAL> & {
  depositsCount: number;
  depositsKopeks: number;
  isFrequent: boolean;
  isLarge: boolean;
};

/** The referrals that raise the score, those with the highest deposits first. */
export function listSuspiciousReferrals(
  db: Db,
  userId: number,
  limits: RiskLimits,
  limit: number,
): Promise<SuspiciousReferral[]> {
  return db.sql<SuspiciousReferral>(
    `SELECT ${REFERRAL.of('r')}, d.month_deposits::int AS deposits_count, d.month_kopeks::bigint AS deposits_kopeks,
       d.month_deposits > $3::int AS is_frequent, d.month_kopeks > $4::bigint AS is_large
     FROM (${REFERRAL_DEPOSITS}) d JOIN users r ON r.id = d.user_id
     WHERE d.month_deposits > $3::int OR d.month_kopeks > $4::bigint
     ORDER BY d.month_kopeks DESC, r.id LIMIT $5::int`,
    [userId, limits.monthStart, limits.maxDepositsPerMonth, limits.minDepositKopeks, limit],
  );
}
