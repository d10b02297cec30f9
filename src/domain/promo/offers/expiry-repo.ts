import type { Db } from '../../../core/db/db.ts';
import { claimedOfferSql, clearDiscountSql } from '../../identity/promo-account.ts';
import { recordSentSql } from '../../subscriptions/expire-subscriptions.ts';
import { OVERWRITE_SQL } from './repo.ts';

/**
 * Deactivates up to `limit` expired offers, with a log row each. Offers of users whose row is locked are skipped until the next round
 * (users are always locked before offers).
 * @returns how many
 */
export async function deactivateDueOffers(db: Db, now: Date, limit: number): Promise<number> {
  const [row] = await db.sql<{ ended: number }>(
    `WITH due AS MATERIALIZED (SELECT o.id FROM discount_offers o JOIN users u ON u.id = o.user_id
         WHERE o.is_active AND o.expires_at <= $1::timestamptz ORDER BY o.expires_at, o.id LIMIT $2::int FOR KEY SHARE OF u SKIP LOCKED),
       ended AS (UPDATE discount_offers o SET is_active = false, updated_at = $1::timestamptz FROM due
         WHERE o.id = due.id AND o.is_active AND o.expires_at <= $1::timestamptz
         RETURNING o.id, o.user_id, o.notification_type, o.discount_percent, o.effect_type),
       logged AS (INSERT INTO promo_offer_logs (user_id, offer_id, action, source, percent, effect_type, details, created_at)
         SELECT user_id, id, 'disabled', notification_type, discount_percent, effect_type, '{"reason": "offer_expired"}', $1::timestamptz
         FROM ended ORDER BY id)
     SELECT count(*)::int AS ended FROM ended`,
    [now, limit],
  );
  return row!.ended;
}

/** Clears up to `limit` expired personal discounts of any source, with a log row each. @returns how many */
export async function clearDueDiscounts(db: Db, now: Date, limit: number): Promise<number> {
  const [row] = await db.sql<{ ended: number }>(
    `WITH due AS MATERIALIZED (SELECT id, promo_offer_discount_percent AS percent, promo_offer_discount_source AS source FROM users
         WHERE promo_offer_discount_percent > 0 AND promo_offer_discount_expires_at <= $1::timestamptz
         ORDER BY promo_offer_discount_expires_at, id LIMIT $2::int FOR NO KEY UPDATE SKIP LOCKED),
       ended AS (${clearDiscountSql({ users: 'due', now: '$1::timestamptz' })}),
       logged AS (INSERT INTO promo_offer_logs (user_id, offer_id, action, source, percent, effect_type, details, created_at)
         SELECT due.id, o.id, 'disabled', due.source, due.percent, o.effect_type, '{"reason": "offer_expired"}', $1::timestamptz
         FROM due LEFT JOIN LATERAL ${claimedOfferSql('due.id', 'due.source')} o ON true ORDER BY due.id)
     SELECT count(*)::int AS ended FROM ended`,
    [now, limit],
  );
  return row!.ended;
}

/** Owners of subscriptions with expired temporary access, by user id. */
export async function listUsersWithDueAccess(
  db: Db,
  now: Date,
  afterUserId: number,
  limit: number,
): Promise<{ userId: number }[]> {
  return db.sql<{ userId: number }>(
    `SELECT DISTINCT s.user_id FROM subscription_temporary_access a JOIN subscriptions s ON s.id = a.subscription_id
     WHERE a.is_active AND a.expires_at <= $1::timestamptz AND s.user_id > $2::int ORDER BY 1 LIMIT $3::int`,
    [now, afterUserId, limit],
  );
}

export interface ExpiredAccess {
  offerId: number;
  squadUuid: string;
  wasAlreadyConnected: boolean;
  notificationType: string;
}

