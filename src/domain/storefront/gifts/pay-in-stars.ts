import type { App } from '../../../core/app.ts';
import { readStarsInvoice, storeStarsInvoice } from '../../payments/purpose-stars.ts';
import { newOrderId } from '../../payments/rules.ts';
import { starsForKopeks } from '../../payments/stars-rate.ts';
import { GUEST_PURCHASE } from '../purchases/rules.ts';

/** How the payloads of these invoices begin (spec 03 section 2.5). */
export const STARS_PREFIX = `${GUEST_PURCHASE}_`;

/** A stored invoice in Stars, whose link has to be requested from the messenger, after commit. */
export interface PreparedStars {
  paymentId: number;
  payload: string;
  stars: number;
  title: string;
  description: string;
}

/**
 * Stores an invoice in Stars for a gift, in the caller's transaction. The kopeks are agreed now; a later change of the rate changes neither
 * them nor the stars of the link.
 */
export async function prepareStars(
  t: App,
  invoice: { userId: number; amountKopeks: number; title: string; description: string },
): Promise<PreparedStars> {
  const { userId, amountKopeks, title, description } = invoice;
  const payload = `${STARS_PREFIX}${newOrderId(t.random)}`;
  const stars = starsForKopeks(amountKopeks, t.settings.get('MESSENGER_STARS_RATE_RUB'));
  await storeStarsInvoice(t, { userId, payload, stars, amountKopeks, purpose: GUEST_PURCHASE, description });
  const stored = await readStarsInvoice(t, payload, false);
  return { paymentId: stored!.id, payload, stars, title, description };
}

/** Requests the link by which the invoice is paid, outside of any transaction. @throws MessengerError */
export function requestStarsLink(app: App, { payload, stars, title, description }: PreparedStars): Promise<string> {
  return app.ports.messenger.createStarsInvoiceLink({ payload, stars, title, description });
}
