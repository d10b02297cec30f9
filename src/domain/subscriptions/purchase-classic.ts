import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { listSquads } from '../catalog/find-squads.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { devicesLabel, displayMonthsOf, periodLabel, trafficLabel } from '../pricing/periods.ts';
import type { PricePart } from '../pricing/types.ts';
import { withPushedLink } from '../subscription-state/provision-state.ts';
import { type ClassicOptions, classicOptions } from './classic-options.ts';
import type { OrderOf } from './order.ts';
import { completeSale, openSale, requireBuyer, soldSubscription } from './purchase/complete-sale.ts';
import { insufficientFunds, insufficientFundsMessage, requireBuyerDetails } from './purchase/insufficient-funds.ts';
import { type GivenQuote, readGivenQuote, signQuote } from './purchase/signed-quote.ts';
import type { Buyer, SaleNeeds, SaleStart } from './purchase/types.ts';
import type { PurchaseOptionsInput } from './purchase-options.ts';
import { type ClassicOrder, type ClassicSelection, classicChanges, resolveSelection } from './rules/classic-selection.ts';
import { daysUsed } from './rules/status.ts';
import type { SubscriptionView } from './rules/view.ts';
import { cartOf, keepCartOnRefusal } from './saved-cart.ts';
import { autopayDefaults, pricingSettingsOf, subscriptionSettingsOf } from './settings.ts';
import type { Subscription } from './types.ts';

export const classicModeDisabled = refusal(
  'classic_mode_disabled',
  400,
  'This endpoint is not available in tariffs mode. Use /purchase-tariff instead.',
);

/**
 * What a classic subscription may be made of (spec 02 section 5.8). Never writes.
 * @throws AppError 400 in tariffs mode
 */
export async function readClassicOptions(app: App, actor: UserActor): Promise<ClassicOptions> {
  refuseTariffsMode(app);
  const found = await requireBuyerDetails(app, actor);
  return classicOptions(await inputOf(app, found.buyer, found.details?.subscription ?? null));
}

/** What a classic selection costs, with the texts shown beside it; kopeks. What is null does not apply. */
export interface ClassicPreview {
  totalPriceKopeks: number;
  totalPriceLabel: string;
  originalPriceKopeks: number | null;
  originalPriceLabel: string | null;
  discountPercent: number;
  discountLabel: string | null;
  discountLines: string[];
  perMonthPriceKopeks: number;
  perMonthPriceLabel: string;
  balanceKopeks: number;
  balanceLabel: string;
  missingAmountKopeks: number;
  missingAmountLabel: string | null;
  canPurchase: boolean;
  /** Empty when the balance suffices. */
  statusMessage: string;
  breakdown: { label: string; value: string }[];
  /** Signed; see `requireQuoted`. */
  quote: string;
}

/** A classic subscription that was bought; kopeks. */
export interface PurchasedClassic {
  success: true;
  message: string;
  subscription: SubscriptionView;
  wasTrialConversion: boolean;
  /** After the purchase. */
  balanceKopeks: number;
}

/**
 * What a classic selection would cost (spec 02 section 5.9). Never writes.
 * @throws AppError 400 mode and what `resolveSelection` refuses
 */
export async function previewClassic(app: App, actor: UserActor, selection: ClassicSelection): Promise<ClassicPreview> {
  refuseTariffsMode(app);
  const found = await requireBuyerDetails(app, actor);
  const { buyer, details } = found;
  const classic = resolveSelection(selection, await inputOf(app, buyer, details?.subscription ?? null));
  const { order, quote } = classic;
  const signed = await signQuote(app, { order, delivered: {}, userId: buyer.id, priceKopeks: quote.finalKopeks });
  return { ...previewOf(app, buyer, classic), quote: signed };
}

