import type { App } from '../../../core/app.ts';
import { addDays, MINUTE_MS } from '../../../core/clock.ts';
import type { Db } from '../../../core/db/db.ts';
import { SMALL_LIST } from '../list/rules.ts';

/** How old the sums of a large installation may be: reading every row takes most of a second. */
const CACHE_MS = MINUTE_MS;
const KEY = 'admin-users-stats';

/**
 * Numbers over all users (spec 01 section 11.1). Counts by status are exact at any size; the other numbers are exact up to 20,000
 * users, and above that at most a minute old.
 */
export async function readUsersStats(app: App): Promise<UsersStats> {
  const statuses = await countStatuses(app.db);
  const sums = statuses.totalUsers <= SMALL_LIST ? await readSums(app) : await app.cache.read(KEY, CACHE_MS, () => readSums(app));
  return {
    ...statuses,
    ...sums,
    blockedUsers: statuses.totalUsers - statuses.activeUsers,
    avgBalanceKopeks: statuses.activeUsers === 0 ? 0 : Math.trunc(sums.totalBalanceKopeks / statuses.activeUsers),
  };
}

async function readSums(app: App) {
  const now = app.clock.now();
  const today = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
  const [users, subscriptions] = await Promise.all([
    sumUsers(app.db, { today, weekAgo: addDays(now, -7), monthAgo: addDays(now, -30) }),
    countSubscriptions(app.db, now),
  ]);
  return { ...users, ...subscriptions };
}

/** Numbers over all users; kopeks. */
interface UsersStats {
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

interface StatsTimestamps {
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
async function countStatuses(db: Db): Promise<Pick<UsersStats, 'totalUsers' | 'activeUsers' | 'deletedUsers'>> {
  const [row] = await db.sql<Pick<UsersStats, 'totalUsers' | 'activeUsers' | 'deletedUsers'>>(
    `SELECT coalesce(sum(users), 0)::int AS total_users,
       coalesce(sum(users) FILTER (WHERE status = 'active'), 0)::int AS active_users,
       coalesce(sum(users) FILTER (WHERE status = 'deleted'), 0)::int AS deleted_users FROM user_counters WHERE status <> 'erased'`,
  );
  return row!;
}

/** Reads `user_stats`, whose rows are narrower than those of `users`. */
async function sumUsers(db: Db, at: StatsTimestamps): Promise<UserNumbers> {
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

async function countSubscriptions(db: Db, now: Date): Promise<SubscriptionNumbers> {
  const [row] = await db.sql<SubscriptionNumbers>(
    `SELECT count(*)::int AS users_with_subscription,
       count(*) FILTER (WHERE status = 'active' AND end_date > $1::timestamptz)::int AS users_with_active_subscription,
       count(*) FILTER (WHERE is_trial)::int AS users_with_trial,
       count(*) FILTER (WHERE status = 'expired' OR end_date <= $1::timestamptz)::int AS users_with_expired_subscription FROM subscriptions`,
    [now],
  );
  return row!;
}
