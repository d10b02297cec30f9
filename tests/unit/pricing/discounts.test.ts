import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addOnPercent,
  clampPercent,
  groupPercent,
  offerPercent,
  pricePart,
  primaryPromoGroup,
  stackedPercent,
  stackedPrice,
  sumUp,
} from '../../../src/domain/pricing/discounts.ts';
import { aBuyer, aGroup, inDays, NOW, pricingSettings } from './samples.ts';

const kopeks = fc.integer({ min: 0, max: 2_000_000_000 });
const percent = fc.integer({ min: 0, max: 100 });
const settings = pricingSettings();
const baseDiscounts = pricingSettings({
  basePromoGroupPeriodDiscountsEnabled: true,
  basePromoGroupPeriodDiscounts: '30:5,90:10',
});

describe('primary promo group', () => {
  it('is the membership with the highest priority, then the highest id', () => {
    const groups = [aGroup({ id: 3, priority: 1 }), aGroup({ id: 7, priority: 5 }), aGroup({ id: 9, priority: 5 })];
    expect(primaryPromoGroup(groups, aGroup({ id: 1 }))?.id).toBe(9);
  });

  it('falls back to the legacy group, then to none', () => {
    expect(primaryPromoGroup([], aGroup({ id: 4 }))?.id).toBe(4);
    expect(primaryPromoGroup([], null)).toBeNull();
  });
});

describe('group percent', () => {
  it('looks the period up exactly', () => {
    const group = aGroup({ periodDiscounts: { 30: 10 } });
    expect(groupPercent(group, 'period', 30, settings)).toBe(10);
    expect(groupPercent(group, 'period', 31, settings)).toBe(0);
    expect(groupPercent(group, 'period', null, settings)).toBe(0);
    expect(groupPercent(null, 'period', 30, settings)).toBe(0);
  });

  it('takes the service-wide list for the default group only, and only when it is switched on', () => {
    const group = aGroup({ isDefault: true, periodDiscounts: { 90: 0 } });
    expect(groupPercent(group, 'period', 30, baseDiscounts)).toBe(5);
    expect(groupPercent(group, 'period', 90, baseDiscounts)).toBe(0);
    expect(groupPercent(group, 'period', 60, baseDiscounts)).toBe(0);
    expect(groupPercent(group, 'period', 30, settings)).toBe(0);
    expect(groupPercent(aGroup(), 'period', 30, baseDiscounts)).toBe(0);
  });

  it('uses the flat percent of each category', () => {
    const group = aGroup({ serverDiscountPercent: 11, trafficDiscountPercent: 12, deviceDiscountPercent: 13 });
    expect(groupPercent(group, 'servers', 30, settings)).toBe(11);
    expect(groupPercent(group, 'traffic', 30, settings)).toBe(12);
    expect(groupPercent(group, 'devices', null, settings)).toBe(13);
  });

  it('replaces a flat percent of 0 by the period percent in the default group only', () => {
    expect(groupPercent(aGroup({ isDefault: true, periodDiscounts: { 30: 8 } }), 'devices', 30, settings)).toBe(8);
    expect(groupPercent(aGroup({ isDefault: true }), 'traffic', 30, baseDiscounts)).toBe(5);
    expect(groupPercent(aGroup({ isDefault: true }), 'traffic', null, baseDiscounts)).toBe(0);
    expect(groupPercent(aGroup({ periodDiscounts: { 30: 8 } }), 'devices', 30, settings)).toBe(0);
  });

  it('clamps stored percentages to 0..100', () => {
    expect(groupPercent(aGroup({ periodDiscounts: { 30: 140 } }), 'period', 30, settings)).toBe(100);
    expect(groupPercent(aGroup({ serverDiscountPercent: -5 }), 'servers', 30, settings)).toBe(0);
    expect(clampPercent(Number.NaN)).toBe(0);
  });

  it('gives add-ons nothing when the group keeps its discounts off them', () => {
    const group = aGroup({ trafficDiscountPercent: 25 });
    expect(addOnPercent(group, 'traffic', null, settings)).toBe(25);
    expect(addOnPercent({ ...group, applyDiscountsToAddons: false }, 'traffic', null, settings)).toBe(0);
    expect(addOnPercent(null, 'traffic', null, settings)).toBe(0);
  });
});

describe('promo offer percent', () => {
  it('ends at its expiry, and never without one', () => {
    const offer = (expiresAt: Date | null) =>
      offerPercent({ primaryPromoGroup: null, promoOfferDiscountPercent: 15, promoOfferDiscountExpiresAt: expiresAt }, NOW);
    expect(offer(null)).toBe(15);
    expect(offer(inDays(1))).toBe(15);
    expect(offer(NOW)).toBe(0);
    expect(offer(inDays(-1))).toBe(0);
  });

  it('is clamped', () => {
    expect(offerPercent(aBuyer(null, 150), NOW)).toBe(100);
    expect(offerPercent(aBuyer(null, -1), NOW)).toBe(0);
  });
});

describe('discount arithmetic', () => {
  it('floors the discount, not the price', () => {
    expect(pricePart(33_333, 7)).toEqual({
      originalKopeks: 33_333,
      discountPercent: 7,
      discountKopeks: 2333,
      finalKopeks: 31_000,
    });
  });

  it('takes the group first and the offer off the result', () => {
    fc.assert(
      fc.property(kopeks, percent, percent, (amount, group, offer) => {
        const afterGroup = amount - Math.floor((amount * group) / 100);
        expect(stackedPrice(amount, group, offer)).toBe(afterGroup - Math.floor((afterGroup * offer) / 100));
      }),
    );
  });

  it('depends on that order', () => {
    expect([stackedPrice(3, 34, 50), stackedPrice(3, 50, 34)]).toEqual([1, 2]);
  });

  it('never goes below 0 or above the amount, and never rises with the percent', () => {
    fc.assert(
      fc.property(kopeks, percent, percent, percent, (amount, a, b, offer) => {
        const [small, large] = [Math.min(a, b), Math.max(a, b)];
        const dearer = stackedPrice(amount, small, offer);
        const cheaper = stackedPrice(amount, large, offer);
        expect(Number.isSafeInteger(cheaper)).toBe(true);
        expect(cheaper).toBeGreaterThanOrEqual(0);
        expect(cheaper).toBeLessThanOrEqual(dearer);
        expect(dearer).toBeLessThanOrEqual(amount);
      }),
    );
  });

  it('shows one percentage for two stacked ones', () => {
    expect(stackedPercent(10, 0)).toBe(10);
    expect(stackedPercent(10, 20)).toBe(28);
    expect(stackedPercent(15, 15)).toBe(28);
    expect(stackedPercent(0, 0)).toBe(0);
    expect(stackedPercent(100, 0)).toBe(100);
  });

  it('adds up: original = final + group discount + offer discount', () => {
    const part = fc.tuple(kopeks, percent, fc.integer({ min: 1, max: 12 }));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), percent, (lines, offer) => {
        const parts = lines.map(([amount, discount, factor]) => pricePart(amount, discount, factor));
        const totals = sumUp(parts, offer);
        expect(totals.finalKopeks).toBe(totals.originalTotalKopeks - totals.groupDiscountKopeks - totals.offerDiscountKopeks);
        expect(totals.originalTotalKopeks).toBe(lines.reduce((sum, [amount, , factor]) => sum + amount * factor, 0));
        expect(totals.finalKopeks).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
