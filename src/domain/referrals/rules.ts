/** Pure rules of the referral program (spec 04 section 1). */

/**
 * Percent of a referred user's payments that the referrer gets: the personal one where it is a percentage, else the service-wide one
 * held within 0..100. 0 = no commission.
 */
export function effectiveCommissionPercent(personal: number | null, global: number): number {
  if (personal !== null && personal >= 0 && personal <= 100) return personal;
  return Math.min(100, Math.max(0, global));
}
