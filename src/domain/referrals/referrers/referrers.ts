import type { TokenActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays, DAY_MS } from '../../../core/clock.ts';
import { columns, type RowOf } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { readUser, resolveUserId, setReferralCommission } from '../../users/account/read-user.ts';
import { listUsers } from '../../users/list/list-users.ts';
import type { Slice, UserView } from '../../users/types.ts';
import { effectiveCommissionPercent } from '../rewards.ts';
import { countActiveReferralsOf } from '../stats/active-sql.ts';
import { comparePeriods, readDailyStats, readReferrerStats, readTopReferrals } from '../stats/read-stats.ts';
import { partsOf, usualWindows, type Window } from '../stats/rules.ts';
import type { ComparedPeriod, DayStats, ReferrerStats, TopReferral } from '../stats/types.ts';

const IDLE_DAYS = 30;

/** A user as a referrer (spec 04 section 4); kopeks. */
export interface Referrer extends UserView {
  /** Personal; null = the service-wide one. */
  referralCommissionPercent: number | null;
  effectiveReferralCommissionPercent: number;
  invitedCount: number;
  activeReferrals: number;
  totalEarnedKopeks: number;
  /** In the last 30 days. */
  monthEarnedKopeks: number;
}

/**
 * Users as referrers, newest first: every user has a referral code and may become a referrer. The search and its total are those of
 * `listUsers`.
 */
export async function listReferrers(app: App, request: Slice & { search?: string | null | undefined }) {
  const { users, ...page } = await listUsers(app, request);
  return { ...page, items: await withCounters(app, users) };
}

/** One user as a referrer. @param number messenger id, else internal id @throws AppError 404 'User not found' */
async function readReferrer(app: App, number: number): Promise<Referrer> {
  const [referrer] = await withCounters(app, [await readUser(app, number)]);
  return referrer!;
}

async function withCounters(app: App, users: readonly UserView[]): Promise<Referrer[]> {
  if (users.length === 0) return [];
  const now = app.clock.now();
  const rows = await listReferrerCounters(
    app.db,
    users.map((user) => user.id),
    usualWindows(now).month,
    now,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  const standard = app.settings.get('REFERRAL_COMMISSION_PERCENT');
  return users.map((user) => {
    const row = byId.get(user.id);
    const commissionPercent = row?.commissionPercent ?? null;
    return {
      ...user,
      referralCommissionPercent: commissionPercent,
      effectiveReferralCommissionPercent: effectiveCommissionPercent(commissionPercent, standard),
      invitedCount: row?.invitedCount ?? 0,
      activeReferrals: row?.activeReferrals ?? 0,
      totalEarnedKopeks: row?.totalEarnedKopeks ?? 0,
      monthEarnedKopeks: row?.earnedInWindowKopeks ?? 0,
    };
  });
}

export interface Referral extends ReferralRow {
  daysSinceRegistration: number;
  /** Null = never active. */
  daysSinceActivity: number | null;
  /** Active within the last 30 days. */
  isActive: boolean;
}

export interface ReferrerDetail extends Slice {
  referrer: Referrer;
  referrals: Referral[];
  total: number;
}

/** A referrer with a page of the referrals, newest first. @throws AppError 404 'User not found' */
export async function readReferrerDetail(app: App, number: number, slice: Slice): Promise<ReferrerDetail> {
  const referrer = await readReferrer(app, number);
  const { items, total } = await listReferralsOfReferrer(app.db, referrer.id, slice);
  const now = app.clock.now();
  const idleSince = addDays(now, -IDLE_DAYS);
  const referrals = items.map((row) => ({
    ...row,
    daysSinceRegistration: wholeDays(row.createdAt, now),
    daysSinceActivity: row.lastActivity && wholeDays(row.lastActivity, now),
    isActive: row.lastActivity !== null && row.lastActivity >= idleSince,
  }));
  return { referrer, referrals, total, ...slice };
}

/** Never below 0: an activity may be recorded just after the clock was read. */
function wholeDays(from: Date, to: Date): number {
  return Math.max(0, Math.floor((to.getTime() - from.getTime()) / DAY_MS));
}

/**
 * Sets the percentage that a user earns of the payments of referrals, partner or not.
 * @param number messenger id, else internal id
 * @param percent 0..100; null = the service-wide one
 * @throws AppError 404 'User not found'
 */
export async function changeReferrerCommission(
  app: App,
  _actor: TokenActor,
  number: number,
  percent: number | null,
): Promise<Referrer> {
  await inTransaction(app, async (t) => setReferralCommission(t, await resolveUserId(t, number), percent));
  return readReferrer(app, number);
}

// Statistics of one referrer by the id that the Web API is given: messenger id first, then internal id. All: 404 'User not found'.

interface OfUser<T> {
  userId: number;
  stats: T;
}

async function ofUser<T>(app: App, number: number, read: (userId: number) => Promise<T>): Promise<OfUser<T>> {
  const userId = await resolveUserId(app, number);
  return { userId, stats: await read(userId) };
}

/** In total and by period (spec 04 section 5, item 1). */
export const readStatsOf = (app: App, number: number): Promise<OfUser<ReferrerStats>> =>
  ofUser(app, number, (userId) => readReferrerStats(app, userId));

/** By day (spec 04 section 5, item 4). */
export const readDaysOf = (app: App, number: number, days: number): Promise<OfUser<DayStats[]>> =>
  ofUser(app, number, (userId) => readDailyStats(app, userId, days));

/** The referrals by which the referrer earned most. */
export const readTopReferralsOf = (app: App, number: number, limit: number): Promise<OfUser<TopReferral[]>> =>
  ofUser(app, number, (userId) => readTopReferrals(app, userId, limit));

/** Two periods compared, in days. */
export const compareOf = (
  app: App,
  number: number,
  lengths: { current: number; previous: number },
): Promise<OfUser<{ current: ComparedPeriod; previous: ComparedPeriod }>> =>
  ofUser(app, number, (userId) => comparePeriods(app, userId, lengths));

/** Counters of a referrer in a list; kopeks. */
interface ReferrerCounters {
  id: number;
  /** Personal; null = the service-wide one. */
  commissionPercent: number | null;
  invitedCount: number;
  activeReferrals: number;
  totalEarnedKopeks: number;
  earnedInWindowKopeks: number;
}

/** Counters of all users of a page in one statement. @param window without end; the earnings within it are given separately */
async function listReferrerCounters(db: Db, ids: readonly number[], window: Window, now: Date): Promise<ReferrerCounters[]> {
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
type ReferralRow = RowOf<typeof REFERRAL> & {
  /** What this referrer earned by the referral. */
  totalEarnedKopeks: number;
  /** Completed deposits, bonuses included. */
  topupsCount: number;
};

/** The referrals of a user, newest first, with their number. */
async function listReferralsOfReferrer(
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
