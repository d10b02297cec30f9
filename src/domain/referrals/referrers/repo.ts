import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { countActiveReferralsOf } from '../stats/active-sql.ts';
import { partsOf, type Window } from '../stats/rules.ts';

/** Counters of a referrer in a list; kopeks. */
export interface ReferrerCounters {
  id: number;
  /** Personal; null = the service-wide one. */
  commissionPercent: number | null;
  invitedCount: number;
  activeReferrals: number;
  totalEarnedKopeks: number;
  earnedInWindowKopeks: number;
}

/** Counters of all users of a page in one statement. @param window without end; the earnings within it are given separately */
export async function listReferrerCounters(
  db: Db,
  ids: readonly number[],
  window: Window,
  now: Date,
): Promise<ReferrerCounters[]> {
  const { days, edges } = partsOf(window);
  const [edge] = edges;
  return db.sql<ReferrerCounters>(
    `SELECT u.id, u.referral_commission_percent::float8 AS commission_percent, coalesce(f.referrals, 0) AS invited_count,
       coalesce(f.earned_kopeks, 0) AS total_earned_kopeks,
       ${countActiveReferralsOf('u.id', '$2')} AS active_referrals,
       ((SELECT coalesce(sum(d.earned_kopeks), 0) FROM referrer_days d WHERE d.user_id = u.id AND d.day >= $3::text::date)
        + (SELECT coalesce(sum(e.amount_kopeks), 0) FROM referral_earnings e
           WHERE e.user_id = u.id AND e.created_at >= $4::timestamptz AND e.created_at < $5::timestamptz))::bigint AS earned_in_window_kopeks
     FROM users u LEFT JOIN referrer_stats f ON f.user_id = u.id WHERE u.id = ANY($1::int[])`,
    [ids, now, days.from, edge?.since ?? now, edge?.until ?? now],
  );
}

const REFERRAL = columns('User', [
  ...(['id', 'messengerId', 'username', 'firstName', 'lastName', 'createdAt', 'lastActivity', 'hasMadeFirstTopup'] as const),
  'balanceKopeks',
]);

/** A referral as the referrer's page shows one; kopeks. */
export type ReferralRow = RowOf<typeof REFERRAL> & {
  /** What this referrer earned by the referral. */
  totalEarnedKopeks: number;
  /** Completed deposits, bonuses included. */
  topupsCount: number;
};

/** The referrals of a user, newest first, with their number. */
export async function listReferralsOfReferrer(
  db: Db,
  userId: number,
  slice: { limit: number; offset: number },
): Promise<{ items: ReferralRow[]; total: number }> {
  const [items, [count]] = await Promise.all([
    db.sql<ReferralRow>(
      `WITH page AS MATERIALIZED (
         SELECT * FROM users WHERE referred_by_id = $1::int ORDER BY created_at DESC, id DESC LIMIT $2::int OFFSET $3::bigint)
       SELECT ${REFERRAL.of('r')},
         (SELECT coalesce(sum(e.amount_kopeks), 0)::bigint FROM referral_earnings e WHERE e.user_id = $1::int AND e.referral_id = r.id)
           AS total_earned_kopeks,
         (SELECT count(*)::int FROM transactions t WHERE t.user_id = r.id AND t.type = 'deposit' AND t.is_completed AND NOT t.is_internal)
           AS topups_count
       FROM page r ORDER BY r.created_at DESC, r.id DESC`,
      [userId, slice.limit, slice.offset],
    ),
    db.sql<{ total: number }>('SELECT count(*)::int AS total FROM users WHERE referred_by_id = $1::int', [userId]),
  ]);
  return { items, total: count!.total };
}
