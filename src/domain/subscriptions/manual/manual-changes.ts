import type { App } from '../../../core/app.ts';
import { type PanelResets, requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { autopayDefaults } from '../autopay-defaults.ts';
import { forgetStopped } from '../daily/repo.ts';
import { insert, linkServers, lockByUser, type UpdateOptions, update } from '../repo.ts';
import type { Subscription, SubscriptionChanges, TrafficPurchase } from '../types.ts';
import { findWithPurchases, removeByUser, takePurchase } from './repo.ts';

/** What an administrator's change does to the subscription. */
export interface ManualChange extends Omit<UpdateOptions, 'now'> {
  changes: SubscriptionChanges;
  wishes?: PanelResets;
  /** The panel holds nothing of what was changed. */
  staysLocal?: boolean;
}

/** A user's subscription with all its traffic purchases, those that ran out too; null when there is none. */
export function readUserSubscription(
  app: App,
  userId: number,
): Promise<{ subscription: Subscription; purchases: TrafficPurchase[] } | null> {
  return findWithPurchases(app.db, userId);
}

/**
 * Locks the user, then the subscription (spec 00, lock order). In the caller's transaction.
 * @returns undefined for an unknown user, null when the user has no subscription
 */
export async function lockUserSubscription(t: App, userId: number): Promise<Subscription | null | undefined> {
  return (await lockByUser(t.db, userId))?.subscription;
}

/**
 * Changes a locked subscription; the panel follows after commit (spec 01 section 11.2). One that is disabled so stays off whatever its
 * owner pays in. In the caller's transaction.
 */
export async function applyManualChange(t: App, subscriptionId: number, change: ManualChange): Promise<Subscription> {
  const { changes, wishes, staysLocal, ...options } = change;
  const now = t.clock.now();
  const saved = await update(t.db, subscriptionId, changes, { ...options, now });
  if (changes.status === 'disabled') await forgetStopped(t.db, subscriptionId);
  if (changes.connectedSquads) await linkServers(t.db, subscriptionId, now);
  if (!staysLocal) await requestProvisioning(t, subscriptionId, wishes);
  return saved;
}

/** Gives a locked user without subscription one; the panel follows after commit. In the caller's transaction. */
export async function insertManually(t: App, userId: number, fields: SubscriptionChanges): Promise<Subscription> {
  const now = t.clock.now();
  const saved = await insert(
    t.db,
    userId,
    {
      ...autopayDefaults(t),
      ...fields,
    },
    now,
  );
  await linkServers(t.db, saved.id, now);
  await requestProvisioning(t, saved.id);
  return saved;
}

/** Deletes the subscription of a locked user with everything that hangs on it. In the caller's transaction. */
export function removeManually(t: App, userId: number): Promise<boolean> {
  return removeByUser(t.db, userId);
}

/** Takes a traffic purchase out of a locked subscription. @returns null when it has no such purchase */
export function removePurchase(t: App, subscriptionId: number, purchaseId: number): Promise<TrafficPurchase | null> {
  return takePurchase(t.db, subscriptionId, purchaseId);
}
