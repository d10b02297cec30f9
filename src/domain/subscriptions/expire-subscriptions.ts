import type { App } from '../../core/app.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { recordMonitoring } from '../monitoring/monitoring-log.ts';
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

/**
 * SQL that records a notification of each subscription of a list (`user_id`, `subscription_id`), for a statement that sends it or makes
 * what it announces. A subscription with the record is left out, so that of two statements at once one gets it.
 * @param names the name of the list and the texts of the parameters
 */
export function recordSentSql({ subscriptions, type, now }: { subscriptions: string; type: string; now: string }): string {
  return `INSERT INTO sent_notifications (user_id, subscription_id, notification_type, created_at)
         SELECT user_id, subscription_id, ${type}, ${now} FROM ${subscriptions}
         ON CONFLICT (subscription_id, notification_type, discriminator) DO NOTHING RETURNING user_id, subscription_id`;
}

/** Deletes a locked subscription, when the accounts of two users become one. */
export async function deleteSubscription(db: Db, id: number): Promise<void> {
  await db.sql('DELETE FROM subscriptions WHERE id = $1::int RETURNING id', [id]);
}

/** Transfers a locked subscription to another user, who must have none. */
export async function moveSubscription(db: Db, id: number, primaryId: number, now: Date): Promise<void> {
  await db.sql('UPDATE subscriptions SET user_id = $2::int, updated_at = $3::timestamptz WHERE id = $1::int RETURNING id', [
    id,
    primaryId,
    now,
  ]);
}
