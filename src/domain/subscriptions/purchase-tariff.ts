import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { effectiveSquads, tariffVisibleTo } from '../catalog/find-tariff.ts';
import type { Tariff } from '../catalog/types.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { periodLabel } from '../pricing/periods.ts';
import { purchaseDeviceLimit, quoteTariff, type TariffQuote } from '../pricing/tariff-price.ts';
import type { PricingSettings } from '../pricing/types.ts';
import { withPushedLink } from '../subscription-state/provision-state.ts';
import { tariffNotOffered, tariffsModeOff } from './errors.ts';
import type { Choice, OrderOf } from './order.ts';
import { type CompletedSale, completeSale, openSale, requireBuyer, soldSubscription } from './purchase/complete-sale.ts';
import { insufficientFunds, requireServers } from './purchase/insufficient-funds.ts';
import { type GivenQuote, readGivenQuote } from './purchase/signed-quote.ts';
import type { Buyer, SaleNeeds, SaleStart } from './purchase/types.ts';
import { daysUsed } from './rules/status.ts';
import { planTariffPurchase, purchasedPeriod, quotedTariff } from './rules/tariff-purchase.ts';
import type { SubscriptionView } from './rules/view.ts';
import { cartOf, keepCartOnRefusal } from './saved-cart.ts';
import { autopayDefaults, pricingSettingsOf, subscriptionSettingsOf } from './settings.ts';

export const tariffNotAvailable = refusal('tariff_not_available', 403, 'This tariff is not available for your promo group');
export const periodUnavailable = refusal('period_unavailable', 400, {
  code: 'period_unavailable',
  message: 'The selected period is not available for this tariff',
});
const trafficUnavailable = refusal('traffic_unavailable', 400, {
  code: 'traffic_unavailable',
  message: 'Invalid traffic package',
});

/** A tariff that was bought; kopeks. The fields of a discount are absent when there was none; their labels are sums (spec 10 X12). */
export interface PurchasedTariff {
  success: true;
  message: string;
  subscription: SubscriptionView;
  tariffId: number;
  tariffName: string;
  chargedAmount: number;
  chargedLabel: string;
  /** After the purchase. */
  balanceKopeks: number;
  balanceLabel: string;
  discountPercent?: number;
  originalPriceKopeks?: number;
  originalPriceLabel?: string;
  discountAmountKopeks?: number;
  discountLabel?: string;
  promoGroupName?: string | null;
  promoOfferDiscountPercent?: number;
  promoOfferDiscountAmountKopeks?: number;
  promoOfferDiscountLabel?: string;
  priceBeforePromoOfferKopeks?: number;
}

/**
 * Buys a tariff from the balance, once per idempotency key (spec 02 section 5.10). An order that the balance does not cover is saved as
 * the cart. The answer to a first purchase, a repeated one too, has the link if the panel gave it in time (spec 10 V4).
 * @param request.periodDays a daily tariff is always bought for one
 * @param options.keepsCart false = such an order is not saved (the mini-app, spec 02 section 12.2)
 * @throws AppError 403 restricted or not for the promo group | 400 `Tariffs mode is not enabled`, period_unavailable,
 * traffic_unavailable, no_servers | 404 | 402 insufficient_funds | those of `requireQuoted`
 */
export async function purchaseTariff(
  app: App,
  actor: UserActor,
  request: Choice<'tariff'> & { quote?: string | null | undefined; idempotencyKey: string | null },
  options: { keepsCart: boolean } = { keepsCart: true },
): Promise<PurchasedTariff> {
  const { quote, idempotencyKey, ...input } = request;
  const order = { kind: 'tariff', ...input } as const;
  const given = await readGivenQuote(app, quote);
  const purchased = await keepCartOnRefusal(app, actor.userId, () =>
    runOnceFrom(
      app,
      actor,
      { key: idempotencyKey, operation: 'subscription.purchase-tariff', input },
      (t, claim) => openSale(t, actor.userId, needsOf(order), claim),
      (t, start) => sellTariff(t, start, order, { ...options, given }),
    ),
  );
  return withPushedLink(app, purchased);
}

/** The sale itself in the caller's transaction: also for orders that run by themselves after a top-up (spec 02 section 6). */
export async function purchaseTariffInTransaction(t: App, userId: number, order: OrderOf<'tariff'>): Promise<PurchasedTariff> {
  return sellTariff(t, (await openSale(t, userId, needsOf(order))).start, order, { keepsCart: true, given: null });
}

function needsOf(order: OrderOf<'tariff'>): SaleNeeds {
  return { orderedTariffId: order.tariffId, servers: 'for_open_tariff' };
}

