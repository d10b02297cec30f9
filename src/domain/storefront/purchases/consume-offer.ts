import type { App } from '../../../core/app.ts';
import { clearDiscountSql } from '../../identity/promo-account.ts';
import { consumedOfferDetails, consumedOfferSql } from '../../subscriptions/purchase/consumed-offer.ts';
import type { GuestPurchase } from './types.ts';

/**
 * Uses up the personal discount that lowered the price of a purchase, when its money has come (spec 03 H14), under the lock of the user. A
 * discount that the user got since then is another one and stays. In the caller's transaction.
 * @returns whether it did
 */
export async function consumeOffer(
  t: App,
  purchase: Pick<GuestPurchase, 'id' | 'promoOfferPercent' | 'promoOfferSource' | 'amountKopeks'>,
  userId: number,
): Promise<boolean> {
  const { id, promoOfferPercent, promoOfferSource, amountKopeks } = purchase;
  if (promoOfferPercent === null) return false;
  // All parts of the statement see the same snapshot: the log has the discount that the last one clears.
  const rows = await t.db.sql(
    `WITH used AS (SELECT id FROM users WHERE id = $1::int AND promo_offer_discount_percent = $4::int
         AND promo_offer_discount_source IS NOT DISTINCT FROM $5::text),
       logged AS (${consumedOfferSql({ userId: '(SELECT id FROM used)', details: '$3::jsonb', now: '$2::timestamptz' })})
     ${clearDiscountSql({ users: 'used', now: '$2::timestamptz' })}`,
    [
      userId,
      t.clock.now(),
      consumedOfferDetails({ description: `gift ${id}`, amountKopeks }),
      promoOfferPercent,
      promoOfferSource,
    ],
  );
  return rows.length > 0;
}
