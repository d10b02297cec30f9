import { allColumns, plainRow, type Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { AUDIENCE_TABLES, audienceCondition } from '../../audience/segments.ts';
import { OVERWRITE_SQL } from './repo.ts';
import type { OfferMessage, OfferTerms } from './types.ts';

/** A call of "broadcast" with its terms, audience and progress. */
export type Broadcast = Rows['PromoOfferBroadcast'];

/** Who gets the offers: a segment, one user, or both. */
export type Audience = Pick<Broadcast, 'target' | 'namedUserId'>;

const BROADCAST = allColumns('PromoOfferBroadcast').of();

/** Members of an audience, as a condition. @param now SQL of the current time @param named SQL of the named user's id */
function memberCondition(target: string | null, now: string, named: string): string {
  return `(u.id = ${named} OR ${audienceCondition(target, now)})`;
}

/** Size of the audience now, and its first and last member; null when it is empty. */
export async function measureAudience(
  db: Db,
  audience: Audience,
  now: Date,
): Promise<{ size: number; firstUserId: number; audienceEnd: number } | null> {
  const [row] = await db.sql<{ size: number; first: number | null; last: number | null }>(
    `SELECT count(*)::int AS size, min(u.id) AS first, max(u.id) AS last FROM ${AUDIENCE_TABLES}
     WHERE $1::timestamptz IS NOT NULL AND ${memberCondition(audience.target, '$1::timestamptz', '$2::int')}`,
    [now, audience.namedUserId],
  );
  return row?.first ? { size: row.size, firstUserId: row.first, audienceEnd: row.last! } : null;
}

export type NewBroadcast = OfferTerms &
  Audience &
  Pick<Broadcast, 'subscriptionId' | 'audienceEnd' | 'expiresAt' | 'createdBy' | 'createdAt'> & {
    /** Null = no messages. */
    message: OfferMessage | null;
  };

export async function insertBroadcast(db: Db, { message, extraData, ...broadcast }: NewBroadcast): Promise<number> {
  const texts = { messageText: message?.messageText ?? null, buttonText: message?.buttonText ?? null };
  const data = { ...broadcast, ...texts, sendsMessages: message !== null, extraData: extraData as Prisma.InputJsonObject };
  return (await db.prisma.promoOfferBroadcast.create({ data, select: { id: true } })).id;
}

export async function findBroadcast(db: Db, id: number): Promise<Broadcast | null> {
  const row = await db.prisma.promoOfferBroadcast.findUnique({ where: { id } });
  return row && plainRow('PromoOfferBroadcast', row);
}

/** The same, locked: no other run makes offers of it until the end of the transaction. */
export async function lockBroadcast(db: Db, id: number): Promise<Broadcast | null> {
  const [row] = await db.sql<Broadcast>(`SELECT ${BROADCAST} FROM promo_offer_broadcasts WHERE id = $1::int FOR UPDATE`, [id]);
  return row ?? null;
}

/**
 * Creates the offers of the next members by user id with the deliveries of their messages, and advances `processedUpTo`, in one statement.
 * Users without messenger count as failed, users who have switched off offers by message as skipped.
 * @returns user ids of the members that got an offer; fewer than `limit` = the last ones
 */
export async function makeOffers(
  db: Db,
  broadcast: Pick<Broadcast, 'id' | 'target' | 'namedUserId' | 'processedUpTo' | 'audienceEnd'>,
  step: { limit: number; hasMessenger: boolean; now: Date },
): Promise<number[]> {
  const rows = await db.sql<{ userId: number }>(
    `WITH b AS (SELECT * FROM promo_offer_broadcasts WHERE id = $1::int),
       members AS MATERIALIZED (SELECT u.id, u.messenger_id IS NOT NULL AND $4::boolean AS is_reachable,
           coalesce((u.notification_settings->>'promo_offers_enabled') <> 'false', true) AS is_wanted
         FROM ${AUDIENCE_TABLES}
         WHERE u.id > $5::int AND u.id <= $6::int AND ${memberCondition(broadcast.target, '$2::timestamptz', '$7::int')}
         ORDER BY u.id LIMIT $3::int FOR KEY SHARE OF u),
       made AS (INSERT INTO discount_offers (user_id, subscription_id, notification_type, discount_percent, bonus_amount_kopeks,
           expires_at, effect_type, extra_data, created_at, updated_at)
         SELECT m.id, b.subscription_id, b.notification_type, b.discount_percent, b.bonus_amount_kopeks, b.expires_at, b.effect_type,
           b.extra_data, $2::timestamptz, $2::timestamptz FROM members m, b ORDER BY m.id
         ${OVERWRITE_SQL} RETURNING id, user_id),
       queued AS (INSERT INTO promo_offer_deliveries (broadcast_id, offer_id, state, settled_at)
         SELECT b.id, o.id, v.state, CASE WHEN v.state = 'queued' THEN NULL ELSE $2::timestamptz END
         FROM made o JOIN members m ON m.id = o.user_id CROSS JOIN b CROSS JOIN LATERAL (SELECT CASE WHEN NOT m.is_reachable THEN 'failed'
           WHEN NOT m.is_wanted THEN 'skipped' ELSE 'queued' END AS state) v
         WHERE b.sends_messages RETURNING state),
       moved AS (UPDATE promo_offer_broadcasts p SET
           processed_up_to = greatest(p.processed_up_to, (SELECT coalesce(max(id), 0) FROM members)),
           created_offers = p.created_offers + (SELECT count(*) FROM made),
           failed = p.failed + (SELECT count(*) FROM queued WHERE state = 'failed'),
           skipped = p.skipped + (SELECT count(*) FROM queued WHERE state = 'skipped')
         WHERE p.id = $1::int)
     SELECT user_id FROM made ORDER BY user_id`,
    [
      broadcast.id,
      step.now,
      step.limit,
      step.hasMessenger,
      broadcast.processedUpTo,
      broadcast.audienceEnd,
      broadcast.namedUserId,
    ],
  );
  return rows.map((row) => row.userId);
}

export async function setBroadcastState(db: Db, id: number, state: 'sending' | 'done', now: Date): Promise<void> {
  await db.sql(
    `UPDATE promo_offer_broadcasts SET state = $2::text, finished_at = CASE WHEN $2::text = 'done' THEN $3::timestamptz END
     WHERE id = $1::int RETURNING id`,
    [id, state, now],
  );
}

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
