import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { forEachPage } from '../../../core/jobs/for-each-page.ts';
import { recipientOf } from '../../messaging/notify-user.ts';
import { requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { TRAFFIC_RESET } from '../events.ts';
import { notifyOwner } from '../notify-owner.ts';
import { lockSaleStart } from '../purchase/repo.ts';
import { findById, listPurchases, update } from '../repo.ts';
import { expireTraffic } from '../rules/traffic-purchases.ts';
import { deleteExpiredPurchases, listWithExpiredPurchases } from './repo.ts';

/**
 * Removes expired traffic purchases from the limits, here and at the panel, and notifies the owners (spec 02 section 13, daily service,
 * step 3). Each subscription is changed in its own transaction and read again under the lock, so that several instances do it once.
 */
export function expirePurchasedTraffic(app: App): Promise<void> {
  return forEachPage<number>(app, {
    list: (after, limit) => listWithExpiredPurchases(app.db, app.clock.now(), after ?? 0, limit),
    each: (subscriptionId) => expirePurchases(app, subscriptionId),
    failure: (subscriptionId) => ['expired traffic purchases could not be removed from the limit', { subscriptionId }],
  });
}

async function expirePurchases(app: App, subscriptionId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const found = await findById(t.db, subscriptionId);
    const start = found && (await lockSaleStart(t.db, found.userId));
    const subscription = start?.subscription;
    if (!start || !subscription || subscription.id !== subscriptionId) return;
    const now = t.clock.now();
    const expiry = expireTraffic(subscription, await listPurchases(t.db, subscriptionId), now);
    if (expiry === null) return;
    await deleteExpiredPurchases(t.db, subscriptionId, now);
    const saved = await update(t.db, subscriptionId, expiry.changes, { now });
    await requestProvisioning(t, subscriptionId);
    const { buyer } = start;
    await t.events.emit(TRAFFIC_RESET, {}, { audience: 'user', userId: buyer.id });
    const resetGb = expiry.expired.reduce((sum, purchase) => sum + purchase.trafficGb, 0);
    await notifyOwner(t, recipientOf(buyer), 'traffic_reset', { reset_gb: resetGb, current_limit_gb: saved.trafficLimitGb });
  });
}
