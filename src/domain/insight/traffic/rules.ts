import { addDays, addMs, DAY_MS, MINUTE_MS } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';

const invalidRange = refusal('invalid_range', 400, 'start_date must be before end_date.');
export const invalidPeriod = refusal('invalid_period', 400, 'Period must be one of: [<n>, <n>, <n>, <n>, <n>]');
export const invalidDate = refusal('invalid_date', 400, 'Invalid date format. Use YYYY-MM-DD.');

/** Pure rules of the traffic pages. */

const PERIODS = [1, 3, 7, 14, 30];
const MAX_RANGE_DAYS = 31;
const GIB = 1024 ** 3;

export interface RangeRequest {
  /** Days; one of `PERIODS`. Ignored when both dates are given. */
  period: number;
  /** `YYYY-MM-DD`; null or empty = none. */
  startDate: string | null;
  endDate: string | null;
}

export interface TrafficRange {
  from: Date;
  to: Date;
  periodDays: number;
  /** For the name of a file: `30d`, or both dates. */
  label: string;
}

/**
 * Both dates: whole days in UTC, the end not later than now. Else the period until now, on five minutes.
 * @throws AppError 400
 */
export function trafficRange({ period, startDate, endDate }: RangeRequest, now: Date): TrafficRange {
  if (startDate && endDate) {
    const from = dayStart(startDate);
    const lastTimestamp = addMs(addDays(dayStart(endDate), 1), -1);
    const to = lastTimestamp > now ? now : lastTimestamp;
    if (from >= to) throw invalidRange();
    const days = Math.floor((to.getTime() - from.getTime()) / DAY_MS);
    if (days > MAX_RANGE_DAYS) throw invalidRange({ detail: `Date range cannot exceed ${MAX_RANGE_DAYS} days.` });
    return { from, to, periodDays: Math.max(1, days), label: `${startDate}_${endDate}` };
  }
  if (!PERIODS.includes(period)) throw invalidPeriod({ detail: `Period must be one of: [${PERIODS.join(', ')}]` });
  const to = new Date(Math.floor(now.getTime() / (5 * MINUTE_MS)) * 5 * MINUTE_MS);
  return { from: addDays(to, -period), to, periodDays: period, label: `${period}d` };
}

function dayStart(text: string): Date {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : null;
  // 2026-02-30 would be read as a day of March.
  if (day === null || Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text) throw invalidDate();
  return day;
}

/** The parts of a comma list, trimmed; empty = no filter. */
export function listFilter(text: string | null): string[] {
  return [...new Set((text ?? '').split(',').map((part) => part.trim()))].filter((part) => part !== '');
}

/** Limits in GB a day; 0 or null = none. */
export interface RiskThresholds {
  total: number | null;
  node: number | null;
}

export interface Risk {
  totalGbPerDay: number;
  level: 'low' | 'medium' | 'high' | 'critical';
  ratio: number;
  /** Of the total when its ratio is the larger or an equal one, else of the node with the most traffic. */
  gbPerDay: number;
}

/** How near the traffic is to the thresholds. */
export function riskOf(totalBytes: number, nodeBytes: readonly number[], days: number, thresholds: RiskThresholds): Risk {
  const perDay = (bytes: number) => bytes / GIB / days;
  const ratioOf = (gbPerDay: number, threshold: number | null) => (threshold ? gbPerDay / threshold : 0);
  const totalGbPerDay = perDay(totalBytes);
  const worstNode = perDay(nodeBytes.reduce((most, bytes) => Math.max(most, bytes), 0));
  const [ofTotal, ofNode] = [ratioOf(totalGbPerDay, thresholds.total), ratioOf(worstNode, thresholds.node)];
  const ratio = Math.max(ofTotal, ofNode);
  const level = ratio < 0.5 ? 'low' : ratio < 0.8 ? 'medium' : ratio < 1.2 ? 'high' : 'critical';
  return { totalGbPerDay, level, ratio, gbPerDay: ofTotal >= ofNode ? totalGbPerDay : worstNode };
}

export const gibOf = (bytes: number): string => (bytes / GIB).toFixed(2);
