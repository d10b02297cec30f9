import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ClassicPriceInput, packagePrice, quoteClassic } from '../../../src/domain/pricing/classic-price.ts';
import { aBuyer, aGroup, NOW, pricingSettings } from './samples.ts';

const settings = pricingSettings({ salesMode: 'classic' });
const servers = [
  { id: 1, squadUuid: 'a', priceKopeks: 1000 },
  { id: 2, squadUuid: 'b', priceKopeks: 2500 },
];

function quoteOf(fields: Partial<ClassicPriceInput>) {
  return quoteClassic({
    periodDays: 30,
    trafficLimitGb: 10,
    purchasedTrafficGb: 0,
    squadUuids: [],
    servers,
    deviceLimit: 1,
    user: aBuyer(),
    settings,
    now: NOW,
    ...fields,
  });
}

describe('classic price, documented vectors', () => {
  it('180 days with every part discounted', () => {
    const group = aGroup({
      periodDiscounts: { 180: 10 },
      serverDiscountPercent: 15,
      trafficDiscountPercent: 5,
      deviceDiscountPercent: 33,
    });
    const quote = quoteOf({
      periodDays: 180,
      trafficLimitGb: 100,
      squadUuids: ['a', 'b'],
      deviceLimit: 3,
      user: aBuyer(group, 20),
    });
    expect(quote.base.finalKopeks).toBe(449_100);
    expect(quote.servers.finalKopeks).toBe(17_850);
    expect(quote.traffic.finalKopeks).toBe(85_500);
    expect(quote.devices.finalKopeks).toBe(40_200);
    expect(quote.subtotalKopeks).toBe(592_650);
    expect(quote.finalKopeks).toBe(474_120);
    expect(quote.serverPrices).toEqual([
      { serverId: 1, squadUuid: 'a', paidPriceKopeks: 5100 },
      { serverId: 2, squadUuid: 'b', paidPriceKopeks: 12_750 },
    ]);
  });

  it('14 days count as one month', () => {
    expect(quoteOf({ periodDays: 14, squadUuids: ['a'] }).finalKopeks).toBe(54_500);
  });
});

describe('classic price', () => {
  it('has a base of 0 outside the price list', () => {
    expect(quoteOf({ periodDays: 45 }).base.originalKopeks).toBe(0);
  });

  it('counts an unknown server as nothing', () => {
    const quote = quoteOf({ squadUuids: ['a', 'x', 'a'] });
    expect(quote.servers.finalKopeks).toBe(1000);
    expect(quote.serverPrices.map((entry) => entry.serverId)).toEqual([1]);
  });

  it('charges unlimited traffic what it is listed at (spec 02 H3)', () => {
    expect(quoteOf({ trafficLimitGb: 0 }).traffic.finalKopeks).toBe(20_000);
    expect(quoteOf({ trafficLimitGb: 0, periodDays: 90 }).traffic.finalKopeks).toBe(60_000);
  });

  it('prices the own limit and the purchased part one by one', () => {
    expect(quoteOf({ trafficLimitGb: 60, purchasedTrafficGb: 10 }).traffic.finalKopeks).toBe(11_000 + 3500);
    expect(quoteOf({ trafficLimitGb: 10, purchasedTrafficGb: 10 }).traffic.finalKopeks).toBe(3500);
  });

  it.each(['fixed', 'fixed_with_topup'])('prices the fixed limit in mode %s, purchases not counted', (trafficSelectionMode) => {
    const fixed = pricingSettings({ trafficSelectionMode, fixedTrafficLimitGb: 50 });
    const quote = quoteOf({ settings: fixed, trafficLimitGb: 500, purchasedTrafficGb: 100 });
    expect(quote.trafficLimitGb).toBe(50);
    expect(quote.traffic.finalKopeks).toBe(11_000);
  });

  it('floors the discount per month before the month factor', () => {
    const quote = quoteOf({
      periodDays: 90,
      squadUuids: ['c'],
      servers: [{ id: 3, squadUuid: 'c', priceKopeks: 199 }],
      user: aBuyer(aGroup({ serverDiscountPercent: 50 })),
    });
    expect(quote.servers.finalKopeks).toBe(300);
  });

  it('adds up and is never negative', () => {
    const percent = fc.integer({ min: 0, max: 100 });
    fc.assert(
      fc.property(
        fc.constantFrom(14, 30, 45, 60, 90, 180, 360),
        fc.integer({ min: 0, max: 2000 }),
        fc.integer({ min: 0, max: 500 }),
        fc.integer({ min: 0, max: 30 }),
        fc.tuple(percent, percent, percent, percent, percent),
        (periodDays, limit, purchased, deviceLimit, [period, server, traffic, device, offer]) => {
          const group = aGroup({
            periodDiscounts: { [periodDays]: period },
            serverDiscountPercent: server,
            trafficDiscountPercent: traffic,
            deviceDiscountPercent: device,
          });
          const quote = quoteOf({
            periodDays,
            trafficLimitGb: limit,
            purchasedTrafficGb: Math.min(limit, purchased),
            squadUuids: ['a', 'b'],
            deviceLimit,
            user: aBuyer(group, offer),
          });
          expect(quote.finalKopeks).toBeGreaterThanOrEqual(0);
          expect(quote.originalTotalKopeks).toBe(quote.finalKopeks + quote.groupDiscountKopeks + quote.offerDiscountKopeks);
          const whole = quoteOf({
            periodDays,
            trafficLimitGb: limit,
            purchasedTrafficGb: Math.min(limit, purchased),
            squadUuids: ['a', 'b'],
            deviceLimit,
          });
          expect(whole.finalKopeks).toBe(quote.originalTotalKopeks);
        },
      ),
    );
  });
});

describe('package price', () => {
  const { trafficPackages } = settings;
  const of = (gb: number, disabled: number[] = []) =>
    packagePrice(
      trafficPackages.map((entry) => ({ ...entry, isEnabled: !disabled.includes(entry.gb) })),
      gb,
    );

  it('is exact, else the next larger package', () => {
    expect(of(50)).toBe(11_000);
    expect(of(51)).toBe(15_000);
    expect(of(1)).toBe(2000);
    expect(of(50, [50])).toBe(15_000);
  });

  it('is the unlimited one at and beyond the largest, else the largest', () => {
    expect(of(1000)).toBe(19_500);
    expect(of(1001)).toBe(20_000);
    expect(of(1001, [0])).toBe(19_500);
  });

  it('is 0 for 0 GB without an unlimited package', () => {
    expect(of(0)).toBe(20_000);
    expect(of(0, [0])).toBe(0);
    expect(packagePrice([], 10)).toBe(0);
    expect(packagePrice([{ gb: 0, priceKopeks: 700, isEnabled: true }], 10)).toBe(700);
  });
});
