import type { Db } from '../../../core/db/db.ts';
import { recordSentSql } from '../../subscriptions/sent-notifications.ts';
import { OVERWRITE_SQL } from './repo.ts';

export interface WinBackWave {
  notificationType: string;
  discountPercent: number;
  /** The subscription ended between these moments: after the first, not after the second. */
  endedAfter: Date;
  endedUntil: Date;
  expiresAt: Date;
}

export interface WinBackOffer {
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
