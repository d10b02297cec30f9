import type { Db } from '../../../core/db/db.ts';

/** Numbers over all users (spec 01 section 11.1); kopeks. */
export interface UsersStats {
  totalUsers: number;
  activeUsers: number;
  deletedUsers: number;
  /** Active users created since midnight, in 7 days, in 30 days. */
  newToday: number;
  newWeek: number;
  newMonth: number;
  withSubscription: number;
  withActiveSubscription: number;
  withTrial: number;
  withExpiredSubscription: number;
  /** Of active users. */
  totalBalanceKopeks: number;
  /** Users seen since midnight, in 7 days, in 30 days. */
  activeToday: number;
  activeWeek: number;
  activeMonth: number;
}

export interface StatsMoments {
  /** UTC midnight. */
  today: Date;
  weekAgo: Date;
  monthAgo: Date;
}

type UserNumbers = Pick<
  UsersStats,
  'newToday' | 'newWeek' | 'newMonth' | 'totalBalanceKopeks' | 'activeToday' | 'activeWeek' | 'activeMonth'
>;
type SubscriptionNumbers = Pick<
  UsersStats,
  'withSubscription' | 'withActiveSubscription' | 'withTrial' | 'withExpiredSubscription'
>;

/** Exact, from the counters of prisma/sql/user-counters.sql. */
export async function countStatuses(db: Db): Promise<Pick<UsersStats, 'totalUsers' | 'activeUsers' | 'deletedUsers'>> {
  const [row] = await db.sql<Pick<UsersStats, 'totalUsers' | 'activeUsers' | 'deletedUsers'>>(
    `SELECT coalesce(sum(users), 0)::int AS "totalUsers",
       coalesce(sum(users) FILTER (WHERE status = 'active'), 0)::int AS "activeUsers",
       coalesce(sum(users) FILTER (WHERE status = 'deleted'), 0)::int AS "deletedUsers" FROM user_counters`,
  );
  return row!;
}

/** Reads the narrow table beside `users`. */
export async function sumUsers(db: Db, at: StatsMoments): Promise<UserNumbers> {
  const [row] = await db.sql<UserNumbers>(
    `SELECT coalesce(sum(balance_kopeks) FILTER (WHERE status = 'active'), 0)::bigint AS "totalBalanceKopeks",
       count(*) FILTER (WHERE status = 'active' AND created_at >= $1::timestamptz)::int AS "newToday",
       count(*) FILTER (WHERE status = 'active' AND created_at >= $2::timestamptz)::int AS "newWeek",
       count(*) FILTER (WHERE status = 'active' AND created_at >= $3::timestamptz)::int AS "newMonth",
       count(*) FILTER (WHERE last_activity >= $1::timestamptz)::int AS "activeToday",
       count(*) FILTER (WHERE last_activity >= $2::timestamptz)::int AS "activeWeek",
       count(*) FILTER (WHERE last_activity >= $3::timestamptz)::int AS "activeMonth" FROM user_stats`,
    [at.today, at.weekAgo, at.monthAgo],
  );
  return row!;
}

export async function countSubscriptions(db: Db, now: Date): Promise<SubscriptionNumbers> {
  const [row] = await db.sql<SubscriptionNumbers>(
    `SELECT count(*)::int AS "withSubscription",
       count(*) FILTER (WHERE status = 'active' AND end_date > $1::timestamptz)::int AS "withActiveSubscription",
       count(*) FILTER (WHERE is_trial)::int AS "withTrial",
       count(*) FILTER (WHERE status = 'expired' OR end_date <= $1::timestamptz)::int AS "withExpiredSubscription" FROM subscriptions`,
    [now],
  );
  return row!;
}
