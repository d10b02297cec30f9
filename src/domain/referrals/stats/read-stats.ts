import type { App } from '../../../core/app.ts';
import { addDays, MINUTE_MS } from '../../../core/clock.ts';
import {
  countActiveReferrals,
  countReferrers,
  findReferrerTotals,
  findTotals,
  listDays,
  listTopReferrals,
  listTopReferrers,
  listTopReferrersSince,
  sumWindows,
} from './repo.ts';
import { comparedWindows, dayOf, fillDays, usualWindows } from './rules.ts';
import type {
  ComparedPeriod,
  DayStats,
  GlobalStats,
  PeriodSums,
  ReferrerStats,
  TopReferral,
  TopReferrer,
  WindowSums,
} from './types.ts';

/** The longest list that a request may ask for. */
const MOST_REFERRERS = 100;
/** Answers that took less time are not cached. */
const QUICK_MS = 50;

/** Statistics of referrals and rewards. An unknown user has zeros. */

/** Referrals and earnings of one referrer, in total and by period (spec 04 section 5, item 1). */
export async function readReferrerStats(app: App, userId: number): Promise<ReferrerStats> {
  const now = app.clock.now();
  const [totals, activeReferrals, periods] = await Promise.all([
    findReferrerTotals(app.db, userId),
    countActiveReferrals(app.db, userId, now),
    sumPeriods(app, userId, now),
  ]);
  const { totalReferrals, paidReferrals, earningsKopeks } = totals;
  const allTime = { referralsCount: totalReferrals, earningsKopeks };
  return { totalReferrals, paidReferrals, activeReferrals, allTime, ...periods };
}

/** The same of the whole service (spec 04 section 5, item 3). */
export async function readGlobalStats(app: App): Promise<GlobalStats> {
  const [totals, totalReferrers, periods] = await Promise.all([
    findTotals(app.db),
    countReferrers(app.db),
    sumPeriods(app, null, app.clock.now()),
  ]);
  const { totalReferrals, paidReferrals, earningsKopeks } = totals;
  const allTime = { referralsCount: totalReferrals, earningsKopeks };
  return { totalReferrers, totalReferrals, paidReferrals, allTime, ...periods };
}

/** All referrals and rewards of the service; kopeks. */
export function readReferralTotals(app: App): Promise<{ totalReferrals: number; paidReferrals: number; earningsKopeks: number }> {
  return findTotals(app.db);
}

async function sumPeriods(app: App, userId: number | null, now: Date): Promise<Omit<PeriodSums, 'allTime'>> {
  const { today, week, month, year } = usualWindows(now);
  const [first, second, third, fourth] = await sumWindows(app.db, userId, [today, week, month, year]);
  return { today: first!, week: second!, month: third!, year: fourth! };
}

/** The last `days` calendar days (UTC), today included, oldest first. @param userId null = everyone */
export async function readDailyStats(app: App, userId: number | null, days: number): Promise<DayStats[]> {
  const now = app.clock.now();
  return fillDays(days, now, await listDays(app.db, userId, dayOf(addDays(now, 1 - days))));
}

/** The last `current` times 24 hours of a referrer, compared with the `previous` ones before them (spec 04 section 4). */
export async function comparePeriods(
  app: App,
  userId: number,
  lengths: { current: number; previous: number },
): Promise<{ current: ComparedPeriod; previous: ComparedPeriod }> {
  const now = app.clock.now();
  const windows = comparedWindows(now, lengths.current, lengths.previous);
  const [current, previous] = await sumWindows(app.db, userId, [windows.current, windows.previous]);
  const { since } = windows.current;
  return {
    current: { days: lengths.current, start: since, end: now, ...(current as WindowSums) },
    previous: { days: lengths.previous, start: windows.previous.since, end: since, ...(previous as WindowSums) },
  };
}

/**
 * The referrers who earned most, ever or in the last `days` times 24 hours; deleted accounts are left out before the limit. Within a time
 * the days of all referrers have to be summed: where that is slow, the answer is cached for a minute.
 */
export async function readTopReferrers(app: App, limit: number, days: number | null): Promise<TopReferrer[]> {
  if (days === null) return listTopReferrers(app.db, limit);
  const key = `top_referrers:${days}`;
  let tookMs = 0;
  const top = await app.cache.read(key, MINUTE_MS, async () => {
    const startedAt = performance.now();
    const found = await listTopReferrersSince(app.db, MOST_REFERRERS, addDays(app.clock.now(), -days));
    tookMs = performance.now() - startedAt;
    return found;
  });
  if (tookMs > 0 && tookMs < QUICK_MS) app.cache.drop([key]);
  return top.slice(0, limit);
}

/** The referrals by which a referrer earned most. */
export function readTopReferrals(app: App, userId: number, limit: number): Promise<TopReferral[]> {
  return listTopReferrals(app.db, userId, limit, app.clock.now());
}
