import type { Db } from '../../../core/db/db.ts';
import { countActiveReferralsOf } from '../stats/active-sql.ts';
import { partsOf, type Window } from '../stats/rules.ts';

/** A referrer's figures for a list; kopeks. */
export interface ReferrerRow {
  id: number;
  /** Personal; null = the service-wide one. */
  commissionPercent: number | null;
  invitedCount: number;
  activeReferrals: number;
  earnedKopeks: number;
  earnedInWindowKopeks: number;
}

/** Figures of all users of a page in one statement. @param window without end; what was earned in it is given apart */
export async function listReferrerFigures(db: Db, ids: readonly number[], window: Window, now: Date): Promise<ReferrerRow[]> {
  const { days, edges } = partsOf(window);
  const [edge] = edges;
  return db.sql<ReferrerRow>(
    `SELECT u.id, u.referral_commission_percent::float8 AS "commissionPercent", coalesce(f.referrals, 0) AS "invitedCount",
       coalesce(f.earned_kopeks, 0) AS "earnedKopeks",
       ${countActiveReferralsOf('u.id', '$2')} AS "activeReferrals",
       ((SELECT coalesce(sum(d.earned_kopeks), 0) FROM referrer_days d WHERE d.user_id = u.id AND d.day >= $3::text::date)
        + (SELECT coalesce(sum(e.amount_kopeks), 0) FROM referral_earnings e
           WHERE e.user_id = u.id AND e.created_at >= $4::timestamptz AND e.created_at < $5::timestamptz))::bigint AS "earnedInWindowKopeks"
     FROM users u LEFT JOIN referrer_stats f ON f.user_id = u.id WHERE u.id = ANY($1::int[])`,
    [ids, now, days.from, edge?.since ?? now, edge?.until ?? now],
  );
}

/** A referral as the referrer's page shows one; kopeks. */
export interface ReferralRow {
  id: number;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  createdAt: Date;
  lastActivity: Date | null;
  hasMadeFirstTopup: boolean;
  balanceKopeks: number;
  /** What this referrer earned by him. */
  earnedKopeks: number;
  /** Completed deposits, bonuses included. */
  topupsCount: number;
}

/** Whom a user invited, newest first, with their number. */
export async function listReferralsOfReferrer(
  db: Db,
  userId: number,
  slice: { limit: number; offset: number },
): Promise<{ items: ReferralRow[]; total: number }> {
  const [items, [count]] = await Promise.all([
    db.sql<ReferralRow>(
      `WITH page AS MATERIALIZED (
         SELECT * FROM users WHERE referred_by_id = $1::int ORDER BY created_at DESC, id DESC LIMIT $2::int OFFSET $3::bigint)
       SELECT r.id, r.messenger_id AS "messengerId", r.username, r.first_name AS "firstName", r.last_name AS "lastName",
         r.created_at AS "createdAt", r.last_activity AS "lastActivity", r.has_made_first_topup AS "hasMadeFirstTopup",
         r.balance_kopeks AS "balanceKopeks",
         (SELECT coalesce(sum(e.amount_kopeks), 0)::bigint FROM referral_earnings e WHERE e.user_id = $1::int AND e.referral_id = r.id)
           AS "earnedKopeks",
         (SELECT count(*)::int FROM transactions t WHERE t.user_id = r.id AND t.type = 'deposit' AND t.is_completed AND NOT t.is_internal)
           AS "topupsCount"
       FROM page r ORDER BY r.created_at DESC, r.id DESC`,
      [userId, slice.limit, slice.offset],
    ),
    db.sql<{ total: number }>('SELECT count(*)::int AS total FROM users WHERE referred_by_id = $1::int', [userId]),
  ]);
  return { items, total: count!.total };
}
