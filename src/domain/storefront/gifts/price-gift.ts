import type { App } from '../../../core/app.ts';
import { effectiveSquads } from '../../catalog/find-tariff.ts';
import type { Tariff } from '../../catalog/types.ts';
import type { OrderOf } from '../../subscriptions/order.ts';
import { requireBuyer } from '../../subscriptions/purchase/complete-sale.ts';
import { type QuotedSale, requireQuoted } from '../../subscriptions/purchase/signed-quote.ts';
import type { SaleNeeds, SaleStart } from '../../subscriptions/purchase/types.ts';
import { pricingSettingsOf } from '../../subscriptions/settings.ts';
import { priceMissing, tariffWithoutServers } from '../purchases/errors.ts';
import type { NewPurchase } from '../purchases/repo.ts';
import { giftTariffNotFound, RESTRICTED } from './errors.ts';
import { buyerContact, type GiftPrice, giftPrice } from './rules.ts';
import type { CheckedGift, GiftOrder } from './types.ts';

/** What is locked and read for a gift: user, tariff and, for a tariff that names none, its servers. */
export function giftNeeds({ tariffId }: GiftOrder): SaleNeeds {
  return { orderedTariffId: tariffId, servers: 'for_open_tariff' };
}

/** A gift under the locks of its buyer and its tariff. */
export interface PricedGift {
  order: OrderOf<'gift'>;
  tariff: Tariff;
  price: GiftPrice;
  buyer: SaleStart['buyer'];
}

/**
 * Prices a gift under the locks, so that a price or a discount that changes at the same time is not missed.
 * @throws AppError 404 | 403 | 400, with the texts of spec 03 section 9; those of `requireQuoted`
 */
export function priceGift(t: App, opened: SaleStart | null, { order, quote }: CheckedGift): PricedGift {
  const { periodDays } = order;
  const { buyer, orderedTariff: tariff, servers } = requireBuyer(opened, RESTRICTED);
  if (!tariff?.isActive || !tariff.showInGift) throw giftTariffNotFound();
  const price = giftPrice(tariff, periodDays, { user: buyer, settings: pricingSettingsOf(t), now: t.clock.now() });
  if (!price) throw priceMissing();
  if (effectiveSquads(tariff, servers).length === 0) throw tariffWithoutServers();
  const quoted = quotedGift(tariff, periodDays);
  requireQuoted(quote, { ...quoted, userId: buyer.id, priceKopeks: price.kopeks }, t.clock.now());
  return { order: quoted.order, tariff, price, buyer };
}

/** A gift as it is quoted. */
export function quotedGift(
  { id: tariffId, trafficLimitGb, deviceLimit }: Tariff,
  periodDays: number,
): { order: OrderOf<'gift'>; delivered: QuotedSale['delivered'] } {
  return { order: { kind: 'gift', tariffId, periodDays }, delivered: { trafficLimitGb, deviceLimit } };
}

/** The row of a gift. */
export function newGift(
  t: App,
  { order: { giftMessage }, buyer, recipient, warning }: CheckedGift,
  { order, price, buyer: { promoOfferDiscountSource, language } }: PricedGift,
  payment: Pick<NewPurchase, 'paymentMethod' | 'paymentId'>,
  token: string,
): NewPurchase {
  return {
    token,
    order,
    landingId: null,
    buyerUserId: buyer.id,
    buyer: buyerContact(buyer),
    language,
    isGift: true,
    recipient,
    giftMessage,
    recipientWarning: warning,
    amountKopeks: price.kopeks,
    promoOfferPercent: price.offerPercent,
    promoOfferSource: price.offerPercent === null ? null : promoOfferDiscountSource,
    now: t.clock.now(),
    ...payment,
  };
}
