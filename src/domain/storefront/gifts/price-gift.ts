import type { App } from '../../../core/app.ts';
import { effectiveSquads } from '../../catalog/rules/tariff-access.ts';
import type { Tariff } from '../../catalog/types.ts';
import { requireBuyer } from '../../subscriptions/purchase/open-sale.ts';
import { requireQuoted } from '../../subscriptions/purchase/signed-quote.ts';
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
  tariff: Tariff;
  price: GiftPrice;
  buyer: SaleStart['buyer'];
}

/**
 * Prices a gift under the locks, so that a price or a discount that changes at the same moment is not missed.
 * @throws AppError 404 | 403 | 400, with the texts of spec 03 section 9; those of `requireQuoted`
 */
export function priceGift(t: App, opened: SaleStart | null, { order, quote }: CheckedGift): PricedGift {
  const { periodDays } = order;
  const { buyer, orderedTariff: tariff, servers } = requireBuyer(opened, RESTRICTED);
  if (!tariff?.isActive || !tariff.showInGift) throw giftTariffNotFound();
  const price = giftPrice(tariff, periodDays, { user: buyer, settings: pricingSettingsOf(t), now: t.clock.now() });
  if (!price) throw priceMissing();
  if (effectiveSquads(tariff, servers).length === 0) throw tariffWithoutServers();
  const sale = { ...quotedGift(tariff, periodDays), userId: buyer.id, priceKopeks: price.kopeks };
  requireQuoted(quote, sale, t.clock.now());
  return { tariff, price, buyer };
}

/** A gift as it is quoted. */
export function quotedGift({ id: tariffId, trafficLimitGb, deviceLimit }: Tariff, periodDays: number) {
  return { product: 'gift', terms: { tariffId, periodDays, trafficLimitGb, deviceLimit } } as const;
}

/** The row of a gift. */
export function newGift(
  t: App,
  { order, buyer, recipient, warning }: CheckedGift,
  { tariff, price, buyer: { promoOfferDiscountSource, language } }: PricedGift,
  payment: Pick<NewPurchase, 'paymentMethod' | 'paymentId'>,
  token: string,
): NewPurchase {
  return {
    token,
    source: 'cabinet',
    landingId: null,
    buyerUserId: buyer.id,
    buyer: buyerContact(buyer),
    language,
    isGift: true,
    recipient,
    giftMessage: order.giftMessage,
    recipientWarning: warning,
    tariffId: tariff.id,
    periodDays: order.periodDays,
    amountKopeks: price.kopeks,
    promoOfferPercent: price.offerPercent,
    promoOfferSource: price.offerPercent === null ? null : promoOfferDiscountSource,
    now: t.clock.now(),
    ...payment,
  };
}