/** Deactivates expired temporary access of a locked subscription. */
export async function deactivateDueAccess(db: Db, subscriptionId: number, now: Date): Promise<ExpiredAccess[]> {
  return db.sql<ExpiredAccess>(
    `WITH expired AS (UPDATE subscription_temporary_access SET is_active = false, deactivated_at = $2::timestamptz
         WHERE subscription_id = $1::int AND is_active AND expires_at <= $2::timestamptz
         RETURNING id, offer_id, squad_uuid, was_already_connected)
     SELECT e.offer_id, e.squad_uuid, e.was_already_connected, o.notification_type FROM expired e JOIN discount_offers o ON o.id = e.offer_id ORDER BY e.id`,
    [subscriptionId, now],
  );
}

/** Those of these squads that stay connected: by temporary access of another offer, or because they were bought since. */
export async function listRetainedSquads(db: Db, subscriptionId: number, squads: readonly string[]): Promise<string[]> {
  const rows = await db.sql<{ uuid: string }>(
    `SELECT uuid FROM unnest($2::text[]) AS q (uuid)
     WHERE EXISTS (SELECT 1 FROM subscription_temporary_access a
         WHERE a.subscription_id = $1::int AND a.squad_uuid = q.uuid AND a.is_active)
       OR EXISTS (SELECT 1 FROM subscription_servers v JOIN server_squads x ON x.id = v.server_squad_id
         WHERE v.subscription_id = $1::int AND x.squad_uuid = q.uuid AND v.paid_price_kopeks > 0)`,
    [subscriptionId, squads],
  );
  return rows.map((row) => row.uuid);
}

export interface WinBackWave {
  notificationType: string;
  discountPercent: number;
  /** The subscription ended between these times: after the first, not after the second. */
  endedAfter: Date;
  endedUntil: Date;
  expiresAt: Date;
}

interface WinBackOffer {
  offerId: number;
  messengerId: number | null;
  language: string | null;
  /** The user has not switched off offers by message. */
  isWanted: boolean;
}

/**
 * Makes the offers of a wave for up to `limit` subscriptions without it since their last sale: the notice row prevents a second offer,
 * in the same statement. Users whose row is locked are skipped until the next round.
 */
export async function makeWinBackOffers(db: Db, wave: WinBackWave, now: Date, limit: number): Promise<WinBackOffer[]> {
  return db.sql<WinBackOffer>(
    `WITH due AS MATERIALIZED (SELECT u.id AS user_id, s.id AS subscription_id FROM subscriptions s JOIN users u ON u.id = s.user_id
           LEFT JOIN tariffs f ON f.id = s.tariff_id
         WHERE NOT s.is_trial AND s.end_date > $2::timestamptz AND s.end_date <= $3::timestamptz
           AND s.status NOT IN ('pending', 'disabled') AND NOT coalesce(f.is_daily, false) AND u.status = 'active'
           AND NOT EXISTS (SELECT 1 FROM sent_notifications n
             WHERE n.subscription_id = s.id AND n.notification_type = $1 AND n.discriminator = '')
         ORDER BY u.id LIMIT $7::int FOR KEY SHARE OF u, s SKIP LOCKED),
       recorded AS (${recordSentSql({ subscriptions: 'due', type: '$1', now: '$6::timestamptz' })}),
       made AS (INSERT INTO discount_offers (user_id, subscription_id, notification_type, discount_percent, bonus_amount_kopeks,
           expires_at, effect_type, extra_data, created_at, updated_at)
         SELECT user_id, subscription_id, $1, $4::int, 0, $5::timestamptz, 'percent_discount', '{}', $6::timestamptz, $6::timestamptz
         FROM recorded ORDER BY user_id ${OVERWRITE_SQL} RETURNING id, user_id)
     SELECT made.id AS offer_id, u.messenger_id, u.language,
       coalesce((u.notification_settings->>'promo_offers_enabled') <> 'false', true) AS is_wanted
     FROM made JOIN users u ON u.id = made.user_id ORDER BY made.id`,
    [wave.notificationType, wave.endedAfter, wave.endedUntil, wave.discountPercent, wave.expiresAt, now, limit],
  );
}
