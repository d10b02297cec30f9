import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { recordMonitoring } from '../monitoring/record-event.ts';
import { requestProvisioning } from '../provisioning/request-provisioning.ts';
import { SUBSCRIPTION_EXPIRED } from './events.ts';
import { notifyOwner } from './notify-owner.ts';
import { expireBatch } from './repo.ts';

/** Rows per transaction: short enough that the embedded database answers others in between. */
const BATCH = 50;

/**
 * Job `subscriptions.expire`: marks subscriptions whose paid time is over as expired, notifies their owners and requests that the panel
 * disables them (spec 02 section 13). Several workers at once share the work; a row that a sale has locked waits for the next run.
 * @returns how many were expired
 */
export async function expireSubscriptions(app: App): Promise<number> {
  let total = 0;
  for (;;) {
    const expired = await inTransaction(app, expireSome);
    total += expired;
    if (expired < BATCH) break;
  }
  await recordMonitoring(app, 'expired_subscriptions_processed', { count: total });
  return total;
}

async function expireSome(t: App): Promise<number> {
  const isDailyServiceOn = t.settings.get('DAILY_SUBSCRIPTIONS_ENABLED');
  const expired = await expireBatch(t.db, { now: t.clock.now(), limit: BATCH, isDailyServiceOn });
  for (const subscription of expired) {
    await requestProvisioning(t, subscription.id);
    await t.events.emit(SUBSCRIPTION_EXPIRED, {}, { audience: 'user', userId: subscription.userId });
    await notifyOwner(t, subscription, 'subscription_expired', {});
  }
  return expired.length;
}
