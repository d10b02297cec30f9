import type { TokenActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays, DAY_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { readUser, resolveUserId, setReferralCommission } from '../../users/account/read-user.ts';
import { listUsers } from '../../users/list/list-users.ts';
import type { Slice, UserView } from '../../users/types.ts';
import { effectiveCommissionPercent } from '../rewards.ts';
import { comparePeriods, readDailyStats, readReferrerStats, readTopReferrals } from '../stats/read-stats.ts';
import { usualWindows } from '../stats/rules.ts';
import type { ComparedPeriod, DayStats, ReferrerStats, TopReferral } from '../stats/types.ts';
import { listReferralsOfReferrer, listReferrerCounters, type ReferralRow } from './repo.ts';

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

export interface ReferrerPage extends Slice {
  items: Referrer[];
  total: number;
}

/**
 * Users as referrers, newest first: every user has a referral code and may become a referrer. The search and its total are those of
 * `listUsers`.
 */
export async function listReferrers(app: App, request: Slice & { search?: string | null | undefined }): Promise<ReferrerPage> {
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
 * Sets the percentage that a user earns of the payments of referrals, partner or not (spec 04 section 4).
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