/**
 * Buys a classic subscription from the balance, once per idempotency key. An order that the
 * balance does not cover is saved as the cart. The answer to a first purchase has the link if the panel gave it in time (spec 10 V4).
 * @throws AppError 403 restricted | 400 mode and what `resolveSelection` refuses | 402 insufficient_funds |
 * those of `requireQuoted`
 */
export async function purchaseClassic(
  app: App,
  actor: UserActor,
  order: { selection: ClassicSelection; quote?: string | null | undefined; idempotencyKey: string | null },
): Promise<PurchasedClassic> {
  const { selection, quote, idempotencyKey: key } = order;
  const given = await readGivenQuote(app, quote);
  const purchased = await keepCartOnRefusal(app, actor.userId, () =>
    runOnceFrom(
      app,
      actor,
      { key, operation: 'subscription.purchase', input: selection },
      (t, claim) => openSale(t, actor.userId, NEEDS, claim),
      (t, start) => sellClassic(t, start, selection, given),
    ),
  );
  return withPushedLink(app, purchased);
}

/** The sale itself in the caller's transaction: also for orders that run by themselves after a top-up (spec 02 section 6). */
export async function purchaseClassicInTransaction(t: App, userId: number, order: OrderOf<'classic'>): Promise<PurchasedClassic> {
  return sellClassic(t, (await openSale(t, userId, NEEDS)).start, { ...order, periodId: null }, null);
}

const NEEDS: SaleNeeds = { servers: 'always' };

async function sellClassic(
  t: App,
  opened: SaleStart | null,
  selection: ClassicSelection,
  given: GivenQuote | null,
): Promise<PurchasedClassic> {
  refuseTariffsMode(t);
  const start = requireBuyer(opened);
  const { buyer, subscription, servers: squads } = start;
  const now = t.clock.now();
  const { order, quote } = resolveSelection(selection, {
    subscription,
    user: buyer,
    squads,
    settings: pricingSettingsOf(t),
    now,
  });
  const changes = classicChanges(subscription, order, { now, settings: subscriptionSettingsOf(t) });
  const isConversion = subscription?.isTrial === true && subscription.status !== 'pending';
  const period = periodLabel(order.periodDays, buyer.language);
  const description = text(buyer.language, 'subscriptions.transaction_classic', { period });
  const totalKopeks = quote.finalKopeks;
  const sale = await completeSale(t, start, {
    order,
    quote,
    quoted: { order, delivered: {}, given },
    changes: subscription === null ? { ...changes, ...autopayDefaults(t) } : changes,
    dropsPurchases: true,
    serverPrices: Object.fromEntries(quote.serverPrices.map((server) => [server.squadUuid, server.paidPriceKopeks])),
    conversion:
      isConversion && subscription
        ? { trialDurationDays: daysUsed(subscription, now), firstPaidPeriodDays: order.periodDays }
        : null,
    description,
    refusal: (missingKopeks) =>
      insufficientFunds(t, buyer, missingKopeks, cartOf(order, { totalKopeks, missingKopeks, description })),
    event: () => ({
      type: 'purchase',
      extra: { period_days: order.periodDays, was_trial_conversion: isConversion, payment_method: 'balance' },
    }),
    tariffName: null,
    isTerm: true,
    marksPaid: true,
    resetsTraffic: true,
    sendsMail: true,
  });
  return {
    success: true,
    message: text(buyer.language, 'subscriptions.classic_bought', { period }),
    subscription: soldSubscription(t, { buyer, tariff: null, sale, usedOffer: quote.offerDiscountKopeks > 0 }),
    wasTrialConversion: isConversion,
    balanceKopeks: sale.balanceKopeks,
  };
}

/** Classic goods are sold in classic mode only, in both areas (spec 02 H6). */
function refuseTariffsMode(app: App): void {
  if (pricingSettingsOf(app).salesMode === 'classic') return;
  const message = 'This endpoint is not available in tariffs mode. Use /purchase-tariff instead.';
  throw classicModeDisabled({ detail: message });
}

