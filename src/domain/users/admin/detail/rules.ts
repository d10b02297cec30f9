import { DAY_MS } from '../../../../core/clock.ts';
import { actualStatus, daysLeft, isActive } from '../../../subscriptions/rules/status.ts';
import type { Subscription, TrafficPurchase } from '../../../subscriptions/types.ts';
import type { SubscriptionInfo } from '../types.ts';

/** Movements that an administrator sees as a loss of the user, however they are stored (spec 01 section 11.1). */
const DEBITS: ReadonlySet<string> = new Set(['withdrawal', 'subscription_payment', 'gift_payment']);

export function shownAmount(type: string, kopeks: number): number {
  return DEBITS.has(type) && kopeks !== 0 ? -Math.abs(kopeks) : kopeks;
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
