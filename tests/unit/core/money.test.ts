import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyPercent, formatPrice, percentOf, rublesOf } from '../../../src/core/money.ts';

const amounts = fc.oneof(fc.nat(1_000_000), fc.maxSafeNat());

describe('applyPercent', () => {
  it.each([
    [1000, 10, 900],
    [999, 10, 900],
    [1, 50, 1],
    [101, 33, 68],
    [12_345, 0, 12_345],
    [12_345, 100, 0],
    [12_345, -5, 12_345],
    [12_345, 150, 0],
    [1000, 12.5, 875],
    [0, 30, 0],
    [Number.MAX_SAFE_INTEGER, 99, 90_071_992_547_410],
  ])('%i less %d %% is %i', (amount, percent, expected) => {
    expect(applyPercent(amount, percent)).toBe(expected);
  });

  it('equals exact arithmetic for every safe integer', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 100 }), (amount, percent) => {
        const exact = (BigInt(amount) * BigInt(percent)) / 100n;
        expect(percentOf(amount, percent)).toBe(Number(exact));
        expect(BigInt(applyPercent(amount, percent))).toBe(BigInt(amount) - exact);
      }),
      { numRuns: 1_000 },
    );
  });

  it('stays between zero and the amount and never grows with the discount', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: -20, max: 120 }), fc.integer({ min: 0, max: 20 }), (amount, percent, more) => {
        const price = applyPercent(amount, percent);
        expect(price).toBeGreaterThanOrEqual(0);
        expect(price).toBeLessThanOrEqual(amount);
        expect(applyPercent(amount, percent + more)).toBeLessThanOrEqual(price);
      }),
    );
  });

  it.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -1])('refuses %d kopeks', (amount) => {
    expect(() => applyPercent(amount, 10)).toThrow(RangeError);
  });

  it('refuses a percentage that is no number', () => {
    expect(() => applyPercent(100, Number.NaN)).toThrow(RangeError);
  });
});

describe('formatPrice', () => {
  it.each([
    [0, '0 ₽', '0 ₽'],
    [1, '0.01 ₽', '0.01 ₽'],
    [50, '0.50 ₽', '0.5 ₽'],
    [51, '0.51 ₽', '0.51 ₽'],
    [100, '1 ₽', '1 ₽'],
    [1_005, '10.05 ₽', '10.05 ₽'],
    [4_850, '48.50 ₽', '48.5 ₽'],
    [9_999, '99.99 ₽', '99.99 ₽'],
    [99_000, '990 ₽', '990 ₽'],
    [123_456_789, '1234567.89 ₽', '1234567.89 ₽'],
    [-30, '-0.30 ₽', '-0.3 ₽'],
    [-1_051, '-10.51 ₽', '-10.51 ₽'],
  ])('08 C6: %i kopeks, with PRICE_ROUNDING_ENABLED and without', (kopeks, even, shortest) => {
    expect(formatPrice(kopeks, true)).toBe(even);
    expect(formatPrice(kopeks, false)).toBe(shortest);
  });

  it('08 C6: every label names the exact amount', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (kopeks) => {
        expect(formatPrice(kopeks, false)).toMatch(/^-?\d+(\.\d?[1-9])? ₽$/);
        expect(formatPrice(kopeks, true)).toMatch(/^-?\d+(\.\d\d)? ₽$/);
        for (const label of [formatPrice(kopeks, false), formatPrice(kopeks, true)]) {
          expect(Math.round(Number(label.replace(' ₽', '')) * 100) + 0).toBe(kopeks);
        }
      }),
    );
  });
});

describe('rublesOf', () => {
  it('is kopeks / 100', () => {
    expect([rublesOf(0), rublesOf(1), rublesOf(12_345), rublesOf(-50)]).toEqual([0, 0.01, 123.45, -0.5]);
  });
});
