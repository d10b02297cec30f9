import { refuse } from '../../../core/errors.ts';
import { outOfBounds } from '../errors.ts';
import { reactivatedStatus } from '../rules/status.ts';
import { addTraffic as withPackage } from '../rules/traffic-purchases.ts';
import { MAX_TRAFFIC_GB } from '../web-subscriptions.ts';
import { readUserSubscription } from './manual-changes.ts';
import type { SubscriptionAction } from './types.ts';

/**
 * Adds a traffic package for 30 days without charging; what has stopped goes on while paid time is left (spec 01 section 11.2). An
 * unlimited subscription stays as it is: nothing can be added to it (spec 02 H25).
 */
export const addTraffic: SubscriptionAction = async (t, subscription, { trafficGb }) => {
  if (trafficGb === null) throw refuse('traffic_gb_required', 400, 'traffic_gb parameter is required for add_traffic action');
  const now = t.clock.now();
  const status = reactivatedStatus(subscription, now);
  const held = await readUserSubscription(t, subscription.userId);
  const added = withPackage(subscription, held?.purchases ?? [], trafficGb, now);
  if (!added) return { changes: { status }, message: 'Subscription has unlimited traffic' };
  if (subscription.trafficLimitGb + trafficGb > MAX_TRAFFIC_GB) {
    throw outOfBounds('traffic_gb', trafficGb, { le: MAX_TRAFFIC_GB - subscription.trafficLimitGb });
  }
  return {
    changes: { ...added.changes, status },
    purchase: added.purchase,
    message: `Added ${trafficGb} GB of traffic`,
  };
};
