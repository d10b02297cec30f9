import { z } from 'zod';
import { isWithinCalendar } from '../core/clock.ts';
import { FREE_FORM } from '../core/zod-structure.ts';

/** Scalars and shapes that more than one tag group uses. */

/** A moment in an answer: a `Date` that JSON writes as ISO 8601 with `Z`. */
export const Moment = z.date();

/**
 * A moment in a request: ISO 8601; without a zone it is UTC (spec 00). Convert it to a `Date` with `utcDate`. With a zone the
 * last day of the year 9999 can become a day of the year 10000, which clients cannot read in an answer.
 */
export const MomentInput = z.iso
  .datetime({ offset: true, local: true })
  .refine((text) => isWithinCalendar(utcDate(text)), 'the year must be between 1 and 9999 in UTC');

/** Parses what `MomentInput` accepted; a text without zone is UTC. */
export function utcDate(text: string): Date {
  return new Date(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
}

/** The body of an endpoint whose contract response is empty (spec 00, Success status). */
export const SuccessResponse = z.object({ success: z.literal(true) }).meta({ id: 'SuccessResponse' });

/** A body that the contract leaves free-form. */
export const FreeForm = z.record(z.string(), z.unknown());

/**
 * A typed answer that the contract leaves free-form: the typed client and the output check use the schema, the published document shows an
 * object of any fields. The schema and its parts must not have an `id` of their own, or they would be published as components.
 */
export function publishedAsFreeForm<S extends z.ZodType>(schema: S): S {
  return schema.meta({ [FREE_FORM]: true });
}

/** A promo group as users and servers show it. */
export const PromoGroupSummary = z
  .object({
    id: z.int(),
    name: z.string(),
    server_discount_percent: z.int(),
    traffic_discount_percent: z.int(),
    device_discount_percent: z.int(),
    apply_discounts_to_addons: z.boolean(),
  })
  .meta({ id: 'PromoGroupSummary' });
