import { z } from 'zod';
import { isWithinCalendar, SECOND_MS } from '../core/clock.ts';

/** Scalars and shapes that more than one tag group uses. */

/** A timestamp in an answer: a `Date` that JSON writes as ISO 8601 with `Z`. */
export const Timestamp = z.date().meta({ format: 'date-time' });

/** A signed quote that a preview has answered, sent back with the purchase (`domain/subscriptions/purchase/signed-quote.ts`). */
export const GivenQuote = z
  .string()
  .nullish()
  .describe(
    'The `quote` of a preview: exactly its price is charged, or 409 `quote_changed` with a new quote. Previews ignore it.',
  );

/** A signed quote in an answer. */
export const SignedQuote = z
  .string()
  .describe('Signed price of this order, valid 10 minutes; may be sent back with the purchase.');

/** The body of an endpoint whose contract response is empty (spec 00, Success status). */
export const SuccessResponse = z
  .object({ success: z.literal(true).describe('Always true: a failure is answered with an error status.') })
  .meta({ id: 'SuccessResponse' });

/** A body that the contract leaves free-form. */
export const FreeForm = z.record(z.string(), z.unknown());

/**
 * A typed answer that the contract leaves free-form: the typed client and the output check use the schema, the published document shows an
 * object of any fields. The schema and its parts must not have an `id` of their own, or they would be published as components.
 */
export function publishedAsFreeForm<S extends z.ZodType>(schema: S): S {
  return schema.meta({ override: showFreeForm });
}

function showFreeForm({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  for (const key of Object.keys(jsonSchema)) if (key !== 'description') delete jsonSchema[key];
  Object.assign(jsonSchema, { type: 'object', propertyNames: { type: 'string' }, additionalProperties: {} });
}

/** A promo group as users and servers show it. */
export const PromoGroupSummary = z
  .object({
    id: z.int().describe('Id of the promo group.'),
    name: z.string().describe('Name of the promo group.'),
    server_discount_percent: z.int().describe('Discount on servers in percent, 0 to 100.'),
    traffic_discount_percent: z.int().describe('Discount on traffic in percent, 0 to 100.'),
    device_discount_percent: z.int().describe('Discount on devices in percent, 0 to 100.'),
    apply_discounts_to_addons: z
      .boolean()
      .describe('Whether traffic, devices and servers bought in mid-period are discounted too.'),
  })
  .meta({ id: 'PromoGroupSummary' });

/** Launch data of a mini-app, as examples show it. */
export const INIT_DATA_EXAMPLE =
  'user=%7B%22id%22%3A100200300%2C%22first_name%22%3A%22Anna%22%7D&auth_date=1767225600&hash=3f2b1c0e8a77';

/** Larger numbers are milliseconds, smaller ones seconds: as seconds it is the year 2603, as milliseconds August 1970. */
const MAX_SECONDS = 20_000_000_000;

const IsoTimestamp = z.iso
  .datetime({ offset: true, local: true })
  .refine((text) => isWithinCalendar(utcDate(text)), 'the year must be between 1 and 9999 in UTC')
  .meta({ format: 'date-time' });

/**
 * A timestamp in a request, wherever the contract says date-time (spec 08 C2): ISO 8601 with `T` or a blank, without a zone in UTC (spec
 * 00); a date alone is its midnight in UTC; a number, or its digits, are seconds or milliseconds since 1970. Another text is refused with
 * `datetime_from_date_parsing`, another type with `datetime_type` (spec 10 R1). The result is ISO 8601 in text: convert it with `utcDate`.
 * With a zone the last day of the year 9999 can become a day of the year 10000, which clients cannot read in an answer.
 */
export const TimestampInput = z.preprocess(toIso, IsoTimestamp) as unknown as z.ZodType<string, string | number>;

/** Parses what `TimestampInput` accepted; a text without zone is UTC. */
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
