import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';

/** What dashboards of the administration show besides sales; everything from counters and indexes. */

export interface ServerTotals {
  totalServers: number;
  availableServers: number;
  /** Servers that an active or trial subscription has. */
  serversWithConnections: number;
  totalRevenueKopeks: number;
}

export async function readServerTotals(db: Db): Promise<ServerTotals> {
  const [row] = await db.sql<ServerTotals>(
    `SELECT count(*)::int AS total_servers, count(*) FILTER (WHERE s.is_available)::int AS available_servers,
       count(*) FILTER (WHERE (SELECT sum(c.users) FROM squad_counters c WHERE c.squad_uuid = s.squad_uuid) > 0)::int AS servers_with_connections,
       (SELECT coalesce(sum(amount), 0) FROM statistics_days WHERE kind = 'servers')::bigint AS total_revenue_kopeks
     FROM server_squads s`,
  );
  return row!;
}

/** Starts of days of the statistics' time zone. */
export interface Starts {
  today: Date;
  /** Of the day 30 days ago. */
  thirtyDays: Date;
  /** Of the first day of the month. */
  month: Date;
  first: Date;
  /** `YYYY-MM-DD`, today and the days 7 and 30 days before. */
  day: string;
  weekDay: string;
  monthDay: string;
}

/** @param firstDay `YYYY-MM-DD` */
export async function findStarts(db: Db, now: Date, firstDay: string): Promise<Starts> {
  const [row] = await db.sql<Starts>(
    `SELECT statistics_day_start(d.day) AS today, statistics_day_start(d.day - 30) AS thirty_days,
       statistics_day_start(date_trunc('month', d.day)::date) AS month, statistics_day_start($2::text::date) AS first,
       to_char(d.day, 'YYYY-MM-DD') AS day, to_char(d.day - 7, 'YYYY-MM-DD') AS week_day, to_char(d.day - 30, 'YYYY-MM-DD') AS month_day
     FROM (SELECT statistics_day($1::timestamptz) AS day) d`,
    [now, firstDay],
  );
  return row!;
}

const PERSON = columns('User', ['id', 'messengerId', 'username', 'firstName', 'lastName', 'email']);

export type Person = RowOf<typeof PERSON>;

export function listPeople(db: Db, ids: readonly number[]): Promise<Person[]> {
  return db.sql<Person>(`SELECT ${PERSON.of('u')} FROM users u WHERE u.id = ANY($1::int[])`, [[...ids]]);
}

export type ReferrerRow = Person & {
  invitedCount: number;
  invitedToday: number;
  invitedWeek: number;
  invitedMonth: number;
  earningsTodayKopeks: number;
  earningsWeekKopeks: number;
  earningsMonthKopeks: number;
  earningsTotalKopeks: number;
};

export interface Since {
  today: Date;
  week: Date;
  month: Date;
}

/**
 * The users with referrals who earned or invited most. Their windows are sums over the whole UTC days of `referrer_days` and the rows of the
 * first, partial one.
 */
export function listTopReferrers(db: Db, order: 'earnings' | 'invited', limit: number, since: Since): Promise<ReferrerRow[]> {
  const key = order === 'earnings' ? 'earned_kopeks' : 'referrals';
  const days = (timestamp: string, column: string) =>
    `coalesce((SELECT sum(d.${column}) FROM referrer_days d WHERE d.user_id = f.user_id AND d.day > utc_day(${timestamp})), 0)`;
  const within = (timestamp: string, column: string) =>
    `${column} >= ${timestamp} AND ${column} < (utc_day(${timestamp}) + 1)::timestamp AT TIME ZONE 'UTC'`;
  const invited = (timestamp: string) => `(${days(timestamp, 'referrals')} + (SELECT count(*) FROM users r
    WHERE r.referred_by_id = f.user_id AND ${within(timestamp, 'r.created_at')}))::int`;
  const earned = (
    timestamp: string,
  ) => `(${days(timestamp, 'earned_kopeks')} + (SELECT coalesce(sum(e.amount_kopeks), 0) FROM referral_earnings e
    WHERE e.user_id = f.user_id AND ${within(timestamp, 'e.created_at')}))::bigint`;
  const [today, week, month] = ['$2::timestamptz', '$3::timestamptz', '$4::timestamptz'] as const;
  return db.sql<ReferrerRow>(
    `WITH f AS MATERIALIZED (SELECT user_id, referrals, earned_kopeks FROM referrer_stats WHERE referrals > 0
       ORDER BY ${key} DESC, user_id LIMIT $1::int)
     SELECT ${PERSON.of('u')}, f.referrals AS invited_count, f.earned_kopeks AS earnings_total_kopeks,
       ${invited(today)} AS invited_today, ${invited(week)} AS invited_week, ${invited(month)} AS invited_month,
       ${earned(today)} AS earnings_today_kopeks, ${earned(week)} AS earnings_week_kopeks, ${earned(month)} AS earnings_month_kopeks
     FROM f JOIN users u ON u.id = f.user_id ORDER BY f.${key} DESC, f.user_id`,
    [limit, since.today, since.week, since.month],
  );
}

/** What users without referrals earned, for example because their referrals were deleted; an index has these few alone. */
export async function sumEarningsWithoutReferrals(db: Db): Promise<number> {
  const [row] = await db.sql<{ kopeks: number }>(
    `SELECT coalesce(sum(earned_kopeks), 0)::bigint AS kopeks FROM referrer_stats WHERE referrals <= 0 AND earned_kopeks <> 0`,
  );
  return row!.kopeks;
}

export async function countReferrers(db: Db): Promise<number> {
  const [row] = await db.sql<{ total: number }>('SELECT count(*)::int AS total FROM referrer_stats WHERE referrals > 0');
  return row!.total;
}

const CAMPAIGN = columns('AdvertisingCampaign', ['id', 'name', 'startParameter', 'bonusType', 'isActive', 'createdAt']);

export type CampaignRow = RowOf<typeof CAMPAIGN> & {
  registrations: number;
  /** Registrants with a subscription payment or a conversion. */
  payers: number;
  hadPaid: number;
  depositsKopeks: number;
};

/** The campaigns whose registrants paid in most. */
export function listTopCampaigns(db: Db, limit: number): Promise<CampaignRow[]> {
  return db.sql<CampaignRow>(
    `SELECT ${CAMPAIGN.of('c')}, coalesce(y.registrations, 0)::int AS registrations, coalesce(y.payers, 0)::int AS payers,
       coalesce(y.had_paid, 0)::int AS had_paid, coalesce(y.deposits_kopeks, 0)::bigint AS deposits_kopeks
     FROM advertising_campaigns c LEFT JOIN (
       SELECT campaign_id, sum(registrations) AS registrations, sum(payers) AS payers, sum(had_paid) AS had_paid,
         sum(deposits_kopeks) AS deposits_kopeks FROM campaign_counters GROUP BY campaign_id) y ON y.campaign_id = c.id
     ORDER BY coalesce(y.deposits_kopeks, 0) DESC, c.id LIMIT $1::int`,
    [limit],
  );
}

export async function sumCampaigns(db: Db): Promise<{ campaigns: number; registrations: number; depositsKopeks: number }> {
  const [row] = await db.sql<{ campaigns: number; registrations: number; depositsKopeks: number }>(
    `SELECT (SELECT count(*) FROM advertising_campaigns)::int AS campaigns, coalesce(sum(registrations), 0)::int AS registrations,
       coalesce(sum(deposits_kopeks), 0)::bigint AS deposits_kopeks FROM campaign_counters`,
  );
  return row!;
}
