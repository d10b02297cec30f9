import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tariff } from '../../../src/domain/catalog/types.ts';
import { deviceLimitAfterSwitch, isSwitchPriced, quoteTariffSwitch } from '../../../src/domain/pricing/tariff-switch.ts';
import type { PricedUser } from '../../../src/domain/pricing/types.ts';
import { aBuyer, aGroup, aTariff, inDays, NOW, pricingSettings } from './samples.ts';

const settings = pricingSettings();
const daily = aTariff({ id: 9, isDaily: true, dailyPriceKopeks: 2000, periodPrices: {} });
const cheap = aTariff({ id: 1, periodPrices: { 30: 30_000 } });
const dear = aTariff({ id: 2, periodPrices: { 30: 60_000 } });

function switchOf(current: Tariff, next: Tariff, days: number, user: PricedUser = aBuyer()) {
  return quoteTariffSwitch({ current, next, endDate: inDays(days), user, settings, now: NOW });
}

describe('tariff switch, documented vectors', () => {
  const short = aTariff({ id: 1, periodPrices: { 30: 30_000, 90: 80_000 } });
  const long = aTariff({ id: 2, periodPrices: { 30: 60_000, 90: 150_000 } });
  const user = aBuyer(aGroup({ periodDiscounts: { 30: 10, 90: 10 } }), 5);

  it('50 days left', () => {
    expect(switchOf(cheap, dear, 50)).toMatchObject({
      rawKopeks: 50_000,
      finalKopeks: 50_000,
      newPeriodDays: 0,
      isUpgrade: true,
    });
  });

  it('61 days left take the 90 day prices', () => {
    const quote = switchOf(short, long, 61, user);
    expect(quote).toMatchObject({ rawKopeks: 47_444, finalKopeks: 40_565, discountKopeks: 6879, groupDiscountPercent: 10 });
    expect(quote.effectiveDiscountPercent).toBe(14);
  });

  it('60 days left are a tie and take the 30 day prices', () => {
    expect(switchOf(short, long, 60, user)).toMatchObject({ rawKopeks: 60_000, finalKopeks: 51_300 });
  });
});

