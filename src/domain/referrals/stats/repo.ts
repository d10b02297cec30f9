import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { countActiveReferralsOf, hasLiveSubscription } from './active-sql.ts';
import { NOTHING, partsOf, type Window } from './rules.ts';
import type { DayStats, WindowSums } from './types.ts';

/**
 * Sums over windows, in their order: whole days from the counters by day, partial days from the rows themselves.
 * @param userId one referrer; null = everyone
 */
export async function sumWindows(db: Db, userId: number | null, windows: readonly Window[]): Promise<WindowSums[]> {
  const parts = windows.map(partsOf);
  const edges = parts.flatMap(({ edges }, n) => edges.map((edge) => ({ n, ...edge })));
  // $1 is in both, so that one list of values is sufficient.
  const days = userId === null ? 'referral_day_counters d WHERE $1::int IS NULL' : 'referrer_days d WHERE d.user_id = $1::int';
  const isReferral = userId === null ? 'u.referred_by_id IS NOT NULL' : 'u.referred_by_id = $1::int';
  const isEarning = userId === null ? 'true' : 'e.user_id = $1::int';
  const rows = await db.sql<{ n: number; referrals: number; kopeks: number }>(
    `SELECT p.n, x.referrals, x.kopeks FROM unnest($2::int[], $3::text[], $4::text[]) AS p (n, first_day, end_day)
     CROSS JOIN LATERAL (SELECT coalesce(sum(d.referrals), 0)::int AS referrals, coalesce(sum(d.earned_kopeks), 0)::bigint AS kopeks
       FROM ${days} AND d.day >= p.first_day::date AND d.day < p.end_day::date) x
     UNION ALL
     SELECT p.n,
       (SELECT count(*)::int FROM users u WHERE ${isReferral} AND u.created_at >= p.since::timestamptz AND u.created_at < p.until::timestamptz),
       (SELECT coalesce(sum(e.amount_kopeks), 0)::bigint FROM referral_earnings e
        WHERE ${isEarning} AND e.created_at >= p.since::timestamptz AND e.created_at < p.until::timestamptz)
     FROM unnest($5::int[], $6::text[], $7::text[]) AS p (n, since, until)`,
    [
      userId,
      parts.map((_, n) => n),
      parts.map((part) => part.days.from),
      parts.map((part) => part.days.to),
      edges.map((edge) => edge.n),
      edges.map((edge) => edge.since.toISOString()),
      edges.map((edge) => edge.until.toISOString()),
    ],
  );
  const sums = windows.map(() => ({ ...NOTHING }));
  for (const { n, referrals, kopeks } of rows) {
    sums[n]!.referralsCount += referrals;
    sums[n]!.earningsKopeks += kopeks;
  }
  return sums;
}

export async function findReferrerTotals(
  db: Db,
  userId: number,
): Promise<{ totalReferrals: number; paidReferrals: number; earningsKopeks: number }> {
  const [row] = await db.sql<{ totalReferrals: number; paidReferrals: number; earningsKopeks: number }>(
    `SELECT referrals AS total_referrals, paid_referrals, earned_kopeks AS earnings_kopeks FROM referrer_stats WHERE user_id = $1::int`,
    [userId],
  );
  return row ?? { totalReferrals: 0, paidReferrals: 0, earningsKopeks: 0 };
}

/** Totals of the service. */
export async function findTotals(db: Db): Promise<{ totalReferrals: number; paidReferrals: number; earningsKopeks: number }> {
  const [row] = await db.sql<{ totalReferrals: number; paidReferrals: number; earningsKopeks: number }>(
    `SELECT coalesce(sum(referrals), 0)::int AS total_referrals, coalesce(sum(paid_referrals), 0)::int AS paid_referrals,
       coalesce(sum(earned_kopeks), 0)::bigint AS earnings_kopeks FROM referral_day_counters`,
  );
  return row!;
}

export async function countReferrers(db: Db): Promise<number> {
  const [row] = await db.sql<{ total: number }>('SELECT count(*)::int AS total FROM referrer_stats WHERE referrals > 0');
  return row!.total;
}

export async function countActiveReferrals(db: Db, userId: number, now: Date): Promise<number> {
  const [row] = await db.sql<{ total: number }>(`SELECT ${countActiveReferralsOf('$1::int', '$2')} AS total`, [userId, now]);
  return row!.total;
}

