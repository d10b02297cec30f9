import type { App } from '../../../core/app.ts';
import type { GuestPurchase } from './types.ts';

/** The discount that lowered the price of an invoice was used up, or ended, before the money came (spec 10 M3). Rolls the sale back. */
export class OfferGoneError extends Error {
  constructor(purchaseId: number) {
    super(`the discount of purchase ${purchaseId} is gone`);
  }
}

/**
 * Uses up the personal discount that lowered the price of a purchase, when its money has come (spec 03 H14), under the locks of buyer and
 * purchase; nothing for a purchase without one. A discount is used once, by whoever pays first (prisma/sql/offer-reservations.sql).
 * @param way how the money came; the log of promo offers names it (spec 04 section 9.1)
 * @throws OfferGoneError when the buyer has it no more
 */
export async function consumeOffer(
  t: App,
  { id, promoOfferPercent, amountKopeks }: Pick<GuestPurchase, 'id' | 'promoOfferPercent' | 'amountKopeks'>,
  way: 'balance' | 'provider',
): Promise<void> {
  if (promoOfferPercent === null) return;
  const [action, reason] = way === 'balance' ? ['consumed', 'manual_charge'] : ['consumed_external_payment', 'external_payment'];
  const details = JSON.stringify({ reason, description: `gift ${id}`, amount_kopeks: amountKopeks });
  const [row] = await t.db.sql<{ isUsed: boolean }>('SELECT use_offer($1::int, $2, $3::jsonb, $4::timestamptz) AS is_used', [
    ...[id, action, details, t.clock.now()],
  ]);
  if (!row!.isUsed) throw new OfferGoneError(id);
}
