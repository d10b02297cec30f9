import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  displayMonthsOf,
  floorDivide,
  monthsOf,
  nearestPeriod,
  periodKeys,
  prorate,
  wholeDaysLeft,
} from '../../../src/domain/pricing/periods.ts';
import { inDays, NOW } from './samples.ts';

describe('months of a period', () => {
  it.each([
    [1, 1],
    [14, 1],
    [15, 1],
    [30, 1],
    [44, 1],
    [45, 2],
    [46, 2],
    [75, 2],
    [76, 3],
    [105, 4],
    [360, 12],
  ])('%i days are %i', (days, months) => {
    expect(monthsOf(days)).toBe(months);
  });

  it('is within half a month of the exact quotient', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3650 }), (days) => {
        const months = monthsOf(days);
        expect(months).toBeGreaterThanOrEqual(1);
        if (days >= 15) expect(Math.abs(2 * (months * 30 - days))).toBeLessThanOrEqual(30);
        if (days > 15 && days % 30 === 15) expect(months % 2).toBe(0);
      }),
    );
  });

  it('is rounded down for display', () => {
    expect([14, 30, 45, 59, 60, 360].map(displayMonthsOf)).toEqual([1, 1, 1, 1, 2, 12]);
  });
});

describe('proration', () => {
  it.each([
    [5000, 10, 5000, 30],
    [5000, 45, 7500, 45],
    [100, 31, 103, 31],
    [30, 2, 100, 30],
    [0, 45, 0, 45],
  ])('%i a month with %i days left costs %i', (monthly, days, price, charged) => {
    expect(prorate(monthly, inDays(days), NOW)).toEqual({ priceKopeks: price, days: charged });
  });

  it('counts whole days only', () => {
    expect(prorate(3000, inDays(45.9), NOW)).toEqual({ priceKopeks: 4500, days: 45 });
    expect(wholeDaysLeft(inDays(0.99), NOW)).toBe(0);
    expect(wholeDaysLeft(inDays(-3), NOW)).toBe(0);
  });

  it('is at least one month, never above the exact share, and grows with the time left', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 100, max: 10_000_000 }),
        fc.double({ min: -10, max: 3650, noNaN: true }),
        fc.double({ min: 0, max: 100, noNaN: true }),
        (monthly, left, more) => {
          const { priceKopeks, days } = prorate(monthly, inDays(left), NOW);
          expect(priceKopeks).toBeGreaterThanOrEqual(monthly);
          expect(priceKopeks * 30).toBeLessThanOrEqual(monthly * days);
          expect(priceKopeks * 30).toBeGreaterThan(monthly * days - 30);
          expect(prorate(monthly, inDays(left + more), NOW).priceKopeks).toBeGreaterThanOrEqual(priceKopeks);
        },
      ),
    );
  });
});

describe('period keys', () => {
  it('finds the nearest period, the shorter one on a tie', () => {
    const prices = { 30: 1, 90: 1 };
    expect(nearestPeriod(prices, 61)).toBe(90);
    expect(nearestPeriod(prices, 60)).toBe(30);
    expect(nearestPeriod(prices, 0)).toBe(30);
    expect(nearestPeriod({}, 60)).toBeNull();
  });

  it('sorts numerically and ignores what is no period', () => {
    expect(periodKeys({ 360: 1, 30: 1, 0: 1, [-5]: 1, 14: 1 })).toEqual([14, 30, 360]);
  });
});

it('divides toward minus infinity', () => {
  expect([floorDivide(7, 2), floorDivide(-7, 2), floorDivide(-8, 2), floorDivide(0, 5)]).toEqual([3, -4, -4, 0]);
});
