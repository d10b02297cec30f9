import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { forEachPage } from '../../../core/jobs/for-each-page.ts';
import { recipientOf } from '../../messaging/notify-user.ts';
import { requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { TRAFFIC_RESET } from '../events.ts';
import { lockSaleStart } from '../purchase/repo.ts';
import { findById, listPurchases, update } from '../repo.ts';
import { expireTraffic } from '../rules/traffic-purchases.ts';
import { tellOwner } from '../tell-owner.ts';
import { deleteEndedTraffic, listWithEndedTraffic } from './repo.ts';

/**
 * Takes bought traffic that ran out off the limits, here and at the panel, and tells the owners (spec 02 section 13, daily service,
 * step 3). Each subscription has a transaction of its own and is read again under the lock: several instances take it off once.
 */
export function endBoughtTraffic(app: App): Promise<void> {
  return forEachPage<number>(app, {
    list: (after, limit) => listWithEndedTraffic(app.db, app.clock.now(), after ?? 0, limit),
    each: (subscriptionId) => endTraffic(app, subscriptionId),
    failure: (subscriptionId) => ['bought traffic could not be taken off the limit', { subscriptionId }],
  });
}

async function endTraffic(app: App, subscriptionId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const owned = await findById(t.db, subscriptionId);
    const start = owned && (await lockSaleStart(t.db, owned.userId));
    const subscription = start?.subscription;
    if (!start || !subscription || subscription.id !== subscriptionId) return;
    const now = t.clock.now();
    const ended = expireTraffic(subscription, await listPurchases(t.db, subscriptionId), now);
    if (ended === null) return;
    await deleteEndedTraffic(t.db, subscriptionId, now);
    const saved = await update(t.db, subscriptionId, ended.changes, { now });
    await requestProvisioning(t, subscriptionId);
    const { buyer } = start;
    await t.events.emit(TRAFFIC_RESET, {}, { audience: 'user', userId: buyer.id });
    const resetGb = ended.expired.reduce((sum, purchase) => sum + purchase.trafficGb, 0);
    await tellOwner(t, recipientOf(buyer), 'traffic_reset', { reset_gb: resetGb, current_limit_gb: saved.trafficLimitGb });
  });
}
