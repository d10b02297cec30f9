import { addDays, addMs, DAY_MS, HOUR_MS, MINUTE_MS } from '../../../core/clock.ts';

/** Pure rules of the periods of the administrators' reports (spec 06 section 14): days of Moscow, whose clocks are 3 hours before UTC all year. */

const MOSCOW_OFFSET_MS = 3 * HOUR_MS;

export const REPORT_DAYS = { day: 1, week: 7, month: 30 } as const;

export type ReportKind = keyof typeof REPORT_DAYS;

export interface ReportPeriod {
  kind: ReportKind;
  /** The first and the last day, `YYYY-MM-DD` in Moscow; both are part of the period. */
  firstDay: string;
  lastDay: string;
  /** The first moment, and the first one after the period. */
  from: Date;
  until: Date;
}

/** 1, 7 or 30 days. @param lastDay `YYYY-MM-DD` in Moscow */
export function reportPeriod(kind: ReportKind, lastDay: string): ReportPeriod {
  const until = addMs(new Date(`${lastDay}T00:00:00.000Z`), DAY_MS - MOSCOW_OFFSET_MS);
  const from = addDays(until, -REPORT_DAYS[kind]);
  return { kind, firstDay: moscowDay(from), lastDay, from, until };
}

/** The day before the one that Moscow has at a moment, `YYYY-MM-DD`. */
export function dayBefore(now: Date): string {
  return moscowDay(addDays(now, -1));
}

/** Whether the time of the day, `H:MM` or `HH:MM` in Moscow, has been reached. Without a time, or with another text, it never is. */
export function isTimeReached(time: string | null, now: Date): boolean {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec((time ?? '').trim()) ?? [];
  if (hours === undefined) return false;
  const sinceMidnight = (now.getTime() + MOSCOW_OFFSET_MS) % DAY_MS;
  return sinceMidnight >= Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
}

function moscowDay(moment: Date): string {
  return addMs(moment, MOSCOW_OFFSET_MS).toISOString().slice(0, 10);
}
