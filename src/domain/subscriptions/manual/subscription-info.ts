import { DAY_MS } from '../../../core/clock.ts';
import { actualStatus, daysLeft, isActive } from '../rules/status.ts';
import type { Subscription, SubscriptionStatus, TrafficPurchase } from '../types.ts';

/** A traffic package of a subscription as it stands now. */
export interface PurchaseInfo {
  id: number;
  trafficGb: number;
  expiresAt: Date;
  createdAt: Date;
  /** Whole days, 0 when it has run out. */
  daysRemaining: number;
  isExpired: boolean;
}

/** A subscription as an administrator sees it. */
export interface SubscriptionInfo {
  id: number;
  /** As it holds now, not as stored (spec 02 H29). */
  status: SubscriptionStatus;
  isTrial: boolean;
  startDate: Date;
  endDate: Date;
  /** 0 = unlimited. */
  trafficLimitGb: number;
  trafficUsedGb: number;
  deviceLimit: number;
  tariffId: number | null;
  tariffName: string | null;
  autopayEnabled: boolean;
  isActive: boolean;
  daysRemaining: number;
  purchasedTrafficGb: number;
  /** Newest first. */
  purchases: PurchaseInfo[];
}

/** @param purchases in any order */
export function subscriptionInfo(
  subscription: Subscription,
  tariffName: string | null,
  purchases: readonly TrafficPurchase[],
  now: Date,
): SubscriptionInfo {
  return {
    id: subscription.id,
    status: actualStatus(subscription, now),
    isTrial: subscription.isTrial,
    startDate: subscription.startDate,
    endDate: subscription.endDate,
    trafficLimitGb: subscription.trafficLimitGb,
    trafficUsedGb: subscription.trafficUsedGb,
    deviceLimit: subscription.deviceLimit,
    tariffId: subscription.tariffId,
    tariffName,
    autopayEnabled: subscription.autopayEnabled,
    isActive: isActive(subscription, now),
    daysRemaining: daysLeft(subscription, now),
    purchasedTrafficGb: subscription.purchasedTrafficGb,
    purchases: purchases
      .toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || b.id - a.id)
      .map((purchase) => ({
        id: purchase.id,
        trafficGb: purchase.trafficGb,
        expiresAt: purchase.expiresAt,
        createdAt: purchase.createdAt,
        daysRemaining: Math.max(0, Math.floor((purchase.expiresAt.getTime() - now.getTime()) / DAY_MS)),
        isExpired: purchase.expiresAt.getTime() <= now.getTime(),
      })),
  };
}
