import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { runOnceFrom } from '../ledger/run-once.ts';
import { text } from '../messaging/texts.ts';
import { type AddOnQuote, quoteMiniappTrafficChange, quoteTrafficChange } from '../pricing/addons.ts';
import { trafficLabel } from '../pricing/periods.ts';
import { noSubscription } from './errors.ts';
import type { Choice } from './order.ts';
import { ADD_ON, completeSale, openSale, requireBuyer } from './purchase/complete-sale.ts';
import { insufficientFundsForTrafficSwitch } from './purchase/insufficient-funds.ts';
import type { SaleStart } from './purchase/types.ts';
import { actualStatus } from './rules/status.ts';
import { reducedLimit } from './rules/traffic-purchases.ts';
import { pricingSettingsOf } from './settings.ts';
import type { Subscription } from './types.ts';

export const switchNeedsPaidSubscription = refusal(
  'paid_subscription_required',
  403,
  'Traffic management is only available for paid subscriptions',
);
export const trafficOfTariff = refusal('traffic_of_tariff', 400, 'Traffic packages are not available for tariff subscriptions');
export const trafficFixed = refusal('traffic_fixed', 403, 'Traffic is fixed for all subscriptions');
const subscriptionInactive = refusal('subscription_inactive', 400, 'The subscription is not active');
export const samePackage = refusal('same_package', 400, 'Already on this traffic package');
export const trafficUnavailable = refusal('traffic_unavailable', 400, 'Invalid traffic package');

/** Where the switch is made; the rules of the two areas differ (spec 02 sections 5.4 and 12.2). */
export interface TrafficSwitchOptions {
  /** Trials may switch, bought traffic stays on top of the new package, and the price is for the days left (spec 10 X1). */
  isMiniapp?: boolean;
}

/** A switch that was made; GB (0 = unlimited), kopeks. */
export interface SwitchedTraffic {
  /** In the user's language. */
  message: string;
  oldTrafficGb: number;
  newTrafficGb: number;
  /** 0 for a cheaper package. */
  chargedKopeks: number;
  balanceKopeks: number;
  balanceLabel: string;
}

/**
 * Replaces the traffic of a classic subscription with another package of the global list, once per idempotency key (spec 02 section 5.4).
 * A more expensive one costs the difference for the rest of the time, a cheaper one is free; bought packages are deleted, except in the
 * mini-app. Tariff subscriptions are refused: their traffic has a price of its own (H4).
 * @throws AppError 403 restricted, trial | 404 | 400 | 402 'Insufficient balance. Need {x} RUB'
 */
export function switchTraffic(
  app: App,
  actor: UserActor,
  order: Choice<'traffic_switch'> & { idempotencyKey: string | null },
  options: TrafficSwitchOptions = {},
): Promise<SwitchedTraffic> {
  const { idempotencyKey, ...input } = order;
  return runOnceFrom(
    app,
    actor,
    { key: idempotencyKey, operation: 'subscription.traffic-switch', input },
    (t, claim) => openSale(t, actor.userId, {}, claim),
    (t, start) => sellSwitch(t, start, input.gb, options),
  );
}

async function sellSwitch(
  t: App,
  opened: SaleStart | null,
  gb: number,
  { isMiniapp = false }: TrafficSwitchOptions,
): Promise<SwitchedTraffic> {
  const start = requireBuyer(opened);
  const { buyer, subscription } = start;
  if (!subscription) throw noSubscription();
  if (subscription.isTrial && !isMiniapp) throw switchNeedsPaidSubscription();
  const quote = quoteSwitch(t, start, subscription, gb, isMiniapp);
  const newTrafficGb = isMiniapp && gb > 0 ? gb + subscription.purchasedTrafficGb : gb;
  const sale = await completeSale(t, start, {
    ...ADD_ON,
    order: { kind: 'traffic_switch', gb },
    quote: { finalKopeks: quote.finalKopeks, offerDiscountKopeks: 0 },
    changes: { trafficLimitGb: newTrafficGb, ...(isMiniapp ? {} : { purchasedTrafficGb: 0, trafficResetAt: null }) },
    dropsPurchases: !isMiniapp,
    description: text(buyer.language, 'subscriptions.transaction_traffic_switch', { traffic: trafficLabel(gb, buyer.language) }),
    refusal: () => insufficientFundsForTrafficSwitch(quote.finalKopeks),
  });
  return {
    message: text(buyer.language, 'subscriptions.traffic_switched', { traffic: trafficLabel(gb, buyer.language) }),
    oldTrafficGb: subscription.trafficLimitGb,
    newTrafficGb,
    chargedKopeks: quote.finalKopeks,
    balanceKopeks: sale.balanceKopeks,
    balanceLabel: formatPrice(sale.balanceKopeks, t.settings.get('PRICE_ROUNDING_ENABLED')),
  };
}

function quoteSwitch(t: App, { buyer }: SaleStart, subscription: Subscription, gb: number, isMiniapp: boolean): AddOnQuote {
  if (subscription.tariffId !== null) throw trafficOfTariff();
  const settings = pricingSettingsOf(t);
  // Theirs: one limit for all is no reason in the cabinet, and packages may be added to it with `fixed_with_topup` (spec 10 X3).
  if (isMiniapp && settings.trafficSelectionMode === 'fixed') throw trafficFixed();
  const now = t.clock.now();
  const status = actualStatus(subscription, now);
  // Trials of the cabinet are refused before; older installations store them as `trial`.
  if (status !== 'active' && status !== 'limited' && status !== 'trial') {
    throw subscriptionInactive({ detail: text(buyer.language, 'errors.subscription_inactive') });
  }
  const currentGb = isMiniapp ? packageGb(subscription) : subscription.trafficLimitGb;
  if (currentGb === gb) throw samePackage();
  const packages = settings.trafficPackages.filter((entry) => entry.isEnabled);
  const requested = packages.find((entry) => entry.gb === gb);
  if (!requested) throw trafficUnavailable();
  const current = packages.find((entry) => entry.gb === currentGb) ?? neighbourOf(packages, currentGb, isMiniapp);
  const change = {
    ...{ oldPackageKopeks: current?.priceKopeks ?? 0, newPackageKopeks: requested.priceKopeks },
    ...{ endDate: subscription.endDate, user: buyer, settings, now },
  };
  return isMiniapp ? quoteMiniappTrafficChange(change) : quoteTrafficChange(change);
}

/** The limit without what was bought on top of it; GB, 0 = unlimited. */
export function packageGb({ trafficLimitGb, purchasedTrafficGb }: Subscription): number {
  return reducedLimit(trafficLimitGb, purchasedTrafficGb);
}

/**
 * What a limit that is no package of the list counts as. In the cabinet the part of it that was paid for: the next package below, never
 * nothing (spec 02 H4). In the mini-app the next greater one (spec 10 X1), unlimited being the greatest; the greatest where none is greater.
 */
function neighbourOf<T extends { gb: number }>(packages: readonly T[], gb: number, isMiniapp: boolean): T | undefined {
  const sizeOf = (size: number) => (size === 0 ? Number.POSITIVE_INFINITY : size);
  const ascending = packages.toSorted((a, b) => sizeOf(a.gb) - sizeOf(b.gb));
  if (isMiniapp) return ascending.find((entry) => sizeOf(entry.gb) > sizeOf(gb)) ?? ascending.at(-1);
  return ascending.findLast((entry) => entry.gb > 0 && entry.gb <= gb);
}
