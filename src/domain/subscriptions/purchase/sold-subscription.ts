import type { App } from '../../../core/app.ts';
import type { Tariff } from '../../catalog/types.ts';
import { type SubscriptionView, viewSubscription } from '../rules/view.ts';
import { pricingSettingsOf } from '../settings.ts';
import type { CompletedSale } from './complete-sale.ts';
import type { Buyer } from './types.ts';

/**
 * The subscription as its owner sees it after a sale, for the sale's answer (spec 02 sections 5.7 to 5.11).
 * @param sold.tariff the tariff of the subscription by now; null for a classic one
 * @param sold.usedOffer this very sale used the personal offer up, so that no price shown beside it carries it any more
 */
export function soldSubscription(
  t: App,
  sold: { buyer: Buyer; tariff: Tariff | null; sale: CompletedSale; usedOffer: boolean },
): SubscriptionView {
  const { details } = sold.sale;
  return viewSubscription({
    subscription: details.subscription,
    tariff: sold.tariff,
    purchases: details.purchases,
    squads: details.servers,
    user: sold.usedOffer ? { ...sold.buyer, promoOfferDiscountPercent: 0 } : sold.buyer,
    settings: pricingSettingsOf(t),
    hideSubscriptionLink: t.settings.get('HIDE_SUBSCRIPTION_LINK'),
    defaultTrafficReset: t.settings.get('DEFAULT_TRAFFIC_RESET_STRATEGY'),
    now: t.clock.now(),
  });
}
