import { addDays, DAY_MS } from '../../../core/clock.ts';
import { MONTH_DAYS } from '../../pricing/periods.ts';
import type { Subscription, SubscriptionChanges, TrafficPurchase } from '../types.ts';

type Expiring = Pick<TrafficPurchase, 'trafficGb' | 'expiresAt'>;

/**
 * Sum and earliest end of the purchases that have not run out.
 * @returns what the live purchases of a subscription add up to; GB and the earliest end
 */
export function sumPurchases(purchases: readonly Expiring[], now: Date) {
  const live = livePurchases(purchases, now);
  return {
    purchasedTrafficGb: live.reduce((sum, purchase) => sum + purchase.trafficGb, 0),
    trafficResetAt: live[0]?.expiresAt ?? null,
  };
}

/** The purchases that have not run out, the one that ends first in front. */
export function livePurchases<T extends Pick<TrafficPurchase, 'expiresAt'>>(purchases: readonly T[], now: Date): T[] {
  return purchases
    .filter((purchase) => purchase.expiresAt.getTime() > now.getTime())
    .sort((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
}

/**
 * Adds a traffic package (spec 02 section 3.3): a purchase row for 30 days, a higher limit, and the aggregates of the live
 * purchases. An unlimited subscription does not change (hazard H25); the caller refuses.
 * @param purchases all purchases before this one
 */
export function addTraffic(
  subscription: Pick<Subscription, 'trafficLimitGb' | 'purchasedTrafficGb'>,
  purchases: readonly Expiring[],
  gb: number,
  now: Date,
): { purchase: Expiring & { createdAt: Date }; changes: SubscriptionChanges } | null {
  if (subscription.trafficLimitGb === 0 || gb <= 0) return null;
  const purchase = { trafficGb: gb, expiresAt: addDays(now, MONTH_DAYS), createdAt: now };
  const { trafficResetAt } = sumPurchases([...purchases, purchase], now);
  return {
    purchase,
    changes: {
      trafficLimitGb: subscription.trafficLimitGb + gb,
      purchasedTrafficGb: subscription.purchasedTrafficGb + gb,
      trafficResetAt,
    },
  };
}

/**
 * A traffic limit with GB taken off. A finite one keeps at least 1 GB, because 0 would make it unlimited (spec 01 section 11.2); an
 * unlimited one stays so.
 */
export function reducedLimit(trafficLimitGb: number, gb: number): number {
  return trafficLimitGb === 0 ? 0 : Math.max(1, trafficLimitGb - gb);
}

/**
 * Removes the purchases that ran out from the limit (spec 02 section 13, daily service 3): never below the limit without
 * purchases, never below 0 purchased. An operator may have set the limit below what was bought; it stays finite.
 * @returns null when none has run out
 */
export function expireTraffic<T extends Expiring>(
  subscription: Pick<Subscription, 'trafficLimitGb' | 'purchasedTrafficGb'>,
  purchases: readonly T[],
  now: Date,
): { expired: T[]; changes: SubscriptionChanges } | null {
  const expired = purchases.filter((purchase) => purchase.expiresAt.getTime() <= now.getTime());
  if (expired.length === 0) return null;
  const expiredGb = expired.reduce((sum, purchase) => sum + purchase.trafficGb, 0);
  const { trafficLimitGb, purchasedTrafficGb } = subscription;
  return {
    expired,
    changes: {
      trafficLimitGb: reducedLimit(trafficLimitGb, Math.min(expiredGb, purchasedTrafficGb)),
      purchasedTrafficGb: Math.max(0, purchasedTrafficGb - expiredGb),
      trafficResetAt: sumPurchases(purchases, now).trafficResetAt,
    },
  };
}

/** A live purchase as it is shown: whole days left, and how much of its time has gone by in percent with one decimal. */
export function purchaseProgress(
  purchase: Pick<TrafficPurchase, 'expiresAt' | 'createdAt'>,
  now: Date,
): { daysRemaining: number; progressPercent: number } {
  const totalMs = purchase.expiresAt.getTime() - purchase.createdAt.getTime();
  const leftMs = Math.max(0, purchase.expiresAt.getTime() - now.getTime());
  const elapsedMs = Math.min(totalMs, Math.max(0, now.getTime() - purchase.createdAt.getTime()));
  return {
    daysRemaining: Math.floor(leftMs / DAY_MS),
    progressPercent: totalMs > 0 ? Math.round((elapsedMs * 1000) / totalMs) / 10 : 100,
  };
}