/** Sums by day from a day on; days without referrals and rewards are left out. @param userId null = everyone */
export async function listDays(db: Db, userId: number | null, from: string): Promise<DayStats[]> {
  const days = userId === null ? 'referral_day_counters d WHERE $1::int IS NULL' : 'referrer_days d WHERE d.user_id = $1::int';
  return db.sql<DayStats>(
    `SELECT d.day::text AS date, sum(d.referrals)::int AS referrals_count, sum(d.earned_kopeks)::bigint AS earnings_kopeks
     FROM ${days} AND d.day >= $2::text::date GROUP BY d.day ORDER BY d.day`,
    [userId, from],
  );
}

const REFERRER = columns('User', ['id', 'messengerId', 'username', 'firstName', 'lastName', 'email', 'referralCode']);

export type TopReferrer = RowOf<typeof REFERRER> & { referralsCount: number; totalEarningsKopeks: number };

/** The referrers who earned most, then those with most referrals; deleted accounts are left out. */
export async function listTopReferrers(db: Db, limit: number): Promise<TopReferrer[]> {
  return db.sql<TopReferrer>(
    `SELECT ${REFERRER.of('u')}, f.referrals AS referrals_count, f.earned_kopeks AS total_earnings_kopeks FROM referrer_stats f JOIN users u ON u.id = f.user_id
     WHERE (f.referrals > 0 OR f.earned_kopeks > 0) AND u.status <> 'deleted'
     ORDER BY f.earned_kopeks DESC, f.referrals DESC, f.user_id LIMIT $1::int`,
    [limit],
  );
}

/** The same since a given time. */
export async function listTopReferrersSince(db: Db, limit: number, since: Date): Promise<TopReferrer[]> {
  const { days, edges } = partsOf({ since, until: null });
  return db.sql<TopReferrer>(
    `WITH earned AS MATERIALIZED (
       SELECT x.user_id, sum(x.referrals)::int AS referrals, sum(x.kopeks)::bigint AS kopeks FROM (
         SELECT d.user_id, d.referrals, d.earned_kopeks AS kopeks FROM referrer_days d WHERE d.day >= $2::text::date
         UNION ALL
         SELECT e.user_id, 0, e.amount_kopeks FROM referral_earnings e WHERE e.created_at >= $3::timestamptz AND e.created_at < $4::timestamptz
         UNION ALL
         SELECT n.referred_by_id, 1, 0 FROM users n
         WHERE n.referred_by_id IS NOT NULL AND n.created_at >= $3::timestamptz AND n.created_at < $4::timestamptz) x
       GROUP BY x.user_id HAVING sum(x.referrals) > 0 OR sum(x.kopeks) > 0)
     SELECT ${REFERRER.of('u')}, b.referrals AS referrals_count, b.kopeks AS total_earnings_kopeks FROM earned b JOIN users u ON u.id = b.user_id
     WHERE u.status <> 'deleted' ORDER BY b.kopeks DESC, b.referrals DESC, b.user_id LIMIT $1::int`,
    [limit, days.from, edges[0]?.since ?? since, edges[0]?.until ?? since],
  );
}

const REFERRAL = columns('User', [
  ...(['id', 'messengerId', 'username', 'firstName', 'lastName', 'createdAt', 'hasMadeFirstTopup'] as const),
]);

export type TopReferral = RowOf<typeof REFERRAL> & { isActive: boolean; totalEarningsKopeks: number };

/**
 * All referrals of one referrer, first those by which he earned most, also without any earning (spec 10 X24); what others earned by them
 * does not count (spec 04 section 4, ours).
 */
export async function listTopReferrals(db: Db, userId: number, limit: number, now: Date): Promise<TopReferral[]> {
  return db.sql<TopReferral>(
    `WITH top AS MATERIALIZED (
       SELECT x.referral_id, sum(x.kopeks)::bigint AS kopeks FROM (
         SELECT e.referral_id, e.amount_kopeks AS kopeks FROM referral_earnings e WHERE e.user_id = $1::int
         UNION ALL
         (SELECT n.id, 0 FROM users n WHERE n.referred_by_id = $1::int
            AND NOT EXISTS (SELECT 1 FROM referral_earnings e WHERE e.user_id = $1::int AND e.referral_id = n.id)
          ORDER BY n.id LIMIT $2::int)) x
       GROUP BY x.referral_id ORDER BY kopeks DESC, x.referral_id LIMIT $2::int)
     SELECT ${REFERRAL.of('r')}, ${hasLiveSubscription('$3')} AS is_active, top.kopeks AS total_earnings_kopeks
     FROM top JOIN users r ON r.id = top.referral_id ORDER BY top.kopeks DESC, r.id`,
    [userId, limit, now],
  );
}
