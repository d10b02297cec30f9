import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { AppError, isAppError, refusal } from '../../core/errors.ts';
import { rublesOf } from '../../core/money.ts';
import type { Tariff } from '../catalog/types.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { type AddOnQuote, quoteTrafficPackage } from '../pricing/addons.ts';
import { trafficLabel } from '../pricing/periods.ts';
import type { PricedUser, PricingSettings } from '../pricing/types.ts';
import { noSubscription, tariffNotFound } from './errors.ts';
import { TRAFFIC_PURCHASED } from './events.ts';
import type { Choice, OrderOf } from './order.ts';
import { ADD_ON, completeSale, openSale, requireBuyer } from './purchase/complete-sale.ts';
import { type InsufficientFundsRefusal, insufficientFunds } from './purchase/insufficient-funds.ts';
import { type GivenQuote, type QuotedSale, readGivenQuote } from './purchase/signed-quote.ts';
import type { Buyer, SaleStart } from './purchase/types.ts';
import { type AddOnDiscount, addOnDiscount } from './purchase-devices.ts';
import { listPurchases } from './repo.ts';
import { actualStatus, reactivatedStatus } from './rules/status.ts';
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

const paidSubscriptionRequired = refusal('paid_subscription_required', 400, 'Not available during the trial');
const subscriptionInactive = refusal('subscription_inactive', 400, 'Subscription is not active');
export const unlimitedTraffic = refusal('unlimited_traffic', 400, 'Cannot add traffic to unlimited subscription');
const trafficTopupDisabled = refusal('traffic_topup_disabled', 400, 'Traffic top-up is disabled for this tariff');
const topupLimitExceeded = refusal('topup_limit_exceeded', 400, 'Traffic limit exceeded. Max: <n> GB, available: <n> GB');
export const invalidPackage = refusal('invalid_package', 400, 'Invalid traffic package');

/** With what a package is not sold. */
export const PACKAGE_REFUSES = [
  paidSubscriptionRequired,
  subscriptionInactive,
  unlimitedTraffic,
  trafficTopupDisabled,
  topupLimitExceeded,
  invalidPackage,
];

interface TrafficRequest {
  subscription: Subscription;
  /** The tariff of the subscription; null for a classic one. */
  tariff: Tariff | null;
  gb: number;
  buyer: PricedUser;
  pricing: PricingSettings;
  now: Date;
  /** Sentences of two refusals, in the user's language. */
  texts: { trial: string; inactive: string };
}

/**
 * Whether a traffic package is sold and at what price: the one rule of purchase and saved cart in both areas (spec 02 section 5.3, H25).
 * A trial, an unlimited or an expired subscription buys none. 0 GB is the classic unlimited package.
 * @throws AppError 400 | 404 tariff_not_found
 */
function planTraffic(request: TrafficRequest): AddOnQuote {
  const { subscription, tariff, buyer: user, pricing: settings, now } = request;
  const hasTariff = settings.salesMode === 'tariffs' && subscription.tariffId !== null;
  const packageKopeks = hasTariff ? tariffPackage(request) : classicPackage(request);
  if (subscription.isTrial) throw paidSubscriptionRequired({ detail: request.texts.trial });
  const status = actualStatus(subscription, now);
  if (status === 'expired' || status === 'pending') throw subscriptionInactive({ detail: request.texts.inactive });
  if (subscription.trafficLimitGb === 0) throw unlimitedTraffic();
  return quoteTrafficPackage({ packageKopeks, hasTariff: tariff !== null, endDate: subscription.endDate, user, settings, now });
}

function tariffPackage({ subscription, tariff, gb }: TrafficRequest): number {
  if (!tariff) throw tariffNotFound();
  if (!tariff.trafficTopupEnabled) throw trafficTopupDisabled();
  if (tariff.trafficLimitGb === 0) throw unlimitedTraffic();
  const max = tariff.maxTopupTrafficGb;
  const available = Math.max(0, max - subscription.trafficLimitGb);
  if (max > 0 && gb > available) {
    throw new TopupLimitError({ maxGb: max, currentGb: subscription.trafficLimitGb, availableGb: available });
  }
  const priceKopeks = tariff.trafficTopupPackages[gb];
  if (gb <= 0 || priceKopeks === undefined) throw invalidPackage({ detail: `Traffic package ${gb}GB is not available` });
  if (priceKopeks <= 0) throw invalidPackage({ detail: `Traffic package ${gb}GB has no price configured` });
  return priceKopeks;
}

function classicPackage({ tariff, gb, pricing }: TrafficRequest): number {
  if (!pricing.trafficTopupEnabled) throw trafficTopupDisabled({ detail: 'Traffic top-up feature is disabled' });
  if (tariff?.allowTrafficTopup === false) {
    throw trafficTopupDisabled({ detail: 'Traffic top-up is not available for your tariff' });
  }
  const found = pricing.trafficTopupPackages.find((entry) => entry.isEnabled && entry.gb === gb);
  if (!found) throw invalidPackage();
  if (found.priceKopeks <= 0) throw invalidPackage({ detail: 'Traffic package has no price configured' });
  return found.priceKopeks;
}

/** The package would exceed the tariff's maximum of the whole limit; GB. The mini-app returns the numbers one by one. */
export class TopupLimitError extends AppError {
  readonly limits: { maxGb: number; currentGb: number; availableGb: number };

  constructor(limits: TopupLimitError['limits']) {
    const message = `Traffic limit exceeded. Max: ${limits.maxGb} GB, available: ${limits.availableGb} GB`;
    super(topupLimitExceeded.code, topupLimitExceeded.status, message);
    this.limits = limits;
  }
}
