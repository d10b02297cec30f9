import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';

export interface UserStats {
  totalUsers: number;
  activeUsers: number;
  /** With the status `blocked`. */
  blocked: number;
  /** Who ever paid for a subscription. */
  payers: number;
  /** Active users created since midnight UTC, and in the last 7 and 30 times 24 hours. */
  newToday: number;
  newWeek: number;
  newMonth: number;
}

/** SQL: active users created since a given time. Whole days come from the counter by day, the rest of the first day from its rows. */
const activeSince = (since: string): string =>
  `((SELECT coalesce(sum(users), 0) FROM user_day_counters WHERE status = 'active' AND day > utc_day(${since}))
    + (SELECT count(*) FROM users WHERE status = 'active' AND created_at >= ${since}
       AND created_at < (utc_day(${since}) + 1)::timestamp AT TIME ZONE 'UTC'))::int`;

export async function countUsers(db: Db, now: Date): Promise<UserStats> {
  const [row] = await db.sql<UserStats>(
    `SELECT coalesce(sum(users), 0)::int AS total_users,
       coalesce(sum(users) FILTER (WHERE status = 'active'), 0)::int AS active_users,
       coalesce(sum(users) FILTER (WHERE status = 'blocked'), 0)::int AS blocked,
       coalesce(sum(users) FILTER (WHERE has_paid), 0)::int AS payers,
       (SELECT coalesce(sum(users), 0)::int FROM user_day_counters WHERE status = 'active' AND day >= utc_day($1::timestamptz)) AS new_today,
       ${activeSince("($1::timestamptz - interval '168 hours')")} AS new_week,
       ${activeSince("($1::timestamptz - interval '720 hours')")} AS new_month
     FROM user_counters WHERE status <> 'erased'`,
    [now],
  );
  return row!;
}

export interface SubscriptionStats {
  total: number;
  /** By the stored status; the end is not considered. */
  active: number;
  expired: number;
  activeAndTrial: number;
  /** Trials of any status; those that are running; those that have ended and whose user never paid. */
  usedTrials: number;
  activeTrials: number;
  resettableTrials: number;
}

/** Only trials that end today are read row by row. One statement, hence one snapshot. */
export async function countSubscriptions(db: Db, now: Date): Promise<SubscriptionStats> {
  const [row] = await db.sql<SubscriptionStats>(
    `WITH days AS (
       SELECT coalesce(sum(trials) FILTER (WHERE day > utc_day($1::timestamptz) AND status IN ('trial', 'active')), 0) AS running,
         coalesce(sum(trials) FILTER (WHERE day < utc_day($1::timestamptz)), 0) AS ended FROM trial_day_counters),
     today AS (
       SELECT count(*) FILTER (WHERE end_date > $1::timestamptz AND status IN ('trial', 'active')) AS running,
         count(*) FILTER (WHERE end_date <= $1::timestamptz) AS ended FROM subscriptions
       WHERE is_trial AND end_date >= utc_day($1::timestamptz)::timestamp AT TIME ZONE 'UTC'
         AND end_date < (utc_day($1::timestamptz) + 1)::timestamp AT TIME ZONE 'UTC')
     SELECT coalesce(sum(c.subscriptions), 0)::int AS total,
       coalesce(sum(c.subscriptions) FILTER (WHERE c.status = 'active'), 0)::int AS active,
       coalesce(sum(c.subscriptions) FILTER (WHERE c.status = 'expired'), 0)::int AS expired,
       coalesce(sum(c.subscriptions) FILTER (WHERE c.status = 'active' AND c.is_trial), 0)::int AS active_and_trial,
       coalesce(sum(c.subscriptions) FILTER (WHERE c.is_trial), 0)::int AS used_trials,
       (SELECT days.running + today.running FROM days, today)::int AS active_trials,
       (SELECT days.ended + today.ended - (SELECT count(*) FROM paid_trials WHERE end_date <= $1::timestamptz) FROM days, today)::int
         AS resettable_trials
     FROM subscription_counters c`,
    [now],
  );
  return row!;
}

/** Changes from trial to paid since a given time; read from the index, whose rows of one month are few. */
export async function countConversions(db: Db, since: Date, now: Date): Promise<number> {
  const [row] = await db.sql<{ count: number }>(
    `SELECT count(*)::int AS count FROM subscription_conversions
     WHERE converted_at >= $1::timestamptz AND converted_at <= $2::timestamptz`,
    [since, now],
  );
  return row!.count;
}

/** Tickets that wait for support or for their user; closed ones, nearly all of the table, are not read. */
export async function countOpenTickets(db: Db): Promise<number> {
  const [row] = await db.sql<{ count: number }>(
    "SELECT count(*)::int AS count FROM tickets WHERE status IN ('open', 'answered')",
  );
  return row!.count;
}

const REFERRER = columns('User', ['id', 'messengerId', 'username', 'firstName', 'lastName', 'email']);

export type ReferrerRow = RowOf<typeof REFERRER> & { totalEarnedKopeks: number; referralsCount: number };

/** Who earned most, then who invited most, then the smaller id; read from the index of `referrer_stats`. */
export function listTopReferrers(db: Db, limit: number): Promise<ReferrerRow[]> {
  return db.sql<ReferrerRow>(
    `SELECT ${REFERRER.of('u')}, f.earned_kopeks AS total_earned_kopeks, f.referrals AS referrals_count
     FROM referrer_stats f JOIN users u ON u.id = f.user_id WHERE f.referrals > 0 OR f.earned_kopeks > 0
     ORDER BY f.earned_kopeks DESC, f.referrals DESC, f.user_id LIMIT $1::int`,
    [limit],
  );
}