async function inputOf(app: App, buyer: Buyer, subscription: Subscription | null): Promise<PurchaseOptionsInput> {
  const squads = await listSquads(app);
  return { subscription, user: buyer, squads, settings: pricingSettingsOf(app), now: app.clock.now() };
}

function previewOf(app: App, buyer: Buyer, classic: ClassicOrder): Omit<ClassicPreview, 'quote'> {
  const { order, quote } = classic;
  const label = (kopeks: number) => formatPrice(kopeks, app.settings.get('PRICE_ROUNDING_ENABLED'));
  const missing = Math.max(0, quote.finalKopeks - buyer.balanceKopeks);
  const perMonth = Math.floor(quote.finalKopeks / displayMonthsOf(order.periodDays));
  const isReduced = quote.finalKopeks < quote.originalTotalKopeks;
  const saved = quote.originalTotalKopeks - quote.finalKopeks;
  const percent = isReduced ? Math.round((saved * 100) / quote.originalTotalKopeks) : 0;
  return {
    totalPriceKopeks: quote.finalKopeks,
    totalPriceLabel: label(quote.finalKopeks),
    originalPriceKopeks: isReduced ? quote.originalTotalKopeks : null,
    originalPriceLabel: isReduced ? label(quote.originalTotalKopeks) : null,
    discountPercent: percent,
    discountLabel: isReduced ? text(buyer.language, 'subscriptions.you_save', { amount: label(saved) }) : null,
    discountLines: discountLines(buyer, classic, label),
    perMonthPriceKopeks: perMonth,
    perMonthPriceLabel: label(perMonth),
    balanceKopeks: buyer.balanceKopeks,
    balanceLabel: label(buyer.balanceKopeks),
    missingAmountKopeks: missing,
    missingAmountLabel: missing > 0 ? label(missing) : null,
    canPurchase: missing === 0,
    statusMessage: missing > 0 ? insufficientFundsMessage(app, buyer, missing) : '',
    breakdown: breakdownOf(buyer, classic, label),
  };
}

function breakdownOf(
  buyer: Buyer,
  { order, quote }: ClassicOrder,
  label: (kopeks: number) => string,
): ClassicPreview['breakdown'] {
  const { language } = buyer;
  const { periodDays, trafficGb, devices } = order;
  const parts: [string, PricePart][] = [
    [periodLabel(periodDays, language), quote.base],
    [trafficLabel(trafficGb, language), quote.traffic],
    [text(language, 'subscriptions.part_servers'), quote.servers],
    [devicesLabel(devices, language), quote.devices],
  ];
  const lines = parts
    .filter(([, part], index) => index === 0 || part.originalKopeks > 0)
    .map(([name, part]) => ({ label: name, value: label(part.finalKopeks) }));
  if (quote.offerDiscountKopeks <= 0) return lines;
  return [...lines, { label: text(language, 'subscriptions.part_offer'), value: `-${label(quote.offerDiscountKopeks)}` }];
}

/** One line for each part that is discounted and one for the personal offer: "Servers discount: -2 ₽ (15%)" (spec 10 X12). */
function discountLines({ language }: Buyer, { quote }: ClassicOrder, label: (kopeks: number) => string): string[] {
  const discounts = [
    ['discount_period', quote.base.discountKopeks, quote.base.discountPercent],
    ['discount_servers', quote.servers.discountKopeks, quote.servers.discountPercent],
    ['discount_traffic', quote.traffic.discountKopeks, quote.traffic.discountPercent],
    ['discount_devices', quote.devices.discountKopeks, quote.devices.discountPercent],
    ['part_offer', quote.offerDiscountKopeks, quote.offerDiscountPercent],
  ] as const;
  return discounts
    .filter(([, kopeks]) => kopeks > 0)
    .map(([key, kopeks, percent]) => `${text(language, `subscriptions.${key}`)}: -${label(kopeks)} (${percent}%)`);
}
