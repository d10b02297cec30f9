import { refusal } from '../../../core/errors.ts';
import { MAX_TRAFFIC_GB } from '../bounds.ts';
import { outOfBounds } from '../errors.ts';
import { isPast, reactivatedStatus } from '../rules/status.ts';
import { addTraffic as addPackage, reducedLimit, sumPurchases } from '../rules/traffic-purchases.ts';
import { readUserSubscription, removePurchase } from './manual-changes.ts';
import type { SubscriptionAction } from './types.ts';

const trafficGbRequired = refusal('traffic_gb_required', 400, 'traffic_gb parameter is required for add_traffic action');
const trafficPurchaseIdRequired = refusal(
  'traffic_purchase_id_required',
  400,
  'traffic_purchase_id parameter is required for remove_traffic action',
);
const trafficPurchaseNotFound = refusal('traffic_purchase_not_found', 404, 'Traffic purchase not found');
const deviceLimitRequired = refusal(
  'device_limit_required',
  400,
  'device_limit parameter is required for set_device_limit action',
);

/** Actions on the traffic and the devices of a subscription (spec 01 section 11.2). */

/**
 * Sets the traffic limit, the used traffic, or both (spec 01 section 11.2). A limited subscription that has traffic again becomes active.
 * Used traffic of 0 is reset at the panel too, because the panel would report its own number otherwise.
 */
export const setTraffic: SubscriptionAction = async (t, subscription, request) => {
  const limitGb = request.trafficLimitGb ?? subscription.trafficLimitGb;
  const usedGb = request.trafficUsedGb ?? subscription.trafficUsedGb;
  const hasTraffic = limitGb === 0 || usedGb < limitGb;
  const isReactivated = subscription.status === 'limited' && hasTraffic && !isPast(subscription, t.clock.now());
  return {
    changes: { trafficLimitGb: limitGb, trafficUsedGb: usedGb, ...(isReactivated ? { status: 'active' } : {}) },
    panelResets: { resetTraffic: request.trafficUsedGb === 0 },
    message: 'Traffic settings updated',
  };
};

/**
 * Adds a traffic package for 30 days without charging; a stopped subscription with paid time left becomes active (spec 01 section 11.2).
 * An unlimited subscription is not changed: nothing can be added to it (spec 02 H25).
 */
export const addTraffic: SubscriptionAction = async (t, subscription, { trafficGb }) => {
  if (trafficGb == null) throw trafficGbRequired();
  const now = t.clock.now();
  const status = reactivatedStatus(subscription, now);
  const current = await readUserSubscription(t, subscription.userId);
  const added = addPackage(subscription, current?.purchases ?? [], trafficGb, now);
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

/** Removes a traffic package (spec 01 section 11.2). A finite limit stays at 1 GB or more, because 0 would make it unlimited. */
export const removeTraffic: SubscriptionAction = async (t, subscription, { trafficPurchaseId }) => {
  if (trafficPurchaseId == null) {
    const text = 'traffic_purchase_id parameter is required for remove_traffic action';
    throw trafficPurchaseIdRequired({ detail: text });
  }
  const removed = await removePurchase(t, subscription.id, trafficPurchaseId);
  if (!removed) throw trafficPurchaseNotFound();
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

/** Sets how many devices may connect (spec 01 section 11.2). */
export const setDeviceLimit: SubscriptionAction = async (_t, _subscription, { deviceLimit }) => {
  if (deviceLimit == null) throw deviceLimitRequired();
  return { changes: { deviceLimit }, message: `Device limit set to ${deviceLimit}` };
};
