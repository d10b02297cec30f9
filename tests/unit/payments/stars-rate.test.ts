import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kopeksForStars, starsForKopeks } from '../../../src/domain/payments/stars-invoices.ts';

describe('Stars rate', () => {
  it.each([
    [100, 1.3, 1],
    [13_000, 1.3, 100],
    [10_000, 1.3, 77],
    [195, 1.3, 2],
    [194, 1.3, 2],
    [130, 1.3, 1],
    [131, 1.3, 2],
    [1, 1.3, 1],
    [0, 1.3, 1],
    [1_000_000, '1.79', 5_587],
  ])('asks %i kopeks at %s as %i stars', (kopeks, rate, stars) => {
    expect(starsForKopeks(kopeks, rate)).toBe(stars);
  });

  it.each([
    [77, 1.3, 10_010],
    [1, '1.005', 101],
    [1, '1.004', 100],
    [3, 0.035, 11],
    [0, 1.3, 0],
  ])('credits %i stars at %s as %i kopeks', (stars, rate, kopeks) => {
    expect(kopeksForStars(stars, rate)).toBe(kopeks);
  });

  it('rounds halves up exactly where floating point would not: 1.005 RUB is 100.49999 as a double', () => {
    expect(Math.round(1.005 * 100)).toBe(100);
    expect(kopeksForStars(1, 1.005)).toBe(101);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 'x', '', '1,3'])('refuses the rate %s', (rate) => {
    expect(() => starsForKopeks(100, rate)).toThrow(RangeError);
  });

  it('never asks for less than the amount, nor for a whole star more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 1_000_000 }), fc.integer({ min: 1, max: 1_000 }), (kopeks, rateKopeks) => {
        const rate = `${Math.trunc(rateKopeks / 100)}.${String(rateKopeks % 100).padStart(2, '0')}`;
        const stars = starsForKopeks(kopeks, rate);
        const back = kopeksForStars(stars, rate);
        expect(back).toBe(stars * rateKopeks);
        expect(back).toBeGreaterThanOrEqual(kopeks);
        expect(back - kopeks).toBeLessThan(rateKopeks);
      }),
    );
  });
});
