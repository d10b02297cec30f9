import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

const REFERRAL = columns('User', [
  ...(['id', 'messengerId', 'username', 'firstName', 'lastName', 'createdAt', 'lastActivity', 'hasMadeFirstTopup'] as const),
]);

/** A referral as its referrer sees it in the mini-app; kopeks that the referrer earned by it. */
export type MiniappReferral = RowOf<typeof REFERRAL> & { earnedKopeks: number; topups: number };

/** The newest referrals of a user. */
export function listNewestReferrals(db: Db, userId: number, limit: number): Promise<MiniappReferral[]> {
  return db.sql<MiniappReferral>(
    `WITH page AS MATERIALIZED (
       SELECT * FROM users WHERE referred_by_id = $1::int ORDER BY created_at DESC, id DESC LIMIT $2::int)
     SELECT ${REFERRAL.of('r')},
       (SELECT coalesce(sum(e.amount_kopeks), 0)::bigint FROM referral_earnings e
         WHERE e.user_id = $1::int AND e.referral_id = r.id) AS earned_kopeks,
       (SELECT count(*)::int FROM transactions x
         WHERE x.user_id = r.id AND x.type = 'deposit' AND x.is_completed AND NOT x.is_internal) AS topups
     FROM page r ORDER BY r.created_at DESC, r.id DESC`,
    [userId, limit],
  );
}

/** Referrals with a first top-up, and kopeks earned since a given time. */
export async function findRecentTotals(db: Db, userId: number, since: Date): Promise<{ paid: number; earnedKopeks: number }> {
  const [row] = await db.sql<{ paid: number; earnedKopeks: number }>(
    `SELECT coalesce((SELECT paid_referrals FROM referrer_stats WHERE user_id = $1::int), 0) AS paid,
       (SELECT coalesce(sum(amount_kopeks), 0)::bigint FROM referral_earnings
         WHERE user_id = $1::int AND created_at >= $2::timestamptz) AS earned_kopeks`,
    [userId, since],
  );
  return row!;
}
