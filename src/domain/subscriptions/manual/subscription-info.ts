import { DAY_MS } from '../../../core/clock.ts';
import { actualStatus, daysLeft, isActive } from '../rules/status.ts';
import type { Subscription, TrafficPurchase } from '../types.ts';

/** A traffic package of a subscription at this moment. */
export interface PurchaseInfo extends TrafficPurchase {
  /** Whole days, 0 when it has expired. */
  daysRemaining: number;
  isExpired: boolean;
}

/** A subscription as it is shown to administrators; `status` is the one at this moment, not the stored one (spec 02 H29). */
export interface SubscriptionInfo extends Subscription {
  tariffName: string | null;
  isActive: boolean;
  /** Whole days. */
  daysRemaining: number;
  /** Newest first. */
  trafficPurchases: PurchaseInfo[];
}

/** @param purchases in any order */
export function subscriptionInfo(
  subscription: Subscription,
  tariffName: string | null,
  purchases: readonly TrafficPurchase[],
  now: Date,
): SubscriptionInfo {
  return {
    ...subscription,
    status: actualStatus(subscription, now),
    tariffName,
    isActive: isActive(subscription, now),
    daysRemaining: daysLeft(subscription, now),
    trafficPurchases: purchases
      .toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || b.id - a.id)
      .map((purchase) => ({
        ...purchase,
        daysRemaining: Math.max(0, Math.floor((purchase.expiresAt.getTime() - now.getTime()) / DAY_MS)),
        isExpired: purchase.expiresAt.getTime() <= now.getTime(),
      })),
  };
}
