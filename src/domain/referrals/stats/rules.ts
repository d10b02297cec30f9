/** Pure rules of referral statistics (spec 04 section 5). */
import { addDays, DAY_MS, startOfDay } from '../../../core/clock.ts';
import type { DayStats, PeriodChange, WindowSums } from './types.ts';

/** From a given time on, up to and without another; null = without end. */
export interface Window {
  since: Date;
  until: Date | null;
}

/** Parts of a window: whole UTC days, which are summed from the counters by day, and the partial days at its ends. */
export interface WindowParts {
  /** `YYYY-MM-DD`, from the first on, up to and without the second. */
  days: { from: string; to: string };
  edges: { since: Date; until: Date }[];
}

const FOR_EVER = '9999-12-31';

/** `YYYY-MM-DD` of a given time, in UTC. */
export function dayOf(timestamp: Date): string {
  return timestamp.toISOString().slice(0, 10);
}

/** Splits a window, so that years of rewards cost a sum over days and two reads of single rows. */
export function partsOf({ since, until }: Window): WindowParts {
  const firstMidnight = new Date(Math.ceil(since.getTime() / DAY_MS) * DAY_MS);
  if (until !== null && until < firstMidnight) return { days: { from: FOR_EVER, to: FOR_EVER }, edges: [{ since, until }] };
  const edges = [{ since, until: firstMidnight }, ...(until === null ? [] : [{ since: startOfDay(until), until }])];
  return {
    days: { from: dayOf(firstMidnight), to: until === null ? FOR_EVER : dayOf(until) },
    edges: edges.filter((edge) => edge.since < edge.until),
  };
}

/** The usual windows of statistics: since midnight UTC, and the last 7, 30 and 365 times 24 hours (spec 04 section 0.4). */
export function usualWindows(now: Date): { today: Window; week: Window; month: Window; year: Window } {
  const last = (days: number): Window => ({ since: addDays(now, -days), until: null });
  return { today: { since: startOfDay(now), until: null }, week: last(7), month: last(30), year: last(365) };
}

/** The last `days` calendar days, today included, oldest first; a day without rows is zero (spec 04 section 5, item 4). */
export function fillDays(days: number, now: Date, rows: readonly DayStats[]): DayStats[] {
  const byDay = new Map(rows.map((row) => [row.date, row]));
  return Array.from({ length: days }, (_, index) => {
    const date = dayOf(addDays(now, index + 1 - days));
    return byDay.get(date) ?? { date, referralsCount: 0, earningsKopeks: 0 };
  });
}

/** A share in percent with two decimals; 0 of nothing. */
export function percentOfTotal(part: number, total: number): number {
  return total === 0 ? 0 : round2((part / total) * 100);
}

/** To two decimals, for answers only. */
export function round2(value: number): number {
  return Math.round(value * 100) / 100;
}

/**
 * How a number changed from one period to the next.
 * @param fromNothing percent to answer where the previous number is 0 and the current one is not
 */
export function changeOf(current: number, previous: number, fromNothing: 0 | 100): PeriodChange {
  const absolute = current - previous;
  const percent = previous === 0 ? (current > 0 ? fromNothing : 0) : round2((absolute / previous) * 100);
  return { absolute, percent, trend: absolute > 0 ? 'up' : absolute < 0 ? 'down' : 'stable' };
}

/** The two periods of a comparison: the last N days, and the M days before them, half-open (spec 04 section 4). */
export function comparedWindows(now: Date, currentDays: number, previousDays: number): { current: Window; previous: Window } {
  const since = addDays(now, -currentDays);
  return { current: { since, until: null }, previous: { since: addDays(since, -previousDays), until: since } };
}

export const NOTHING: WindowSums = { referralsCount: 0, earningsKopeks: 0 };
