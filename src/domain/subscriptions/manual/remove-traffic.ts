import { refuse } from '../../../core/errors.ts';
import { reducedLimit, sumPurchases } from '../rules/traffic-purchases.ts';
import { readUserSubscription, removePurchase } from './manual-changes.ts';
import type { SubscriptionAction } from './types.ts';

/**
 * Takes a traffic package away (spec 01 section 11.2). A finite limit keeps at least 1 GB, because 0 would make it unlimited.
 */
export const removeTraffic: SubscriptionAction = async (t, subscription, { trafficPurchaseId }) => {
  if (trafficPurchaseId === null) {
    const text = 'traffic_purchase_id parameter is required for remove_traffic action';
    throw refuse('traffic_purchase_id_required', 400, text);
  }
  const removed = await removePurchase(t, subscription.id, trafficPurchaseId);
  if (!removed) throw refuse('traffic_purchase_not_found', 404, 'Traffic purchase not found');
  const rest = (await readUserSubscription(t, subscription.userId))?.purchases ?? [];
  return {
    changes: {
      trafficLimitGb: reducedLimit(subscription.trafficLimitGb, removed.trafficGb),
      purchasedTrafficGb: Math.max(0, subscription.purchasedTrafficGb - removed.trafficGb),
      trafficResetAt: sumPurchases(rest, t.clock.now()).trafficResetAt,
    },
    message: `Removed ${removed.trafficGb} GB of traffic`,
  };
};
