import type { Db } from '../../../core/db/db.ts';

/** A message that this run has claimed: no other run sends it. */
export interface ClaimedDelivery {
  offerId: number;
  messengerId: number | null;
  language: string | null;
  /** The offer can still be claimed, and no later broadcast has overwritten it. */
  isWanted: boolean;
}

/**
 * Claims the next queued messages of a broadcast before they are sent, so that none is sent twice, also after a crash. Parallel runs
 * claim different ones.
 */
export async function claimDeliveries(db: Db, broadcastId: number, limit: number, now: Date): Promise<ClaimedDelivery[]> {
  return db.sql<ClaimedDelivery>(
    `WITH next AS (SELECT offer_id FROM promo_offer_deliveries WHERE broadcast_id = $1::int AND state = 'queued'
         ORDER BY offer_id LIMIT $2::int FOR UPDATE SKIP LOCKED),
       taken AS (UPDATE promo_offer_deliveries d SET state = 'sending', claimed_at = $3::timestamptz FROM next
         WHERE d.broadcast_id = $1::int AND d.offer_id = next.offer_id RETURNING d.offer_id)
     SELECT o.id AS offer_id, u.messenger_id, u.language,
       o.is_active AND o.expires_at > $3::timestamptz AND u.status = 'active' AND NOT EXISTS (
         SELECT 1 FROM promo_offer_deliveries l WHERE l.offer_id = o.id AND l.broadcast_id > $1::int) AS is_wanted
     FROM taken JOIN discount_offers o ON o.id = taken.offer_id JOIN users u ON u.id = o.user_id ORDER BY o.id`,
    [broadcastId, limit, now],
  );
}

export interface SettledDelivery {
  offerId: number;
  /** `queued`: it was certainly not sent and will be claimed again. */
  state: 'sent' | 'failed' | 'skipped' | 'queued';
}

/** Stores the results of claimed messages in their rows and in the counters of the broadcast; once each. */
export async function settleDeliveries(
  db: Db,
  broadcastId: number,
  settled: readonly SettledDelivery[],
  now: Date,
): Promise<void> {
  await db.sql(
    `WITH done AS (UPDATE promo_offer_deliveries d SET state = v.state,
           settled_at = CASE WHEN v.state = 'queued' THEN NULL ELSE $4::timestamptz END
         FROM unnest($2::int[], $3::text[]) AS v (offer_id, state)
         WHERE d.broadcast_id = $1::int AND d.offer_id = v.offer_id AND d.state = 'sending' RETURNING d.state)
     ${countedSql('done')}`,
    [broadcastId, settled.map(({ offerId }) => offerId), settled.map(({ state }) => state), now],
  );
}

/** Marks messages of crashed runs as failed: they may have been sent, so they are not sent again. */
export async function abandonDeliveries(db: Db, broadcastId: number, claimedBefore: Date, now: Date): Promise<void> {
  await db.sql(
    `WITH done AS (UPDATE promo_offer_deliveries SET state = 'failed', settled_at = $3::timestamptz
         WHERE broadcast_id = $1::int AND state = 'sending' AND claimed_at < $2::timestamptz RETURNING state)
     ${countedSql('done')}`,
    [broadcastId, claimedBefore, now],
  );
}

function countedSql(done: string): string {
  return `UPDATE promo_offer_broadcasts SET sent = sent + (SELECT count(*) FROM ${done} WHERE state = 'sent'),
       failed = failed + (SELECT count(*) FROM ${done} WHERE state = 'failed'),
       skipped = skipped + (SELECT count(*) FROM ${done} WHERE state = 'skipped')
     WHERE id = $1::int RETURNING id`;
}

/** Whether a message of the broadcast is queued or being sent. */
export async function hasOpenDeliveries(db: Db, broadcastId: number): Promise<boolean> {
  const rows = await db.sql(
    `SELECT 1 AS open FROM promo_offer_deliveries WHERE broadcast_id = $1::int AND state IN ('queued', 'sending') LIMIT 1`,
    [broadcastId],
  );
  return rows.length > 0;
}
