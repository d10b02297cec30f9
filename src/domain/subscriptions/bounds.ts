import { DAY_MS } from '../../core/clock.ts';
import { outOfBounds } from './errors.ts';

/**
 * Highest values that may be set without a purchase. The contract names none; these keep dates, bytes and counts within what the database
 * and the panel can store.
 */
export const MAX_DAYS = 36_500;
export const MAX_TRAFFIC_GB = 1_000_000;
export const MAX_DEVICES = 10_000;

/**
 * @param field of the request, and `input` its value, for the refusal
 * @throws ValidationError 422 when a subscription would end more than a hundred years from now
 */
export function checkEnd(field: string, input: unknown, endDate: Date, now: Date): void {
  if (endDate.getTime() - now.getTime() > MAX_DAYS * DAY_MS) throw outOfBounds(field, input, { le: MAX_DAYS });
}
