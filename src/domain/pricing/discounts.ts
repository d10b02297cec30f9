import { applyPercent } from '../../core/money.ts';
import type { PromoGroup } from '../promo-groups/types.ts';
import type { PricedUser, PricePart, PricingSettings, QuoteTotals } from './types.ts';

/** The parts of a price with a percentage of the promo group. */
export type DiscountCategory = 'period' | 'servers' | 'traffic' | 'devices';

type GroupDiscountSettings = Pick<PricingSettings, 'basePromoGroupPeriodDiscountsEnabled' | 'basePromoGroupPeriodDiscounts'>;

/** A percentage as an integer within 0..100. */
export function clampPercent(percent: number): number {
  return Number.isFinite(percent) ? Math.min(100, Math.max(0, Math.trunc(percent))) : 0;
}

/**
 * The primary promo group of a user: among the memberships the highest (priority, id), else the legacy single group.
 * Spec 02 section 2.1.
 */
export function primaryPromoGroup(memberships: readonly PromoGroup[], legacyGroup: PromoGroup | null): PromoGroup | null {
  let best: PromoGroup | null = null;
  for (const group of memberships) {
    if (best === null || group.priority > best.priority || (group.priority === best.priority && group.id > best.id)) best = group;
  }
  return best ?? legacyGroup;
}

/**
 * The group's percentage for the main parts of a price (base, servers, traffic, devices of a purchase or renewal).
 * The default group falls back to its period percentage for the flat categories, and to the service-wide list for periods.
 * @param periodDays null when there is no period; then a period percentage is 0
 * @returns 0..100. Spec 02 section 2.1, spec 04 section 8.2.
 */
export function groupPercent(
  group: PromoGroup | null,
  category: DiscountCategory,
  periodDays: number | null,
  settings: GroupDiscountSettings,
): number {
  if (group === null) return 0;
  if (category === 'period') return periodPercent(group, periodDays, settings);
  const flat = clampPercent(flatPercent(group, category));
  return flat === 0 && group.isDefault ? periodPercent(group, periodDays, settings) : flat;
}

/**
 * The group's percentage for purchases in the middle of a period, and for custom traffic: 0 when the discounts of the group do not
 * apply to add-ons.
 * @param hintDays the period the add-on is charged for, or null
 */
export function addOnPercent(
  group: PromoGroup | null,
  category: DiscountCategory,
  hintDays: number | null,
  settings: GroupDiscountSettings,
): number {
  return group?.applyDiscountsToAddons === false ? 0 : groupPercent(group, category, hintDays, settings);
}

/** The percentage of the personal promo offer, 0..100; 0 from its expiry on. */
export function offerPercent(user: PricedUser, now: Date): number {
  const expiresAt = user.promoOfferDiscountExpiresAt;
  if (expiresAt !== null && expiresAt.getTime() <= now.getTime()) return 0;
  return clampPercent(user.promoOfferDiscountPercent);
}

/** Kopeks after the group's percentage, then the offer's on the result; each discount is floored separately. */
export function stackedPrice(amountKopeks: number, groupDiscountPercent: number, offerDiscountPercent: number): number {
  return applyPercent(applyPercent(amountKopeks, groupDiscountPercent), offerDiscountPercent);
}

/** The percentage to show for two combined ones: 100 - floor((100 - g)(100 - o) / 100). */
export function stackedPercent(groupDiscountPercent: number, offerDiscountPercent: number): number {
  return 100 - Math.floor(((100 - groupDiscountPercent) * (100 - offerDiscountPercent)) / 100);
}

/**
 * One line of a price.
 * @param unitKopeks the amount the percentage is taken of
 * @param factor how many times the line counts: the discount is floored before the factor is applied (classic months)
 */
export function pricePart(unitKopeks: number, discountPercent: number, factor = 1): PricePart {
  const originalKopeks = unitKopeks * factor;
  const finalKopeks = applyPercent(unitKopeks, discountPercent) * factor;
  return { originalKopeks, discountPercent, discountKopeks: originalKopeks - finalKopeks, finalKopeks };
}

/** Adds the lines and subtracts the personal offer from the sum. */
export function sumUp(parts: readonly PricePart[], offerDiscountPercent: number): QuoteTotals {
  const originalTotalKopeks = parts.reduce((sum, part) => sum + part.originalKopeks, 0);
  const subtotalKopeks = parts.reduce((sum, part) => sum + part.finalKopeks, 0);
  const finalKopeks = Math.max(0, applyPercent(subtotalKopeks, offerDiscountPercent));
  return {
    originalTotalKopeks,
    groupDiscountKopeks: originalTotalKopeks - subtotalKopeks,
    subtotalKopeks,
    offerDiscountPercent,
    offerDiscountKopeks: subtotalKopeks - finalKopeks,
    finalKopeks,
  };
}

function periodPercent(group: PromoGroup, periodDays: number | null, settings: GroupDiscountSettings): number {
  if (periodDays === null) return 0;
  const percent = group.periodDiscounts[periodDays];
  if (percent !== undefined) return clampPercent(percent);
  if (!group.isDefault || !settings.basePromoGroupPeriodDiscountsEnabled) return 0;
  return clampPercent(settings.basePromoGroupPeriodDiscounts[periodDays] ?? 0);
}

function flatPercent(group: PromoGroup, category: Exclude<DiscountCategory, 'period'>): number {
  switch (category) {
    case 'servers':
      return group.serverDiscountPercent;
    case 'traffic':
      return group.trafficDiscountPercent;
    case 'devices':
      return group.deviceDiscountPercent;
  }
}
