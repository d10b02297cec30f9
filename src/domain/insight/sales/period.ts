import { DAY_MS } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';

const invalidStartDate = refusal('invalid_start_date', 400, 'Invalid start_date format');
const invalidEndDate = refusal('invalid_end_date', 400, 'Invalid end_date format');
const invalidRange = refusal('invalid_range', 400, 'start_date must be before end_date');
export const SALES_PERIOD_REFUSALS = [invalidStartDate, invalidEndDate, invalidRange];

/** Pure rules of the periods of sales statistics. */

/** No data of the service is older. */
export const FIRST_DAY = '2020-01-01';
const MAX_DAYS = 730;

export interface PeriodRequest {
  /** The last days; 0, negative or null = everything. Ignored when both dates are given. */
  days: number | null;
  /** ISO 8601; null or empty = none. */
  startDate: string | null;
  endDate: string | null;
}

/** A given time as written: without an offset it is one of the time zone of the service. */
export interface WrittenTimestamp {
  /** `YYYY-MM-DDTHH:MM:SS.mmm` */
  local: string;
  /** For example `+03:00`; null = none was given. */
  offset: string | null;
}

/** What a request asks for: two timestamps, the last `days` calendar days until now, or everything (`days` null). */
export type WrittenPeriod = { start: WrittenTimestamp; end: WrittenTimestamp } | { days: number | null };

/** So that the window before a period begins after the year 1 in every time zone, and the day after it ends before the year 10000. */
const FIRST_YEAR = 5;
const LAST_YEAR = 9998;

const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

/** @throws AppError 400 'Invalid start_date format', 'Invalid end_date format' */
export function writtenPeriod({ days, startDate, endDate }: PeriodRequest): WrittenPeriod {
  if (!startDate || !endDate) return { days: days !== null && days > 0 ? Math.min(days, MAX_DAYS) : null };
  const start = writtenTimestamp(startDate);
  if (start === null) throw invalidStartDate();
  const end = writtenTimestamp(endDate);
  if (end === null) throw invalidEndDate();
  // Until the end of its last second, so that the days of two periods in a row meet.
  return { start, end: { ...end, local: `${end.local.slice(0, 10)}T23:59:59.999` } };
}

function writtenTimestamp(text: string): WrittenTimestamp | null {
  const [, day, minutes = '00:00', seconds = '00', fraction = '', zone] = ISO.exec(text.trim()) ?? [];
  if (day === undefined) return null;
  const local = `${day}T${minutes}:${seconds}.${fraction.padEnd(3, '0').slice(0, 3)}`;
  const timestamp = new Date(`${local}Z`);
  // 2026-02-30 would be read as a day of March, and 24:00 as the next day.
  if (Number.isNaN(timestamp.getTime()) || timestamp.toISOString() !== `${local}Z`) return null;
  const year = Number(day.slice(0, 4));
  if (year < FIRST_YEAR || year > LAST_YEAR) return null;
  const offset = zone === undefined ? null : offsetOf(zone.toUpperCase());
  return zone !== undefined && offset === null ? null : { local, offset };
}

/** `+03:00` of `+03`, `+0300` or `+03:00`; null for one that no place has. */
function offsetOf(zone: string): string | null {
  if (zone === 'Z') return '+00:00';
  const digits = zone.slice(1).replace(':', '').padEnd(4, '0');
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2))];
  return hours > 15 || minutes > 59 ? null : `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

/** @throws AppError 400 'start_date must be before end_date', 'Date range cannot exceed 730 days' */
export function checkRange(from: Date, to: Date): void {
  if (from >= to) throw invalidRange();
  const wholeDays = Math.floor((to.getTime() - from.getTime()) / DAY_MS);
  if (wholeDays > MAX_DAYS) throw invalidRange({ detail: `Date range cannot exceed ${MAX_DAYS} days` });
}

/** One decimal. */
export const oneDecimal = (value: number): number => Math.round(value * 10) / 10;

/** `part` in percent of `whole`, one decimal; 0 without a whole. */
export const percentOf = (part: number, whole: number): number => (whole === 0 ? 0 : oneDecimal((part / whole) * 100));

/** Trials that became paid in percent of trials and paid ones, at most 100, one decimal. @param converted at least 0 */
export const conversionRate = (newTrials: number, converted: number): number =>
  Math.min(100, percentOf(converted, newTrials + converted));

export interface Change {
  absolute: number;
  /** One decimal; 100 where there was nothing before. */
  percent: number;
  trend: 'up' | 'down' | 'stable';
}

/** The trend is the sign of the rounded percentage. */
export function changeBetween(current: number, previous: number): Change {
  const percent = previous === 0 ? (current > 0 ? 100 : 0) : oneDecimal(((current - previous) / previous) * 100);
  return { absolute: current - previous, percent, trend: percent > 0 ? 'up' : percent < 0 ? 'down' : 'stable' };
}
