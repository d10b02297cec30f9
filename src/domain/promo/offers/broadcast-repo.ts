import type { Db } from '../../../core/db/db.ts';
import { AUDIENCE_TABLES, audienceCondition } from '../../audience/segments.ts';
import { OVERWRITE_SQL } from './repo.ts';
import type { OfferMessage, OfferTerms } from './types.ts';

/** What the members of a broadcast have in common. */
export interface Audience {
  /** A segment; null = none. */
  target: string | null;
  /** A user who gets the offer besides. */
  namedUserId: number | null;
}

export interface Broadcast extends OfferTerms, Audience {
  id: number;
  state: 'making' | 'sending' | 'done';
  wantsMessages: boolean;
  message: OfferMessage;
  /** Users above 0 and up to this id have their offer. */
  madeUpTo: number;
  audienceEnd: number;
  createdOffers: number;
  sent: number;
  failed: number;
}

interface BroadcastRow {
  id: number;
  state: Broadcast['state'];
  notificationType: string;
  effectType: string;
  discountPercent: number;
  bonusAmountKopeks: number;
  validHours: number;
  extraData: Record<string, unknown>;
  target: string | null;
  namedUserId: number | null;
  sendsMessages: boolean;
  messageText: string | null;
  buttonText: string | null;
  processedUpTo: number;
  audienceEnd: number;
  createdOffers: number;
  sent: number;
  failed: number;
}

function toBroadcast(row: BroadcastRow): Broadcast {
  return {
    id: row.id,
    state: row.state,
    notificationType: row.notificationType,
    effectType: row.effectType,
    discountPercent: row.discountPercent,
    bonusAmountKopeks: row.bonusAmountKopeks,
    validHours: row.validHours,
    extraData: row.extraData,
    target: row.target,
    namedUserId: row.namedUserId,
    wantsMessages: row.sendsMessages,
    message: { text: row.messageText, buttonText: row.buttonText },
    madeUpTo: row.processedUpTo,
    audienceEnd: row.audienceEnd,
    createdOffers: row.createdOffers,
    sent: row.sent,
    failed: row.failed,
  };
}

/** Members of an audience, as a condition. @param now SQL of the current moment @param named SQL of the named user's id */
function memberCondition(target: string | null, now: string, named: string): string {
  return `(u.id = ${named} OR ${audienceCondition(target, now)})`;
}

/** How many the audience has now, and its first member; null when it is empty. One statement, no list. */
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

export interface NewBroadcast extends OfferTerms, Audience {
  subscriptionId: number | null;
  audienceEnd: number;
  expiresAt: Date;
  /** Null = no messages. */
  message: OfferMessage | null;
  createdBy: number | null;
  now: Date;
}

export async function insertBroadcast(db: Db, broadcast: NewBroadcast): Promise<number> {
  const [row] = await db.sql<{ id: number }>(
    `INSERT INTO promo_offer_broadcasts (notification_type, effect_type, discount_percent, bonus_amount_kopeks, valid_hours, extra_data,
       subscription_id, expires_at, target, named_user_id, audience_end, sends_messages, message_text, button_text, created_by, created_at)
     VALUES ($1, $2, $3::int, $4::bigint, $5::int, $6::jsonb, $7::int, $8::timestamptz, $9, $10::int, $11::int, $12::boolean, $13, $14,
       $15::int, $16::timestamptz) RETURNING id`,
    [
      broadcast.notificationType,
      broadcast.effectType,
      broadcast.discountPercent,
      broadcast.bonusAmountKopeks,
      broadcast.validHours,
      JSON.stringify(broadcast.extraData),
      broadcast.subscriptionId,
      broadcast.expiresAt,
      broadcast.target,
      broadcast.namedUserId,
      broadcast.audienceEnd,
      broadcast.message !== null,
      broadcast.message?.text ?? null,
      broadcast.message?.buttonText ?? null,
      broadcast.createdBy,
      broadcast.now,
    ],
  );
  return row!.id;
}

export async function findBroadcast(db: Db, id: number): Promise<Broadcast | null> {
  const [row] = await db.sql<BroadcastRow>('SELECT * FROM promo_offer_broadcasts WHERE id = $1::int', [id]);
  return row ? toBroadcast(row) : null;
}

/** The same, and nobody else works on its offers until the end of the transaction. */
export async function lockBroadcast(db: Db, id: number): Promise<Broadcast | null> {
  const [row] = await db.sql<BroadcastRow>('SELECT * FROM promo_offer_broadcasts WHERE id = $1::int FOR UPDATE', [id]);
  return row ? toBroadcast(row) : null;
}

/**
 * Makes the offers of the next members by user id, with the deliveries of their messages, and moves the mark behind them: one
 * statement, whatever the audience. Whoever has no messenger counts as failed, whoever wants no offers by message as skipped.
 * @returns user ids of the members that got theirs; fewer than `limit` = the last ones
 */
export async function makeOffers(
  db: Db,
  broadcast: Pick<Broadcast, 'id' | 'target' | 'namedUserId' | 'madeUpTo' | 'audienceEnd'>,
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
       told AS (INSERT INTO promo_offer_deliveries (broadcast_id, offer_id, state, settled_at)
         SELECT b.id, o.id, v.state, CASE WHEN v.state = 'queued' THEN NULL ELSE $2::timestamptz END
         FROM made o JOIN members m ON m.id = o.user_id CROSS JOIN b CROSS JOIN LATERAL (SELECT CASE WHEN NOT m.is_reachable THEN 'failed'
           WHEN NOT m.is_wanted THEN 'skipped' ELSE 'queued' END AS state) v
         WHERE b.sends_messages RETURNING state),
       moved AS (UPDATE promo_offer_broadcasts p SET
           processed_up_to = greatest(p.processed_up_to, (SELECT coalesce(max(id), 0) FROM members)),
           created_offers = p.created_offers + (SELECT count(*) FROM made),
           failed = p.failed + (SELECT count(*) FROM told WHERE state = 'failed'),
           skipped = p.skipped + (SELECT count(*) FROM told WHERE state = 'skipped')
         WHERE p.id = $1::int)
     SELECT user_id FROM made ORDER BY user_id`,
    [broadcast.id, step.now, step.limit, step.hasMessenger, broadcast.madeUpTo, broadcast.audienceEnd, broadcast.namedUserId],
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
