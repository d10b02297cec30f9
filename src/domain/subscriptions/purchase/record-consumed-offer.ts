import type { App } from '../../../core/app.ts';

export interface ConsumedOffer {
  userId: number;
  description: string;
  /** What was charged in the end, kopeks. */
  amountKopeks: number;
  /** A purchase paid straight at a provider is told apart from one paid from the balance. */
  paidBy: 'balance' | 'provider';
}

/** The offer that a personal discount came from, as a subquery with `id` and `effect_type`; none for a promo code's. */
export function claimedOfferSql(userId: string, source: string): string {
  return `(SELECT id, effect_type FROM discount_offers
    WHERE user_id = ${userId} AND notification_type = ${source} AND claimed_at IS NOT NULL ORDER BY claimed_at DESC, id DESC LIMIT 1)`;
}

/**
 * Writes into the log of promo offers that a purchase used the personal discount up (spec 04 section 9.1). Call it under the user's lock,
 * before the discount's fields are cleared: percent, source and the offer it came from are read from them.
 */
export async function recordConsumedOffer(t: App, used: ConsumedOffer): Promise<void> {
  await t.db.sql(
    `INSERT INTO promo_offer_logs (user_id, offer_id, action, source, percent, effect_type, details, created_at)
     SELECT u.id, o.id, $2, u.promo_offer_discount_source, u.promo_offer_discount_percent, o.effect_type, $3::jsonb, $4::timestamptz
     FROM users u LEFT JOIN LATERAL ${claimedOfferSql('u.id', 'u.promo_offer_discount_source')} o ON true
     WHERE u.id = $1::int RETURNING id`,
    [
      used.userId,
      used.paidBy === 'balance' ? 'consumed' : 'consumed_external_payment',
      JSON.stringify({ reason: 'manual_charge', description: used.description, amount_kopeks: used.amountKopeks }),
      t.clock.now(),
    ],
  );
}
