import { AppError, refusal } from '../../../core/errors.ts';
import type { Tariff } from '../../catalog/types.ts';
import { type AddOnQuote, quoteTrafficPackage } from '../../pricing/addons.ts';
import type { PricedUser, PricingSettings } from '../../pricing/types.ts';
import { tariffNotFound } from '../errors.ts';
import type { Subscription } from '../types.ts';
import { actualStatus } from './status.ts';

export const paidSubscriptionRequired = refusal('paid_subscription_required', 400, 'Not available during the trial');
const subscriptionInactive = refusal('subscription_inactive', 400, 'Subscription is not active');
export const unlimitedTraffic = refusal('unlimited_traffic', 400, 'Cannot add traffic to unlimited subscription');
const trafficTopupDisabled = refusal('traffic_topup_disabled', 400, 'Traffic top-up is disabled for this tariff');
export const topupLimitExceeded = refusal('topup_limit_exceeded', 400, 'Traffic limit exceeded. Max: <n> GB, available: <n> GB');
export const invalidPackage = refusal('invalid_package', 400, 'Invalid traffic package');

export interface TrafficRequest {
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
export function planTraffic(request: TrafficRequest): AddOnQuote {
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

/** The package would exceed the tariff's maximum of the whole limit; GB. The mini-app answers the numbers one by one. */
export class TopupLimitError extends AppError {
  readonly limits: { maxGb: number; currentGb: number; availableGb: number };

  constructor(limits: TopupLimitError['limits']) {
    const message = `Traffic limit exceeded. Max: ${limits.maxGb} GB, available: ${limits.availableGb} GB`;
    super(topupLimitExceeded.code, topupLimitExceeded.status, message);
    this.limits = limits;
  }
}
