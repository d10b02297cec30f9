import type { App } from '../../../core/app.ts';
import { DAY_MS } from '../../../core/clock.ts';
import { columns, nestedRow } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { type PanelResets, requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { recordDisabledByAdmin } from '../channel-rule/repo.ts';
import { forgetStop } from '../daily/repo.ts';
import { insert, linkServers, lockByUser, SUBSCRIPTION, type UpdateOptions, update } from '../repo.ts';
import { actualStatus, daysLeft, isActive } from '../rules/status.ts';
import { autopayDefaults } from '../settings.ts';
import type { Subscription, SubscriptionChanges, TrafficPurchase } from '../types.ts';

/** How an administrator's action, a prize or an offer changes a subscription. */
export interface ManualChange extends Omit<UpdateOptions, 'now'> {
  changes: SubscriptionChanges;
  panelResets?: PanelResets;
  /** The panel stores nothing of what was changed. */
  staysLocal?: boolean;
}

/** A user's subscription with all its traffic purchases, expired ones too; null when there is none. */
export function readUserSubscription(app: App, userId: number): Promise<SubscriptionWithPurchases | null> {
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
 * Changes a locked subscription; the panel is updated after commit (spec 01 section 11.2). A subscription that is disabled here stays
 * disabled when its owner tops up. In the caller's transaction.
 */
export async function applyManualChange(t: App, subscriptionId: number, change: ManualChange): Promise<Subscription> {
  const { changes, panelResets, staysLocal, ...options } = change;
  const now = t.clock.now();
  const saved = await update(t.db, subscriptionId, changes, { ...options, now });
  if (changes.status === 'disabled') {
    await forgetStop(t.db, subscriptionId);
    await recordDisabledByAdmin(t.db, subscriptionId);
  }
  if (changes.connectedSquads) await linkServers(t.db, subscriptionId, now);
  if (!staysLocal) await requestProvisioning(t, subscriptionId, panelResets);
  return saved;
}

/** Creates the subscription of a locked user who has none; the panel is updated after commit. In the caller's transaction. */
export async function insertManually(t: App, userId: number, fields: SubscriptionChanges): Promise<Subscription> {
  const now = t.clock.now();
  const saved = await insert(t.db, userId, { ...autopayDefaults(t), ...fields }, now);
  await linkServers(t.db, saved.id, now);
  await requestProvisioning(t, saved.id);
  return saved;
}

/**
 * Deletes the subscription of a locked user with all rows that belong to it. In the caller's transaction.
 * @returns whether there was one
 */
export function removeManually(t: App, userId: number): Promise<boolean> {
  return deleteByUser(t.db, userId);
}

/** Removes a traffic purchase of a locked subscription. @returns null when it has no such purchase */
export function removePurchase(t: App, subscriptionId: number, purchaseId: number): Promise<TrafficPurchase | null> {
  return deletePurchase(t.db, subscriptionId, purchaseId);
}

/** A traffic package of a subscription now. */
interface PurchaseInfo extends TrafficPurchase {
  /** Whole days, 0 when it has expired. */
  daysRemaining: number;
  isExpired: boolean;
}

/** A subscription as it is shown to administrators; `status` is the current one, not the stored one (spec 02 H29). */
export interface SubscriptionInfo extends Subscription {
  tariffName: string | null;
  isActive: boolean;
  /** Whole days. */
  daysRemaining: number;
  /** Newest first. */
  trafficPurchases: PurchaseInfo[];
}

/** @param purchases in any order */
export function subscriptionInfo(
  subscription: Subscription,
  tariffName: string | null,
  purchases: readonly TrafficPurchase[],
  now: Date,
): SubscriptionInfo {
  return {
    ...subscription,
    status: actualStatus(subscription, now),
    tariffName,
    isActive: isActive(subscription, now),
    daysRemaining: daysLeft(subscription, now),
    trafficPurchases: purchases
      .toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || b.id - a.id)
      .map((purchase) => ({
        ...purchase,
        daysRemaining: Math.max(0, Math.floor((purchase.expiresAt.getTime() - now.getTime()) / DAY_MS)),
        isExpired: purchase.expiresAt.getTime() <= now.getTime(),
      })),
  };
}

const PURCHASE = columns('TrafficPurchase', ['id', 'subscriptionId', 'trafficGb', 'expiresAt', 'createdAt']);

/** A subscription with all its traffic purchases, expired ones too. */
interface SubscriptionWithPurchases {
  subscription: Subscription;
  /** In any order. */
  purchases: TrafficPurchase[];
}

async function findWithPurchases(db: Db, userId: number): Promise<SubscriptionWithPurchases | null> {
  const [row] = await db.sql<Subscription & { purchases: object[] }>(
    `SELECT ${SUBSCRIPTION.of('s')},
       coalesce((SELECT json_agg(p) FROM traffic_purchases p WHERE p.subscription_id = s.id), '[]') AS purchases
     FROM subscriptions s WHERE s.user_id = $1::int`,
    [userId],
  );
  if (!row) return null;
  const { purchases, ...subscription } = row;
  return { subscription, purchases: purchases.map((purchase) => nestedRow('TrafficPurchase', purchase)) };
}

/** @returns whether the user had a subscription */
async function deleteByUser(db: Db, userId: number): Promise<boolean> {
  return (await db.prisma.subscription.deleteMany({ where: { userId } })).count > 0;
}

/** @returns the deleted purchase; null when the subscription has no such purchase */
async function deletePurchase(db: Db, subscriptionId: number, purchaseId: number): Promise<TrafficPurchase | null> {
  const [row] = await db.sql<TrafficPurchase>(
    `DELETE FROM traffic_purchases WHERE subscription_id = $1::int AND id = $2::bigint RETURNING ${PURCHASE.of()}`,
    [subscriptionId, purchaseId],
  );
  return row ?? null;
}
