import type { Db } from '../../../core/db/db.ts';

/** Numbers over all users (spec 01 section 11.1); kopeks. */
export interface UsersStats {
  totalUsers: number;
  activeUsers: number;
  /** Every other status, deleted users included. */
  blockedUsers: number;
  deletedUsers: number;
  /** Active users created since midnight, in 7 days, in 30 days. */
  newToday: number;
  newWeek: number;
  newMonth: number;
  usersWithSubscription: number;
  usersWithActiveSubscription: number;
  usersWithTrial: number;
  usersWithExpiredSubscription: number;
  /** Of active users. */
  totalBalanceKopeks: number;
  avgBalanceKopeks: number;
  /** Active users seen since midnight, in 7 days, in 30 days. */
  activeToday: number;
  activeWeek: number;
  activeMonth: number;
}

export interface StatsTimestamps {
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
  'usersWithSubscription' | 'usersWithActiveSubscription' | 'usersWithTrial' | 'usersWithExpiredSubscription'
>;

/** Exact, from the counters that triggers maintain. */
export async function countStatuses(db: Db): Promise<Pick<UsersStats, 'totalUsers' | 'activeUsers' | 'deletedUsers'>> {
  const [row] = await db.sql<Pick<UsersStats, 'totalUsers' | 'activeUsers' | 'deletedUsers'>>(
    `SELECT coalesce(sum(users), 0)::int AS total_users,
       coalesce(sum(users) FILTER (WHERE status = 'active'), 0)::int AS active_users,
       coalesce(sum(users) FILTER (WHERE status = 'deleted'), 0)::int AS deleted_users FROM user_counters WHERE status <> 'erased'`,
  );
  return row!;
}

/** Reads `user_stats`, whose rows are narrower than those of `users`. */
export async function sumUsers(db: Db, at: StatsTimestamps): Promise<UserNumbers> {
  const [row] = await db.sql<UserNumbers>(
    `SELECT coalesce(sum(balance_kopeks) FILTER (WHERE status = 'active'), 0)::bigint AS total_balance_kopeks,
       count(*) FILTER (WHERE status = 'active' AND created_at >= $1::timestamptz)::int AS new_today,
       count(*) FILTER (WHERE status = 'active' AND created_at >= $2::timestamptz)::int AS new_week,
       count(*) FILTER (WHERE status = 'active' AND created_at >= $3::timestamptz)::int AS new_month,
       count(*) FILTER (WHERE status = 'active' AND last_activity >= $1::timestamptz)::int AS active_today,
       count(*) FILTER (WHERE status = 'active' AND last_activity >= $2::timestamptz)::int AS active_week,
       count(*) FILTER (WHERE status = 'active' AND last_activity >= $3::timestamptz)::int AS active_month FROM user_stats`,
    [at.today, at.weekAgo, at.monthAgo],
  );
  return row!;
}

export async function countSubscriptions(db: Db, now: Date): Promise<SubscriptionNumbers> {
  const [row] = await db.sql<SubscriptionNumbers>(
    `SELECT count(*)::int AS users_with_subscription,
       count(*) FILTER (WHERE status = 'active' AND end_date > $1::timestamptz)::int AS users_with_active_subscription,
       count(*) FILTER (WHERE is_trial)::int AS users_with_trial,
       count(*) FILTER (WHERE status = 'expired' OR end_date <= $1::timestamptz)::int AS users_with_expired_subscription FROM subscriptions`,
    [now],
  );
  return row!;
}
