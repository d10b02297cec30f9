import type { Db } from '../../../core/db/db.ts';
import { type SubscriptionRow, toSubscription } from '../repo.ts';
import type { Subscription, TrafficPurchase } from '../types.ts';

interface PurchaseRow {
  id: number;
  subscription_id: number;
  traffic_gb: number;
  expires_at: Date | string;
  created_at: Date | string;
}

function toPurchase(row: PurchaseRow): TrafficPurchase {
  return {
    id: row.id,
    subscriptionId: row.subscription_id,
    trafficGb: row.traffic_gb,
    expiresAt: new Date(row.expires_at),
    createdAt: new Date(row.created_at),
  };
}

export async function findWithPurchases(
  db: Db,
  userId: number,
): Promise<{ subscription: Subscription; purchases: TrafficPurchase[] } | null> {
  const [row] = await db.sql<SubscriptionRow & { purchases: PurchaseRow[] }>(
    `SELECT s.*, coalesce((SELECT json_agg(p) FROM traffic_purchases p WHERE p.subscription_id = s.id), '[]') AS purchases
     FROM subscriptions s WHERE s.user_id = $1::int`,
    [userId],
  );
  return row ? { subscription: toSubscription(row), purchases: row.purchases.map(toPurchase) } : null;
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
