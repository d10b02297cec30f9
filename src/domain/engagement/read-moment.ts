import { isWithinCalendar } from '../../core/clock.ts';
import { ValidationError } from '../../core/errors.ts';
import { momentOf } from '../../core/time-zone.ts';
import { validationIssue } from '../../core/validation-messages.ts';

/**
 * A moment of a request, in `timeZone` where the text has no zone.
 * @returns null when none was given
 * @throws ValidationError 422 for a moment that the zone moves out of the years 1 to 9999 in UTC
 */
export function readMoment(field: string, text: string | null | undefined, timeZone: string): Date | null {
  if (text === null || text === undefined) return null;
  const moment = momentOf(text, timeZone);
  if (isWithinCalendar(moment)) return moment;
  const ctx = { error: 'the year must be between 1 and 9999 in UTC' };
  throw new ValidationError([validationIssue('datetime_parsing', ['body', field], text, ctx)]);
}