describe('tariff switch', () => {
  it('is free to a cheaper or equal tariff, and no upgrade', () => {
    expect(switchOf(dear, cheap, 20)).toMatchObject({
      rawKopeks: 0,
      finalKopeks: 0,
      isUpgrade: false,
      effectiveDiscountPercent: 0,
    });
    expect(switchOf(dear, { ...dear, id: 3 }, 20)).toMatchObject({ finalKopeks: 0, isUpgrade: false });
  });

  it('charges at least one day while time is left (spec 02 H30)', () => {
    expect(switchOf(cheap, dear, 0.5)).toMatchObject({ remainingDays: 0, rawKopeks: 1000, isUpgrade: true });
    expect(switchOf(cheap, dear, 1)).toMatchObject({ rawKopeks: 1000 });
    expect(switchOf(cheap, dear, 0)).toMatchObject({ rawKopeks: 0, isUpgrade: false });
    expect(switchOf(cheap, dear, -3)).toMatchObject({ rawKopeks: 0, remainingDays: 0 });
  });

  it('charges the first day on the way to a daily tariff', () => {
    const user = aBuyer(aGroup({ periodDiscounts: { 12: 25, 30: 50 } }));
    expect(switchOf(cheap, daily, 12, user)).toMatchObject({
      kind: 'periodic_to_daily',
      rawKopeks: 2000,
      finalKopeks: 1500,
      newPeriodDays: 1,
      isUpgrade: true,
    });
    expect(switchOf(cheap, daily, 0, user).finalKopeks).toBe(1000);
    expect(switchOf(cheap, { ...daily, dailyPriceKopeks: 0 }, 12)).toMatchObject({ finalKopeks: 0, isUpgrade: false });
  });

  it('charges the shortest period on the way from a daily tariff', () => {
    const next = aTariff({ id: 3, periodPrices: { 90: 150_000, 14: 20_000 } });
    const user = aBuyer(aGroup({ periodDiscounts: { 14: 10 } }));
    expect(switchOf(daily, next, 0.4, user)).toMatchObject({
      kind: 'daily_to_periodic',
      rawKopeks: 20_000,
      finalKopeks: 18_000,
      newPeriodDays: 14,
    });
    expect(switchOf(daily, aTariff({ id: 3, periodPrices: {} }), 1)).toMatchObject({ rawKopeks: 0, newPeriodDays: 30 });
  });

  it('is free from daily to daily (spec 02 H10)', () => {
    expect(switchOf(daily, { ...daily, id: 10, dailyPriceKopeks: 9000 }, 0.3)).toMatchObject({
      kind: 'daily_to_daily',
      finalKopeks: 0,
      isUpgrade: false,
    });
  });

  it('takes a tariff without periods as worth nothing', () => {
    expect(switchOf(aTariff({ periodPrices: {} }), dear, 10).rawKopeks).toBe(20_000);
    expect(switchOf(dear, aTariff({ id: 3, periodPrices: {} }), 10).rawKopeks).toBe(0);
  });

  it('takes a tariff sold by free days at its price of a day', () => {
    const byDay = aTariff({ id: 4, periodPrices: {}, customDaysEnabled: true, pricePerDayKopeks: 3000 });
    expect(switchOf(cheap, byDay, 10).rawKopeks).toBe(20_000);
    expect(switchOf(byDay, dear, 10).rawKopeks).toBe(0);
  });

  it('knows tariffs that no switch can be priced at (spec 02 H1)', () => {
    const nothing = aTariff({ periodPrices: {} });
    const byDay = aTariff({ periodPrices: {}, customDaysEnabled: true, pricePerDayKopeks: 3000 });
    expect([isSwitchPriced(nothing, false), isSwitchPriced(nothing, true)]).toEqual([false, false]);
    expect([isSwitchPriced(byDay, false), isSwitchPriced(byDay, true)]).toEqual([true, false]);
    expect([isSwitchPriced(cheap, false), isSwitchPriced(cheap, true)]).toEqual([true, true]);
    expect([isSwitchPriced(daily, false), isSwitchPriced({ ...daily, dailyPriceKopeks: 0 }, false)]).toEqual([true, false]);
  });

  it('adds up: raw = final + group discount + offer discount', () => {
    const user = aBuyer(aGroup({ periodDiscounts: { 30: 10 } }), 15);
    const quote = switchOf(cheap, dear, 33, user);
    expect(quote.originalTotalKopeks).toBe(quote.rawKopeks);
    expect(quote.finalKopeks + quote.groupDiscountKopeks + quote.offerDiscountKopeks).toBe(quote.rawKopeks);
    expect(quote.offerDiscountKopeks).toBeGreaterThan(0);
  });

  it('stays exact where the products pass 2^53', () => {
    const next = aTariff({ id: 2, periodPrices: { 3650: 2_147_483_647 } });
    const current = aTariff({ periodPrices: { 3649: 1 } });
    const expected = ((2_147_483_647n * 3649n - 3650n) * 3648n) / (3650n * 3649n);
    expect(switchOf(current, next, 3648).rawKopeks).toBe(Number(expected));
  });

  it('is never negative, never profitable in a circle, and grows with the time left', () => {
    const price = fc.integer({ min: 0, max: 10_000_000 });
    const days = fc.integer({ min: 0, max: 400 });
    fc.assert(
      fc.property(price, price, days, days, (from, to, left, more) => {
        const current = aTariff({ id: 1, periodPrices: { 30: from } });
        const next = aTariff({ id: 2, periodPrices: { 30: to } });
        const there = switchOf(current, next, left);
        const back = switchOf(next, current, left);
        expect(there.finalKopeks).toBeGreaterThanOrEqual(0);
        expect(Math.min(there.finalKopeks, back.finalKopeks)).toBe(0);
        expect(switchOf(current, next, left + more).finalKopeks).toBeGreaterThanOrEqual(there.finalKopeks);
      }),
    );
  });
});

describe('device limit after a switch', () => {
  it('is the new tariff number within its cap, else the service-wide one', () => {
    const capped = { maxDevicesLimit: 5 };
    expect(deviceLimitAfterSwitch({ deviceLimit: 3, maxDeviceLimit: null }, capped)).toBe(3);
    expect(deviceLimitAfterSwitch({ deviceLimit: 8, maxDeviceLimit: null }, capped)).toBe(5);
    expect(deviceLimitAfterSwitch({ deviceLimit: 8, maxDeviceLimit: 6 }, capped)).toBe(6);
    expect(deviceLimitAfterSwitch({ deviceLimit: 8, maxDeviceLimit: null }, { maxDevicesLimit: 0 })).toBe(8);
    expect(deviceLimitAfterSwitch({ deviceLimit: null, maxDeviceLimit: null }, capped)).toBe(1);
  });
});
