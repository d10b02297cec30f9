/**
 * Local times of time zones. A local time is a number: the milliseconds that the same reading has in UTC, so that 10:00 of a day is that
 * day's midnight plus ten hours in every zone, also on days of 23 and 25 hours.
 */

import { DAY_MS } from './clock.ts';

/** Zones are few: those of the settings and of contests. */
const formats = new Map<string, Intl.DateTimeFormat>();
const MAX_FORMATS = 100;

/** Whether the text names a zone. Offsets such as +03:00 are none, although Intl accepts them: they have no daylight saving time. */
export function isTimeZone(text: string): boolean {
  try {
    return /^[A-Za-z]/.test(text) && new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** What the clocks of the zone show at a given time. */
export function localTime(timestamp: Date, timeZone: string): number {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(timestamp)
      .map(({ type, value }) => [type, value]),
  );
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  const local = new Date(0);
  // A year before 100 would be read as one of the twentieth century by Date.UTC.
  local.setUTCFullYear(parts.get('era') === 'BC' ? 1 - part('year') : part('year'), part('month') - 1, part('day'));
  local.setUTCHours(part('hour'), part('minute'), part('second'));
  return local.getTime() + (((timestamp.getTime() % 1_000) + 1_000) % 1_000);
}

/**
 * The timestamp at which the clocks of the zone show a local time. Of a time that occurs twice, because clocks were set back, the first; a
 * time that was skipped is as much later as the clocks were set forward.
 */
export function timestampAt(local: number, timeZone: string): Date {
  // No zone changes twice within two days, and no offset is larger than one.
  const before = local - offsetAt(local - DAY_MS, timeZone);
  const after = local - offsetAt(local + DAY_MS, timeZone);
  if (localTime(new Date(before), timeZone) === local) return new Date(before);
  if (localTime(new Date(after), timeZone) === local) return new Date(after);
  return new Date(before);
}

/** `YYYY-MM-DD HH:MM:SS` as the clocks of the zone show a given time. */
export function localText(timestamp: Date, timeZone: string): string {
  return new Date(localTime(timestamp, timeZone)).toISOString().slice(0, 19).replace('T', ' ');
}

/** Midnight of the day that the zone has at a given time, as a local time. */
export function localDay(timestamp: Date, timeZone: string): number {
  return Math.floor(localTime(timestamp, timeZone) / DAY_MS) * DAY_MS;
}

/** Reads ISO 8601; a text without a zone is a time of `timeZone`. */
export function timestampOf(text: string, timeZone: string): Date {
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text);
  return hasZone ? new Date(text) : timestampAt(new Date(`${text}Z`).getTime(), timeZone);
}

function offsetAt(timestamp: number, timeZone: string): number {
  return localTime(new Date(timestamp), timeZone) - timestamp;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone);
  if (known) return known;
  if (formats.size >= MAX_FORMATS) formats.clear();
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formats.set(timeZone, format);
  return format;
}
