import { refusal } from '../../../core/errors.ts';

/** Refusals of sales pages; the texts are the literal ones of spec 03 section 7. */
export const landingNotFound = refusal('landing_not_found', 404, 'Landing page not found');
export const slugReserved = refusal(
  'landing_slug_reserved',
  400,
  'Slug "purchase" is reserved and cannot be used',
  (slug: string) => ({ detail: `Slug "${slug}" is reserved and cannot be used` }),
);
export const slugTaken = refusal(
  'landing_slug_taken',
  409,
  'Landing page with slug "page<n>" already exists',
  (slug: string) => ({ detail: `Landing page with slug "${slug}" already exists` }),
);
export const discountDatesReversed = refusal('landing_discount_dates', 400, 'discount_starts_at must be before discount_ends_at');
export const discountIncomplete = refusal(
  'landing_discount_incomplete',
  400,
  'discount_percent, discount_starts_at and discount_ends_at must be set together',
);
