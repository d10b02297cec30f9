import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  chargeableDevices,
  deviceTerms,
  quoteDevices,
  quoteServer,
  quoteTrafficChange,
  quoteTrafficPackage,
} from '../../../src/domain/pricing/addons.ts';
import type { PricedUser } from '../../../src/domain/pricing/types.ts';
import { aBuyer, aGroup, aTariff, inDays, NOW, pricingSettings } from './samples.ts';

const settings = pricingSettings();
const classic = pricingSettings({ salesMode: 'classic' });

function devicesOf(unitKopeks: number, count: number, days: number, user: PricedUser = aBuyer()) {
  const terms = { unitKopeks, includedDevices: 1, maxDevices: null };
  return quoteDevices({ terms, currentLimit: 1, newLimit: 1 + count, endDate: inDays(days), user, settings, now: NOW });
}

describe('devices', () => {
  it.each([
    [5000, 2, 17, 5666],
    [5000, 1, 1, 166],
    [100, 1, 5, 100],
    [5000, 1, 0.5, 166],
    [10, 1, 1, 100],
  ])('%i each, %i of them, %d days left cost %i', (unit, count, days, price) => {
    expect(devicesOf(unit, count, days).finalKopeks).toBe(price);
  });

  it('keeps the least price unless the discount is 100 %', () => {
    const group = (percent: number) => aBuyer(aGroup({ deviceDiscountPercent: percent }));
    expect(devicesOf(5000, 1, 30, group(20))).toMatchObject({ originalKopeks: 5000, discountKopeks: 1000, finalKopeks: 4000 });
    expect(devicesOf(5000, 1, 1, group(50))).toMatchObject({ originalKopeks: 166, discountKopeks: 66, finalKopeks: 100 });
    expect(devicesOf(5000, 1, 30, group(100)).finalKopeks).toBe(0);
  });

  it('never takes the personal offer', () => {
    expect(devicesOf(5000, 1, 30, aBuyer(null, 50)).finalKopeks).toBe(5000);
  });

  it('hints the days left to the default group', () => {
    const group = aGroup({ isDefault: true, periodDiscounts: { 17: 10 } });
    expect(devicesOf(5000, 2, 17, aBuyer(group)).discountPercent).toBe(10);
    expect(devicesOf(5000, 2, 18, aBuyer(group)).discountPercent).toBe(0);
  });

  it('counts only what lies above the included number (spec 02 H28)', () => {
    expect(chargeableDevices(1, 3, 3)).toBe(0);
    expect(chargeableDevices(1, 5, 3)).toBe(2);
    expect(chargeableDevices(4, 6, 3)).toBe(2);
    expect(chargeableDevices(6, 4, 3)).toBe(0);
    const terms = { unitKopeks: 5000, includedDevices: 3, maxDevices: null };
    const free = quoteDevices({ terms, currentLimit: 1, newLimit: 3, endDate: inDays(30), user: aBuyer(), settings, now: NOW });
    expect(free.finalKopeks).toBe(0);
  });

  it('costs the same in one step or two, up to rounding and the least price', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3000, max: 50_000 }), fc.integer({ min: 1, max: 365 }), (unit, days) => {
        const once = devicesOf(unit, 2, days).finalKopeks;
        const twice = 2 * devicesOf(unit, 1, days).finalKopeks;
        expect(Math.abs(once - twice)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('takes price and cap from the tariff when it has a price', () => {
    expect(deviceTerms(aTariff({ devicePriceKopeks: 700, maxDeviceLimit: 4, deviceLimit: 2 }), settings)).toEqual({
      unitKopeks: 700,
      includedDevices: 2,
      maxDevices: 4,
    });
    expect(deviceTerms(aTariff({ devicePriceKopeks: 700 }), settings).maxDevices).toBeNull();
    expect(deviceTerms(aTariff({ maxDeviceLimit: 4, deviceLimit: 2 }), settings)).toEqual({
      unitKopeks: 5000,
      includedDevices: 2,
      maxDevices: 20,
    });
    expect(deviceTerms(null, pricingSettings({ maxDevicesLimit: 0 }))).toEqual({
      unitKopeks: 5000,
      includedDevices: 1,
      maxDevices: null,
    });
  });
});

describe('traffic packages', () => {
  const buy = (packageKopeks: number, fields: { hasTariff: boolean; days: number; user?: PricedUser; mode?: typeof settings }) =>
    quoteTrafficPackage({
      packageKopeks,
      hasTariff: fields.hasTariff,
      endDate: inDays(fields.days),
      user: fields.user ?? aBuyer(),
      settings: fields.mode ?? settings,
      now: NOW,
    });

  it('is flat on a tariff in tariffs mode, else prorated', () => {
    expect(buy(3500, { hasTariff: true, days: 60 })).toMatchObject({ finalKopeks: 3500, days: 30 });
    expect(buy(3500, { hasTariff: false, days: 60 })).toMatchObject({ finalKopeks: 7000, days: 60 });
    expect(buy(3500, { hasTariff: true, days: 60, mode: classic })).toMatchObject({ finalKopeks: 7000 });
  });

  it('takes the add-on percent with the charged days as hint, and at least 100 kopeks', () => {
    expect(buy(3500, { hasTariff: true, days: 60, user: aBuyer(aGroup({ trafficDiscountPercent: 10 }), 50) })).toMatchObject({
      discountPercent: 10,
      discountKopeks: 350,
      finalKopeks: 3150,
    });
    const base = aGroup({ isDefault: true, periodDiscounts: { 60: 20 } });
    expect(buy(1000, { hasTariff: false, days: 60, user: aBuyer(base) })).toMatchObject({
      discountPercent: 20,
      finalKopeks: 1600,
    });
    expect(buy(150, { hasTariff: true, days: 1, user: aBuyer(aGroup({ trafficDiscountPercent: 90 })) }).finalKopeks).toBe(100);
    expect(buy(150, { hasTariff: true, days: 1, user: aBuyer(aGroup({ trafficDiscountPercent: 100 })) }).finalKopeks).toBe(0);
  });

  it('charges the discounted, prorated difference for a dearer package and nothing for a cheaper one', () => {
    const change = (oldPackageKopeks: number, newPackageKopeks: number) =>
      quoteTrafficChange({
        oldPackageKopeks,
        newPackageKopeks,
        endDate: inDays(45),
        user: aBuyer(aGroup({ trafficDiscountPercent: 10 })),
        settings: classic,
        now: NOW,
      });
    expect(change(3500, 7500)).toMatchObject({ originalKopeks: 6000, finalKopeks: 5400, discountKopeks: 600 });
    expect(change(7500, 3500).finalKopeks).toBe(0);
  });

  it('prorates an added server after its discount', () => {
    const user = aBuyer(aGroup({ serverDiscountPercent: 50 }));
    expect(quoteServer({ monthlyKopeks: 1000, endDate: inDays(45), user, settings, now: NOW })).toMatchObject({
      originalKopeks: 1500,
      finalKopeks: 750,
      days: 45,
    });
  });
});
