import type { Db } from '../../core/db/db.ts';

/**
 * Makes the server links of subscriptions those of their connected squads: new links have the price 0; links of other squads are
 * deleted, so that they do not prevent the deletion of a server (spec 02 H20, H26). In the caller's transaction, which has locked or inserted the subscriptions.
 */
export async function linkServersOf(db: Db, subscriptionIds: readonly number[], now: Date): Promise<void> {
  if (subscriptionIds.length === 0) return;
  await db.sql(
    `WITH connected AS (SELECT s.id AS subscription_id, q.id AS server_id FROM subscriptions s
         JOIN server_squads q ON s.connected_squads @> to_jsonb(q.squad_uuid::text) WHERE s.id = ANY($1::int[])),
       gone AS (DELETE FROM subscription_servers l WHERE l.subscription_id = ANY($1::int[]) AND NOT EXISTS (
         SELECT 1 FROM connected c WHERE c.subscription_id = l.subscription_id AND c.server_id = l.server_squad_id))
     INSERT INTO subscription_servers (subscription_id, server_squad_id, paid_price_kopeks, connected_at)
       SELECT subscription_id, server_id, 0, $2::timestamptz FROM connected
       ON CONFLICT (subscription_id, server_squad_id) DO NOTHING RETURNING id`,
    [[...subscriptionIds], now],
  );
}
