import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import type { AppError } from '../../core/errors.ts';
import { rublesOf } from '../../core/money.ts';
import { findTariff } from '../catalog/find-tariff.ts';
import { runOnce } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import type { AddOnQuote } from '../pricing/addons.ts';
import { trafficLabel } from '../pricing/labels.ts';
import { noSubscription } from './errors.ts';
import { TRAFFIC_PURCHASED } from './events.ts';
import { beginSale } from './purchase/begin-sale.ts';
import { ADD_ON, completeSale } from './purchase/complete-sale.ts';
import { insufficientFunds } from './purchase/insufficient-funds.ts';
import type { Buyer } from './purchase/types.ts';
import type { WireObject } from './purchase-options.ts';
import { listPurchases } from './repo.ts';
import { reactivatedStatus } from './rules/status.ts';
import { judgeTraffic } from './rules/traffic-order.ts';
import { addTraffic } from './rules/traffic-purchases.ts';
import { keepCartOnRefusal } from './saved-cart.ts';
import { pricingSettingsOf } from './settings.ts';
import type { SavedCart, Subscription, SubscriptionChanges } from './types.ts';

export interface TrafficOrder {
  /** 0 = the unlimited package, sold in classic mode. */
  gb: number;
}

/** The refusal when the money does not suffice. @param cart what could be kept for later, with price and shortage */
export type TrafficShortage = (t: App, buyer: Buyer, cart: SavedCart) => AppError;

const withCart: TrafficShortage = (t, buyer, cart) => insufficientFunds(t, buyer, cart.missing_amount, cart);

/**
 * Adds a traffic package for 30 days from the balance, once per idempotency key (spec 02 sections 3.3 and 5.3). Lack of money saves the
 * order as the cart.
 * @returns the answer of `POST /cabinet/subscription/traffic`
 * @throws AppError 403 restricted | 404 | 400 (see `judgeTraffic`) | 402 insufficient_funds
 */
export function buyTraffic(
  app: App,
  actor: UserActor,
  order: TrafficOrder & { idempotencyKey: string | null },
  shortage: TrafficShortage = withCart,
): Promise<WireObject> {
  const { idempotencyKey, ...input } = order;
  return keepCartOnRefusal(app, actor.userId, () =>
    runOnce(app, actor, { key: idempotencyKey, operation: 'subscription.traffic', input }, (t) =>
      sellTraffic(t, actor.userId, input, shortage),
    ),
  );
}

/** The sale itself in the caller's transaction: also for orders that run by themselves after a top-up (spec 02 section 6). */
export async function sellTraffic(
  t: App,
  userId: number,
  { gb }: TrafficOrder,
  shortage: TrafficShortage = withCart,
): Promise<WireObject> {
  const start = await beginSale(t, userId);
  const { buyer, subscription } = start;
  if (!subscription) throw noSubscription();
  const quote = await quoteTraffic(t, buyer, subscription, gb);
  const now = t.clock.now();
  const added = addTraffic(subscription, await listPurchases(t.db, subscription.id), gb, now);
  const unlimited: SubscriptionChanges = { trafficLimitGb: 0, purchasedTrafficGb: 0, trafficResetAt: null };
  const changes = { ...(added?.changes ?? unlimited), status: reactivatedStatus(subscription, now) };
  const description = text(buyer.language, 'subscriptions.transaction_traffic', {
    traffic: trafficLabel(gb, buyer.language),
  });
  const sale = await completeSale(t, start, {
    ...ADD_ON,
    quote: { finalKopeks: quote.finalKopeks, offerDiscountKopeks: 0 },
    product: 'traffic',
    changes,
    dropsPurchases: added === null,
    trafficPurchase: added?.purchase ?? null,
    endsCarts: ['add_traffic'],
    description,
    refusal: (missing) => shortage(t, buyer, trafficCart(subscription, gb, quote, missing, description)),
  });
  const newLimitGb = sale.details.subscription.trafficLimitGb;
  await t.events.emit(
    TRAFFIC_PURCHASED,
    {
      traffic_gb_added: gb,
      new_traffic_limit_gb: newLimitGb,
      amount_kopeks: quote.finalKopeks,
      amount_rubles: rublesOf(quote.finalKopeks),
    },
    { audience: 'user', userId },
  );
  return {
    success: true,
    message: text(buyer.language, 'subscriptions.traffic_bought', { traffic: trafficLabel(gb, buyer.language) }),
    gb_added: gb,
    new_traffic_limit_gb: newLimitGb,
    amount_paid_kopeks: quote.finalKopeks,
    new_balance_kopeks: sale.balanceKopeks,
    ...discountFields(quote),
  };
}

/** The price of the package for this subscription, or why it is not sold. */
export async function quoteTraffic(app: App, buyer: Buyer, subscription: Subscription, gb: number): Promise<AddOnQuote> {
  return judgeTraffic({
    subscription,
    tariff: subscription.tariffId === null ? null : await findTariff(app, subscription.tariffId),
    gb,
    buyer,
    pricing: pricingSettingsOf(app),
    now: app.clock.now(),
    words: {
      trial: text(buyer.language, 'errors.subscription_trial'),
      inactive: text(buyer.language, 'errors.subscription_inactive'),
    },
  });
}

export function trafficCart(
  subscription: Subscription,
  gb: number,
  quote: AddOnQuote,
  missingKopeks: number,
  description: string,
): SavedCart {
  return {
    source: 'cabinet',
    cart_mode: 'add_traffic',
    subscription_id: subscription.id,
    traffic_gb: gb,
    total_price: quote.finalKopeks,
    missing_amount: missingKopeks,
    description,
    price_kopeks: quote.finalKopeks,
    base_price_kopeks: quote.originalKopeks,
    discount_percent: quote.discountPercent,
  };
}

/** Only when something was taken off. */
export function discountFields(quote: AddOnQuote): WireObject {
  if (quote.discountKopeks <= 0) return {};
  return {
    discount_percent: quote.discountPercent,
    discount_kopeks: quote.discountKopeks,
    base_price_kopeks: quote.originalKopeks,
  };
}
