import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addTraffic,
  expireTraffic,
  livePurchases,
  purchaseProgress,
  sumPurchases,
} from '../../../src/domain/subscriptions/rules/traffic-purchases.ts';
import { inDays, NOW } from './samples.ts';

const purchases = [
  { trafficGb: 10, expiresAt: inDays(9) },
  { trafficGb: 5, expiresAt: inDays(2) },
  { trafficGb: 50, expiresAt: NOW },
  { trafficGb: 7, expiresAt: inDays(-1) },
];

describe('traffic purchases', () => {
  it('sums the live ones and names the earliest end', () => {
    expect(sumPurchases(purchases, NOW)).toEqual({ purchasedTrafficGb: 15, trafficResetAt: inDays(2) });
    expect(sumPurchases([], NOW)).toEqual({ purchasedTrafficGb: 0, trafficResetAt: null });
    expect(livePurchases(purchases, NOW).map((purchase) => purchase.trafficGb)).toEqual([5, 10]);
  });

  it('adds a package for 30 days', () => {
    const added = addTraffic({ trafficLimitGb: 115, purchasedTrafficGb: 15 }, purchases, 20, NOW);
    expect(added?.purchase).toEqual({ trafficGb: 20, expiresAt: inDays(30), createdAt: NOW });
    expect(added?.changes).toEqual({ trafficLimitGb: 135, purchasedTrafficGb: 35, trafficResetAt: inDays(2) });
    expect(addTraffic({ trafficLimitGb: 100, purchasedTrafficGb: 0 }, [], 20, NOW)?.changes.trafficResetAt).toEqual(inDays(30));
  });

  it('adds nothing to an unlimited subscription, and no 0 GB (spec 02 H25)', () => {
    expect(addTraffic({ trafficLimitGb: 0, purchasedTrafficGb: 0 }, [], 20, NOW)).toBeNull();
    expect(addTraffic({ trafficLimitGb: 100, purchasedTrafficGb: 0 }, [], 0, NOW)).toBeNull();
  });

  it('takes what ran out off the limit', () => {
    const result = expireTraffic({ trafficLimitGb: 172, purchasedTrafficGb: 72 }, purchases, NOW);
    expect(result?.expired.map((purchase) => purchase.trafficGb)).toEqual([50, 7]);
    expect(result?.changes).toEqual({ trafficLimitGb: 115, purchasedTrafficGb: 15, trafficResetAt: inDays(2) });
    expect(expireTraffic({ trafficLimitGb: 115, purchasedTrafficGb: 15 }, purchases.slice(0, 2), NOW)).toBeNull();
  });

  it('never falls below the own limit, and leaves an unlimited one unlimited', () => {
    expect(expireTraffic({ trafficLimitGb: 100, purchasedTrafficGb: 0 }, purchases, NOW)?.changes).toMatchObject({
      trafficLimitGb: 100,
      purchasedTrafficGb: 0,
    });
    expect(expireTraffic({ trafficLimitGb: 0, purchasedTrafficGb: 0 }, purchases, NOW)?.changes.trafficLimitGb).toBe(0);
  });

  it('never makes a finite limit unlimited, whatever an operator set it to', () => {
    const ended = [{ trafficGb: 50, expiresAt: NOW }];
    for (const trafficLimitGb of [40, 50, 1]) {
      const result = expireTraffic({ trafficLimitGb, purchasedTrafficGb: 50 }, ended, NOW);
      expect(result?.changes).toMatchObject({ trafficLimitGb: 1, purchasedTrafficGb: 0 });
    }
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.nat(500), fc.integer({ min: 1, max: 500 }), (limit, bought, gb) => {
        const purchases = [{ trafficGb: gb, expiresAt: NOW }];
        const after = expireTraffic({ trafficLimitGb: limit, purchasedTrafficGb: bought }, purchases, NOW)!.changes
          .trafficLimitGb!;
        expect(after).toBeGreaterThanOrEqual(1);
        expect(after).toBeLessThanOrEqual(limit);
      }),
    );
  });

  it('gives back the own limit once every added package has run out', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1000 }),
        fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 8 }),
        (limitGb, packages) => {
          let state = { trafficLimitGb: limitGb, purchasedTrafficGb: 0 };
          const rows: { trafficGb: number; expiresAt: Date }[] = [];
          for (const gb of packages) {
            const added = addTraffic(state, rows, gb, NOW);
            if (added === null) throw new Error('refused');
            rows.push(added.purchase);
            state = { ...state, ...added.changes };
            expect(state.trafficLimitGb - state.purchasedTrafficGb).toBe(limitGb);
          }
          const ended = expireTraffic(state, rows, inDays(31));
          expect(ended?.changes.trafficLimitGb ?? limitGb).toBe(limitGb);
          expect(ended?.changes.purchasedTrafficGb ?? 0).toBe(0);
        },
      ),
    );
  });

  it('shows days left and elapsed time', () => {
    const purchase = { createdAt: inDays(-10), expiresAt: inDays(20) };
    expect(purchaseProgress(purchase, NOW)).toEqual({ daysRemaining: 20, progressPercent: 33.3 });
    expect(purchaseProgress(purchase, inDays(20.5))).toEqual({ daysRemaining: 0, progressPercent: 100 });
    expect(purchaseProgress(purchase, inDays(0.5)).daysRemaining).toBe(19);
    expect(purchaseProgress({ createdAt: NOW, expiresAt: NOW }, NOW).progressPercent).toBe(100);
  });
});
