import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { isAppError } from '../../core/errors.ts';
import { rublesOf } from '../../core/money.ts';
import type { Tariff } from '../catalog/types.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import type { AddOnQuote } from '../pricing/addons.ts';
import { trafficLabel } from '../pricing/labels.ts';
import { noSubscription } from './errors.ts';
import { TRAFFIC_PURCHASED } from './events.ts';
import type { Choice, OrderOf } from './order.ts';
import { ADD_ON, completeSale } from './purchase/complete-sale.ts';
import { type InsufficientFundsRefusal, insufficientFunds } from './purchase/insufficient-funds.ts';
import { openSale, requireBuyer } from './purchase/open-sale.ts';
import { type GivenQuote, type QuotedSale, readGivenQuote } from './purchase/signed-quote.ts';
import type { Buyer, SaleStart } from './purchase/types.ts';
import { listPurchases } from './repo.ts';
import { type AddOnDiscount, addOnDiscount } from './rules/add-on-discount.ts';
import { reactivatedStatus } from './rules/status.ts';
import { planTraffic } from './rules/traffic-order.ts';
import { addTraffic } from './rules/traffic-purchases.ts';
import { cartOf, keepCartOnRefusal } from './saved-cart.ts';
import { pricingSettingsOf } from './settings.ts';
import type { Subscription, SubscriptionChanges } from './types.ts';

/** Traffic that was bought; GB (0 = unlimited), kopeks. */
export interface PurchasedTraffic extends AddOnDiscount {
  /** In the user's language. */
  message: string;
  gbAdded: number;
  newTrafficLimitGb: number;
  amountPaidKopeks: number;
  newBalanceKopeks: number;
}

/**
 * Adds a traffic package for 30 days from the balance, once per idempotency key (spec 02 sections 3.3 and 5.3).
 * @param request.gb 0 = the unlimited package, sold in classic mode
 * @param refusal of a balance that is too small, where nothing is saved; null = the usual one, and the order is saved as the cart
 * @throws AppError 403 restricted | 404 | 400 (see `planTraffic`) | 402 insufficient_funds or the refusal given |
 * those of `requireQuoted`
 */
export async function purchaseTraffic(
  app: App,
  actor: UserActor,
  request: Choice<'traffic'> & { quote?: string | null | undefined; idempotencyKey: string | null },
  refusal: InsufficientFundsRefusal | null = null,
): Promise<PurchasedTraffic> {
  const { quote, idempotencyKey, ...input } = request;
  const given = await readGivenQuote(app, quote);
  return keepCartOnRefusal(app, actor.userId, () =>
    runOnceFrom(
      app,
      actor,
      { key: idempotencyKey, operation: 'subscription.traffic', input },
      (t, claim) => openSale(t, actor.userId, {}, claim),
      (t, start) => sellTraffic(t, start, { kind: 'traffic', ...input }, { refusal, given }),
    ),
  );
}

/** The sale itself in the caller's transaction: also for orders that run by themselves after a top-up (spec 02 section 6). */
export async function purchaseTrafficInTransaction(t: App, userId: number, order: OrderOf<'traffic'>): Promise<PurchasedTraffic> {
  return sellTraffic(t, (await openSale(t, userId)).start, order, { refusal: null, given: null });
}

async function sellTraffic(
  t: App,
  opened: SaleStart | null,
  order: OrderOf<'traffic'>,
  { refusal, given }: { refusal: InsufficientFundsRefusal | null; given: GivenQuote | null },
): Promise<PurchasedTraffic> {
  const { gb } = order;
  const start = requireBuyer(opened);
  const { buyer, subscription } = start;
  if (!subscription) throw noSubscription();
  const quote = quoteTraffic(t, buyer, { subscription, tariff: start.currentTariff }, gb);
  const now = t.clock.now();
  const added = addTraffic(subscription, await listPurchases(t.db, subscription.id), gb, now);
  const unlimited: SubscriptionChanges = { trafficLimitGb: 0, purchasedTrafficGb: 0, trafficResetAt: null };
  const changes = { ...(added?.changes ?? unlimited), status: reactivatedStatus(subscription, now) };
  const description = text(buyer.language, 'subscriptions.transaction_traffic', {
    traffic: trafficLabel(gb, buyer.language),
  });
  const totalKopeks = quote.finalKopeks;
  const sale = await completeSale(t, start, {
    ...ADD_ON,
    order,
    quote: { finalKopeks: quote.finalKopeks, offerDiscountKopeks: 0 },
    quoted: { ...quotedTraffic(subscription, order), given },
    changes,
    dropsPurchases: added === null,
    trafficPurchase: added?.purchase ?? null,
    description,
    refusal: (missingKopeks) =>
      refusal === null
        ? insufficientFunds(
            t,
            buyer,
            missingKopeks,
            cartOf({ ...order, subscription, quote }, { totalKopeks, missingKopeks, description }),
          )
        : refusal(t, buyer, { requiredKopeks: quote.finalKopeks, missingKopeks }),
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
    { audience: 'user', userId: buyer.id },
  );
  return {
    message: text(buyer.language, 'subscriptions.traffic_bought', { traffic: trafficLabel(gb, buyer.language) }),
    gbAdded: gb,
    newTrafficLimitGb: newLimitGb,
    amountPaidKopeks: quote.finalKopeks,
    newBalanceKopeks: sale.balanceKopeks,
    ...addOnDiscount(quote),
  };
}

/** The price of the package for this subscription. @throws AppError 400 or 404 why it is not sold (see `planTraffic`) */
export function quoteTraffic(
  app: App,
  buyer: Buyer,
  { subscription, tariff }: { subscription: Subscription; tariff: Tariff | null },
  gb: number,
): AddOnQuote {
  return planTraffic({
    subscription,
    tariff,
    gb,
    buyer,
    pricing: pricingSettingsOf(app),
    now: app.clock.now(),
    texts: {
      trial: text(buyer.language, 'errors.subscription_trial'),
      inactive: text(buyer.language, 'errors.subscription_inactive'),
    },
  });
}

/** As `quoteTraffic`; null where the package is not sold to this subscription now. */
export function quoteTrafficOrNull(...order: Parameters<typeof quoteTraffic>): AddOnQuote | null {
  try {
    return quoteTraffic(...order);
  } catch (error) {
    if (isAppError(error)) return null;
    throw error;
  }
}

/** A package as it is quoted. */
export function quotedTraffic(
  { trafficLimitGb }: Subscription,
  order: OrderOf<'traffic'>,
): Pick<QuotedSale, 'order' | 'delivered'> {
  return { order, delivered: { trafficLimitGb } };
}
