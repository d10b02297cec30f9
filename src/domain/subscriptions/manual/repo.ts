import { columns, nestedRow } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { SUBSCRIPTION } from '../repo.ts';
import type { Subscription, TrafficPurchase } from '../types.ts';

const PURCHASE = columns('TrafficPurchase', ['id', 'subscriptionId', 'trafficGb', 'expiresAt', 'createdAt']);

/** A subscription with all its traffic purchases, expired ones too. */
export interface SubscriptionWithPurchases {
  subscription: Subscription;
  /** In any order. */
  purchases: TrafficPurchase[];
}

export async function findWithPurchases(db: Db, userId: number): Promise<SubscriptionWithPurchases | null> {
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
export async function deleteByUser(db: Db, userId: number): Promise<boolean> {
  return (await db.prisma.subscription.deleteMany({ where: { userId } })).count > 0;
}

/** @returns the deleted purchase; null when the subscription has no such purchase */
export async function deletePurchase(db: Db, subscriptionId: number, purchaseId: number): Promise<TrafficPurchase | null> {
  const [row] = await db.sql<TrafficPurchase>(
    `DELETE FROM traffic_purchases WHERE subscription_id = $1::int AND id = $2::bigint RETURNING ${PURCHASE.of()}`,
    [subscriptionId, purchaseId],
  );
  return row ?? null;
}
