import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tariff } from '../../../src/domain/catalog/types.ts';
import {
  canTopUpTraffic,
  purchaseDeviceLimit,
  quoteTariff,
  shortestPeriod,
  type TariffPriceInput,
  type TariffQuote,
} from '../../../src/domain/pricing/tariff-price.ts';
import { aBuyer, aGroup, aTariff, NOW, pricingSettings } from './samples.ts';

const settings = pricingSettings();

function inputOf(tariff: Tariff, periodDays: number, fields: Partial<TariffPriceInput> = {}): TariffPriceInput {
  return {
    tariff,
    periodDays,
    deviceLimit: tariff.deviceLimit,
    customTrafficGb: null,
    user: aBuyer(),
    settings,
    now: NOW,
    ...fields,
  };
}

function quoteOf(tariff: Tariff, periodDays: number, fields: Partial<TariffPriceInput> = {}): TariffQuote {
  const result = quoteTariff(inputOf(tariff, periodDays, fields));
  if (result.kind === 'refusal') throw new Error(result.reason);
  return result;
}

function reasonOf(tariff: Tariff, periodDays: number, fields: Partial<TariffPriceInput> = {}): string {
  const result = quoteTariff(inputOf(tariff, periodDays, fields));
  return result.kind === 'refusal' ? result.reason : 'quote';
}

describe('tariff price, documented vectors', () => {
  it('90 days with extra devices, group and offer', () => {
    const tariff = aTariff({ periodPrices: { 90: 129_900 }, devicePriceKopeks: 5000 });
    const user = aBuyer(aGroup({ periodDiscounts: { 90: 10 }, deviceDiscountPercent: 20 }), 15);
    const quote = quoteOf(tariff, 90, { deviceLimit: 3, user });
    expect(quote.base.finalKopeks).toBe(116_910);
    expect(quote.devices.finalKopeks).toBe(24_000);
    expect(quote).toMatchObject({
      subtotalKopeks: 140_910,
      finalKopeks: 119_774,
      groupDiscountKopeks: 18_990,
      offerDiscountKopeks: 21_136,
      originalTotalKopeks: 159_900,
    });
  });

  it('14 days: the discount is floored and devices cost one month', () => {
    const tariff = aTariff({ periodPrices: { 14: 33_333 }, devicePriceKopeks: 5000 });
    const quote = quoteOf(tariff, 14, { deviceLimit: 2, user: aBuyer(aGroup({ periodDiscounts: { 14: 7 } })) });
    expect(quote.base.finalKopeks).toBe(31_000);
    expect(quote.finalKopeks).toBe(36_000);
  });

  it('custom traffic with the add-on percent', () => {
    const tariff = aTariff({ periodPrices: { 30: 50_000 }, customTrafficEnabled: true, trafficPricePerGbKopeks: 1500 });
    const quote = quoteOf(tariff, 30, { customTrafficGb: 40, user: aBuyer(aGroup({ trafficDiscountPercent: 25 }), 10) });
    expect(quote.traffic.finalKopeks).toBe(45_000);
    expect(quote.finalKopeks).toBe(85_500);
  });
});

