import { nestedRow } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { type SubscriptionRow, toSubscription } from '../repo.ts';
import type { Subscription, TrafficPurchase } from '../types.ts';

interface PurchaseRow {
  id: number;
  subscriptionId: number;
  trafficGb: number;
  expiresAt: Date | string;
  createdAt: Date | string;
}

function toPurchase(row: PurchaseRow): TrafficPurchase {
  return {
    id: row.id,
    subscriptionId: row.subscriptionId,
    trafficGb: row.trafficGb,
    expiresAt: new Date(row.expiresAt),
    createdAt: new Date(row.createdAt),
  };
}

export async function findWithPurchases(
  db: Db,
  userId: number,
): Promise<{ subscription: Subscription; purchases: TrafficPurchase[] } | null> {
  const [row] = await db.sql<SubscriptionRow & { purchases: object[] }>(
    `SELECT s.*, coalesce((SELECT json_agg(p) FROM traffic_purchases p WHERE p.subscription_id = s.id), '[]') AS purchases
     FROM subscriptions s WHERE s.user_id = $1::int`,
    [userId],
  );
  return row
    ? { subscription: toSubscription(row), purchases: row.purchases.map((purchase) => nestedRow('TrafficPurchase', purchase)) }
    : null;
}

export async function removeByUser(db: Db, userId: number): Promise<boolean> {
  return (await db.sql('DELETE FROM subscriptions WHERE user_id = $1::int RETURNING id', [userId])).length > 0;
}

export async function takePurchase(db: Db, subscriptionId: number, purchaseId: number): Promise<TrafficPurchase | null> {
  const [row] = await db.sql<PurchaseRow>(
    'DELETE FROM traffic_purchases WHERE subscription_id = $1::int AND id = $2::bigint RETURNING *',
    [subscriptionId, purchaseId],
  );
  return row ? toPurchase(row) : null;
}
