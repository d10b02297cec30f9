import { ValidationError } from '../../core/errors.ts';

/** Percentages outside of 0..100 become the nearer bound (spec 04 section 8.4). */
export function clampPercent(percent: number): number {
  return Math.min(100, Math.max(0, percent));
}

/** Kopeks; a threshold of 0 or less means none: null. */
export function thresholdOf(kopeks: number | null): number | null {
  return kopeks !== null && kopeks > 0 ? kopeks : null;
}

/**
 * Discounts by period in days (spec 04 section 8.2); percentages are clamped.
 * @throws ValidationError 422 for a key that is not a whole number of days above 0
 */
export function periodDiscountsOf(discounts: Readonly<Record<string, number>>): Record<string, number> {
  const wrong = Object.keys(discounts).filter((days) => !/^[1-9]\d{0,5}$/.test(days));
  if (wrong.length > 0) {
    const msg = 'Input should be a valid integer, unable to parse string as an integer';
    throw new ValidationError(
      wrong.map((days) => ({ loc: ['body', 'period_discounts', days], type: 'int_parsing', msg, input: days })),
    );
  }
  return Object.fromEntries(Object.entries(discounts).map(([days, percent]) => [days, clampPercent(percent)]));
}