describe('tariff price', () => {
  it('takes the service-wide device price when the tariff has none, and no price at all for 0', () => {
    expect(quoteOf(aTariff(), 30, { deviceLimit: 2 }).devices.finalKopeks).toBe(5000);
    expect(quoteOf(aTariff({ devicePriceKopeks: 0 }), 30, { deviceLimit: 2 }).devices.finalKopeks).toBe(0);
    expect(quoteOf(aTariff({ deviceLimit: 3 }), 30, { deviceLimit: 1 }).devices.finalKopeks).toBe(0);
  });

  it('counts months with ties to even for devices', () => {
    const tariff = aTariff({ periodPrices: { 45: 1000, 105: 1000 }, devicePriceKopeks: 100 });
    expect(quoteOf(tariff, 45, { deviceLimit: 2 }).devices.finalKopeks).toBe(200);
    expect(quoteOf(tariff, 105, { deviceLimit: 2 }).devices.finalKopeks).toBe(400);
  });

  it('sells a daily tariff by the day', () => {
    const quote = quoteOf(aTariff({ isDaily: true, dailyPriceKopeks: 1900, periodPrices: {} }), 1, { deviceLimit: 2 });
    expect(quote.base.finalKopeks).toBe(1900);
    expect(quote.devices.finalKopeks).toBe(5000);
    expect(reasonOf(aTariff({ isDaily: true, dailyPriceKopeks: 0, periodPrices: {} }), 1)).toBe('period_unavailable');
  });

  it('keeps custom traffic at its full price when the group keeps its discounts off add-ons', () => {
    const tariff = aTariff({ customTrafficEnabled: true, trafficPricePerGbKopeks: 100 });
    const group = aGroup({ trafficDiscountPercent: 50, applyDiscountsToAddons: false });
    expect(quoteOf(tariff, 30, { customTrafficGb: 10, user: aBuyer(group) }).traffic.finalKopeks).toBe(1000);
  });

  it('gives custom traffic no hint of the period', () => {
    const tariff = aTariff({ customTrafficEnabled: true, trafficPricePerGbKopeks: 100 });
    const user = aBuyer(aGroup({ isDefault: true, periodDiscounts: { 30: 10 } }));
    const quote = quoteOf(tariff, 30, { customTrafficGb: 10, deviceLimit: 2, user });
    expect([quote.base, quote.devices, quote.traffic].map((part) => part.discountPercent)).toEqual([10, 10, 0]);
  });

  it('refuses a period that is not priced (spec 02 H1)', () => {
    const custom = aTariff({ customDaysEnabled: true, pricePerDayKopeks: 500, minDays: 5, maxDays: 60 });
    expect(reasonOf(aTariff(), 31)).toBe('period_unavailable');
    expect(reasonOf(aTariff(), 0)).toBe('period_unavailable');
    expect(reasonOf(aTariff(), -30)).toBe('period_unavailable');
    expect(reasonOf(aTariff({ periodPrices: { 30: 1, 45.5: 1 } }), 45.5)).toBe('period_unavailable');
    expect(reasonOf(custom, 4)).toBe('period_unavailable');
    expect(reasonOf(custom, 61)).toBe('period_unavailable');
    expect(quoteOf(custom, 7).finalKopeks).toBe(3500);
    expect(quoteOf(custom, 30).finalKopeks).toBe(30_000);
  });

  it('gives a period away only when it is priced 0 or discounted to 0 (spec 02 H1)', () => {
    expect(quoteOf(aTariff({ periodPrices: { 30: 0 } }), 30).finalKopeks).toBe(0);
    expect(quoteOf(aTariff(), 30, { user: aBuyer(null, 100) }).finalKopeks).toBe(0);
    expect(quoteOf(aTariff({ periodPrices: { 30: 0 }, customDaysEnabled: true, pricePerDayKopeks: 10 }), 30).finalKopeks).toBe(
      300,
    );
  });

  it('refuses traffic outside the bounds, or when it cannot be picked (spec 02 H2)', () => {
    const tariff = aTariff({ customTrafficEnabled: true, trafficPricePerGbKopeks: 10, minTrafficGb: 5, maxTrafficGb: 50 });
    for (const gb of [0, 4, 51]) expect(reasonOf(tariff, 30, { customTrafficGb: gb })).toBe('traffic_out_of_range');
    for (const gb of [5, 50]) expect(quoteOf(tariff, 30, { customTrafficGb: gb }).traffic.finalKopeks).toBe(gb * 10);
    expect(reasonOf(aTariff(), 30, { customTrafficGb: 10 })).toBe('traffic_out_of_range');
    expect(reasonOf(aTariff({ customTrafficEnabled: true }), 30, { customTrafficGb: 10 })).toBe('traffic_out_of_range');
  });

  it('is never negative, never above the original, and adds up', () => {
    const amount = fc.integer({ min: 0, max: 10_000_000 });
    const percent = fc.integer({ min: 0, max: 100 });
    fc.assert(
      fc.property(
        amount,
        amount,
        fc.integer({ min: 1, max: 3650 }),
        fc.integer({ min: 0, max: 50 }),
        fc.tuple(percent, percent, percent),
        (price, device, days, limit, [period, devices, offer]) => {
          const group = aGroup({ periodDiscounts: { [days]: period }, deviceDiscountPercent: devices });
          const tariff = aTariff({ periodPrices: { [days]: price }, devicePriceKopeks: device });
          const quote = quoteOf(tariff, days, { deviceLimit: limit, user: aBuyer(group, offer) });
          expect(quote.finalKopeks).toBeGreaterThanOrEqual(0);
          expect(quote.finalKopeks).toBeLessThanOrEqual(quote.originalTotalKopeks);
          expect(quote.originalTotalKopeks).toBe(quote.finalKopeks + quote.groupDiscountKopeks + quote.offerDiscountKopeks);
          const dearer = quoteOf(tariff, days, { deviceLimit: limit, user: aBuyer(group, Math.max(0, offer - 1)) });
          expect(quote.finalKopeks).toBeLessThanOrEqual(dearer.finalKopeks);
        },
      ),
    );
  });
});

describe('tariff terms', () => {
  it('knows the shortest period', () => {
    expect(shortestPeriod({ periodPrices: { 90: 1, 30: 1 } })).toBe(30);
    expect(shortestPeriod({ periodPrices: {} })).toBeNull();
  });

  it('tops up only limited tariffs with packages', () => {
    const tariff = aTariff({ trafficTopupEnabled: true, trafficTopupPackages: { 10: 1000 } });
    expect(canTopUpTraffic(tariff)).toBe(true);
    expect(canTopUpTraffic({ ...tariff, trafficLimitGb: 0 })).toBe(false);
    expect(canTopUpTraffic({ ...tariff, trafficTopupPackages: {} })).toBe(false);
    expect(canTopUpTraffic({ ...tariff, trafficTopupEnabled: false })).toBe(false);
  });

  it('prices a purchase with the own device limit only on the same tariff', () => {
    const tariff = aTariff({ id: 5, deviceLimit: 2 });
    expect(purchaseDeviceLimit(tariff, null)).toBe(2);
    expect(purchaseDeviceLimit(tariff, { tariffId: 5, deviceLimit: 4 })).toBe(4);
    expect(purchaseDeviceLimit(tariff, { tariffId: 5, deviceLimit: 1 })).toBe(2);
    expect(purchaseDeviceLimit(tariff, { tariffId: 6, deviceLimit: 4 })).toBe(2);
  });
});
