import { z } from 'zod';
import { isWithinCalendar, SECOND_MS } from '../core/clock.ts';

/** Larger numbers are milliseconds, smaller ones seconds: as seconds it is the year 2603, as milliseconds August 1970. */
const MAX_SECONDS = 20_000_000_000;

const IsoMoment = z.iso
  .datetime({ offset: true, local: true })
  .refine((text) => isWithinCalendar(utcDate(text)), 'the year must be between 1 and 9999 in UTC');

/**
 * A moment in a request, wherever the contract says date-time (spec 08 C2): ISO 8601 with `T` or a blank, without a zone in UTC (spec 00);
 * a date alone is its midnight in UTC; a number, or its digits, are seconds or milliseconds since 1970. Another text is refused with
 * `datetime_from_date_parsing`, another type with `datetime_type` (spec 10 R1). The result is ISO 8601 in text: convert it with `utcDate`. With a zone the last day of the year 9999 can become a
 * day of the year 10000, which clients cannot read in an answer.
 */
export const MomentInput = z.preprocess(toIso, IsoMoment) as unknown as z.ZodType<string, string | number>;

/** Parses what `MomentInput` accepted; a text without zone is UTC. */
export function utcDate(text: string): Date {
  return new Date(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}

/** What is in none of the accepted forms stays as it is, for the schema to refuse. */
function toIso(value: unknown): unknown {
  if (typeof value === 'number') return isoOfNumber(value) ?? value;
  if (typeof value !== 'string') return value;
  if (/^-?\d+(?:\.\d+)?$/.test(value)) return isoOfNumber(Number(value)) ?? value;
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return `${value}T00:00:00Z`;
  return value.replace(/^(\d{4}-\d\d-\d\d) (?=\d)/, '$1T');
}

function isoOfNumber(value: number): string | null {
  const date = new Date(Math.abs(value) > MAX_SECONDS ? value : value * SECOND_MS);
  return isWithinCalendar(date) ? date.toISOString() : null;
}
