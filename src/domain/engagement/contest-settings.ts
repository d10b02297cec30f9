import type { App } from '../../core/app.ts';
import { isWithinCalendar, MINUTE_MS } from '../../core/clock.ts';
import type { Db } from '../../core/db/db.ts';
import { ValidationError } from '../../core/errors.ts';
import { timestampOf } from '../../core/time-zone.ts';
import { validationIssue } from '../../core/validation-messages.ts';

/** Whether contests run by themselves; the second setting is the former name of the first (spec 04 section 14). */
export function areContestsEnabled({ settings }: Pick<App, 'settings'>): boolean {
  return settings.get('CONTESTS_ENABLED') || settings.get('REFERRAL_CONTESTS_ENABLED');
}

/** The first required channel as a chat of the messenger; null when there is none. */
export async function firstChannel(db: Db): Promise<number | null> {
  const [row] = await db.sql<{ channelId: string }>(
    'SELECT channel_id FROM required_channels WHERE is_active ORDER BY sort_order, id LIMIT 1',
  );
  return row ? Number(row.channelId) : null;
}

/**
 * A timestamp of a request, in `timeZone` where the text has no zone.
 * @returns null when none was given
 * @throws ValidationError 422 for a timestamp that the zone moves out of the years 1 to 9999 in UTC
 */
export function readTimestamp(field: string, text: string | null | undefined, timeZone: string): Date | null {
  if (text === null || text === undefined) return null;
  const timestamp = timestampOf(text, timeZone);
  if (isWithinCalendar(timestamp)) return timestamp;
  const ctx = { error: 'the year must be between 1 and 9999 in UTC' };
  throw new ValidationError([validationIssue('datetime_parsing', ['body', field], text, ctx)]);
}

const TIME_OF_DAY = /^([01]?\d|2[0-3]):([0-5]\d)$/;

/**
 * Reads a comma list of HH:MM.
 * @returns milliseconds from midnight in the order given; null when an item is no time. An empty text is an empty list
 */
export function parseTimesOfDay(text: string): number[] | null {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  const times = items.map((item) => TIME_OF_DAY.exec(item));
  if (times.some((time) => time === null)) return null;
  return times.map((time) => (Number(time![1]) * 60 + Number(time![2])) * MINUTE_MS);
}

/** `HH:MM` of milliseconds from midnight. */
export function timeOfDay(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
}
