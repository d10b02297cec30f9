/** The offer that a personal discount came from, as a subquery with `id` and `effect_type`; none for a promo code's. */
export function claimedOfferSql(userId: string, source: string): string {
  return `(SELECT id, effect_type FROM discount_offers
    WHERE user_id = ${userId} AND notification_type = ${source} AND claimed_at IS NOT NULL ORDER BY claimed_at DESC, id DESC LIMIT 1)`;
}

/**
 * SQL that writes into the log of promo offers that a purchase used the personal discount up (spec 04 section 9.1). Percent, source and the
 * offer it came from are those that the snapshot of the statement shows: use it under the user's lock, in the statement that clears the
 * discount or before it. The arguments are placeholders.
 * @param log.details see `consumedOfferDetails`
 */
export function consumedOfferSql(log: { userId: string; details: string; now: string }): string {
  return `INSERT INTO promo_offer_logs (user_id, offer_id, action, source, percent, effect_type, details, created_at)
     SELECT u.id, o.id, 'consumed', u.promo_offer_discount_source, u.promo_offer_discount_percent, o.effect_type, ${log.details}, ${log.now}
     FROM users u LEFT JOIN LATERAL ${claimedOfferSql('u.id', 'u.promo_offer_discount_source')} o ON true
     WHERE u.id = ${log.userId} RETURNING id`;
}

/** What the log row says of the purchase, as JSON. @param sale.amountKopeks what was charged in the end */
export function consumedOfferDetails(sale: { description: string; amountKopeks: number }): string {
  return JSON.stringify({ reason: 'manual_charge', description: sale.description, amount_kopeks: sale.amountKopeks });
}
