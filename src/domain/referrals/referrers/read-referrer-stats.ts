import type { App } from '../../../core/app.ts';
import { resolveUserId } from '../../users/account/read-user.ts';
import { comparePeriods, readDailyStats, readReferrerStats, readTopReferrals } from '../stats/read-stats.ts';
import type { ComparedPeriod, DayStats, ReferrerStats, TopReferral } from '../stats/types.ts';

/** Statistics of one referrer by the id that the Web API is given: messenger id first, then internal id. All: 404 'User not found'. */

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