async function sellTariff(
  t: App,
  opened: SaleStart | null,
  order: OrderOf<'tariff'>,
  { keepsCart, given }: { keepsCart: boolean; given: GivenQuote | null },
): Promise<PurchasedTariff> {
  const pricing = pricingSettingsOf(t);
  const now = t.clock.now();
  const start = requireBuyer(opened);
  const { buyer, subscription } = start;
  if (pricing.salesMode !== 'tariffs') throw tariffsModeOff();
  const tariff = offeredTariff(start);
  const quote = priceOrder(tariff, order, start, pricing, now);
  const outcome = planTariffPurchase(
    subscription,
    {
      tariff,
      periodDays: order.periodDays,
      customTrafficGb: order.trafficGb,
      squads: effectiveSquads(tariff, start.servers).map((squadUuid) => ({ squadUuid, isAvailable: true })),
    },
    { now, settings: subscriptionSettingsOf(t), pricing, isCurrentTariffDaily: start.isCurrentTariffDaily },
  );
  const changes = outcome.kind === 'create' ? { ...outcome.fields, ...autopayDefaults(t) } : outcome.result.changes;
  requireServers(subscription, changes);
  const isTrialConversion = outcome.kind === 'extend' && outcome.result.isTrialConversion;
  const description = describe(buyer, tariff, quote.periodDays);
  const quoted = quotedTariff(tariff, quote, order.trafficGb);
  const totalKopeks = quote.finalKopeks;
  const sale = await completeSale(t, start, {
    order: quoted.order,
    quote,
    quoted: { ...quoted, given },
    changes,
    dropsPurchases: outcome.kind === 'extend' && outcome.result.dropsPurchases,
    serverPrices: {},
    conversion:
      isTrialConversion && subscription
        ? { trialDurationDays: daysUsed(subscription, now), firstPaidPeriodDays: quote.periodDays }
        : null,
    description,
    refusal: (missingKopeks) =>
      insufficientFunds(
        t,
        buyer,
        missingKopeks,
        keepsCart ? cartOf({ ...quoted.order, tariff, changes }, { totalKopeks, missingKopeks, description }) : null,
      ),
    event: () => ({
      type: 'purchase',
      extra: { period_days: quote.periodDays, was_trial_conversion: isTrialConversion, payment_method: 'balance' },
    }),
    tariffName: tariff.name,
    isTerm: true,
    marksPaid: true,
    resetsTraffic: changes.trafficUsedGb === 0,
    sendsMail: true,
  });
  return answerOf(t, { buyer, tariff, quote, pricing, sale });
}

/** The tariff ordered, if this buyer may have it (spec 02 H19). */
function offeredTariff({ buyer, orderedTariff: tariff }: SaleStart): Tariff {
  if (!tariff?.isActive) throw tariffNotOffered();
  if (!tariffVisibleTo(tariff, buyer.primaryPromoGroup)) throw tariffNotAvailable();
  return tariff;
}

function priceOrder(
  tariff: Tariff,
  order: OrderOf<'tariff'>,
  start: SaleStart,
  settings: PricingSettings,
  now: Date,
): TariffQuote {
  const quote = quoteTariff({
    tariff,
    periodDays: purchasedPeriod(tariff, order.periodDays),
    deviceLimit: purchaseDeviceLimit(tariff, start.subscription),
    customTrafficGb: order.trafficGb,
    user: start.buyer,
    settings,
    now,
  });
  if (quote.kind === 'quote') return quote;
  if (quote.reason === 'period_unavailable') {
    const message = 'The selected period is not available for this tariff';
    throw periodUnavailable({ detail: { code: 'period_unavailable', message } });
  }
  const message = 'The selected traffic limit is not available for this tariff';
  throw trafficUnavailable({ detail: { code: 'traffic_unavailable', message } });
}

function describe(buyer: Buyer, tariff: Tariff, periodDays: number): string {
  return text(buyer.language, 'messages.transaction_tariff', {
    tariff_name: tariff.name,
    period: periodLabel(periodDays, buyer.language),
  });
}

function answerOf(
  t: App,
  done: { buyer: Buyer; tariff: Tariff; quote: TariffQuote; pricing: PricingSettings; sale: CompletedSale },
): PurchasedTariff {
  const { buyer, tariff, quote, pricing, sale } = done;
  const label = (kopeks: number) => formatPrice(kopeks, pricing.priceRoundingEnabled);
  return {
    success: true,
    message: text(buyer.language, 'messages.tariff_bought', { tariff_name: tariff.name }),
    subscription: soldSubscription(t, { buyer, tariff, sale, usedOffer: quote.offerDiscountKopeks > 0 }),
    tariffId: tariff.id,
    tariffName: tariff.name,
    chargedAmount: quote.finalKopeks,
    chargedLabel: label(quote.finalKopeks),
    balanceKopeks: sale.balanceKopeks,
    balanceLabel: label(sale.balanceKopeks),
    ...(quote.groupDiscountKopeks > 0
      ? {
          discountPercent: quote.base.discountPercent,
          originalPriceKopeks: quote.originalTotalKopeks,
          originalPriceLabel: label(quote.originalTotalKopeks),
          discountAmountKopeks: quote.groupDiscountKopeks,
          discountLabel: label(quote.groupDiscountKopeks),
          promoGroupName: buyer.primaryPromoGroup?.name ?? null,
        }
      : {}),
    ...(quote.offerDiscountKopeks > 0
      ? {
          promoOfferDiscountPercent: quote.offerDiscountPercent,
          promoOfferDiscountAmountKopeks: quote.offerDiscountKopeks,
          promoOfferDiscountLabel: label(quote.offerDiscountKopeks),
          priceBeforePromoOfferKopeks: quote.subtotalKopeks,
        }
      : {}),
  };
}
