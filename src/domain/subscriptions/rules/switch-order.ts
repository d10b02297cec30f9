import { refusal } from '../../../core/errors.ts';
import { tariffVisibleTo } from '../../catalog/find-tariff.ts';
import type { Tariff } from '../../catalog/types.ts';
import { isSwitchPriced, quoteTariffSwitch, type TariffSwitchQuote } from '../../pricing/tariff-switch.ts';
import type { PricedUser, PricingSettings } from '../../pricing/types.ts';
import { dailyPriceInvalid, tariffNotOffered, tariffsModeOff } from '../errors.ts';
import type { Subscription } from '../types.ts';
import { actualStatus } from './status.ts';

const noSubscriptionToSwitch = refusal('no_subscription', 400, 'No active subscription with tariff');
const subscriptionExpired = refusal('subscription_expired', 400, {
  code: 'subscription_expired',
  message: 'The subscription has expired. Please make a new purchase.',
  use_purchase_flow: true,
});
const subscriptionNotActive = refusal('subscription_not_active', 400, {
  code: 'subscription_not_active',
  message: 'The subscription is not active',
});
const sameTariff = refusal('same_tariff', 400, 'Already on this tariff');
const tariffNotAvailable = refusal('tariff_not_available', 403, 'This tariff is not available for your promo group');
const periodUnavailable = refusal('period_unavailable', 400, {
  code: 'period_unavailable',
  message: 'The selected period is not available for this tariff',
});

export const SWITCH_REFUSES = [
  tariffsModeOff,
  noSubscriptionToSwitch,
  subscriptionExpired,
  subscriptionNotActive,
  tariffNotOffered,
  sameTariff,
  tariffNotAvailable,
  dailyPriceInvalid,
  periodUnavailable,
];

/** A requested switch. `current` and `next` are null when there is no such tariff. */
export interface SwitchRequest {
  subscription: Subscription | null;
  current: Tariff | null;
  next: Tariff | null;
  buyer: PricedUser;
  pricing: PricingSettings;
  now: Date;
  /** In the user's language, for the refusals that show a message. */
  messages: { expired: string; inactive: string };
}

/** A switch that may be made, and what it costs. */
export interface ValidatedSwitch {
  subscription: Subscription;
  current: Tariff;
  next: Tariff;
  quote: TariffSwitchQuote;
}

/**
 * The one check and price of a tariff switch, for preview and switch of both areas (spec 02 section 5.11, H5).
 * @param denied the message for a tariff that is not for the buyer's promo group
 * @throws AppError 400 mode, no tariff, subscription_expired, subscription_not_active, same_tariff, daily_price_invalid,
 *   period_unavailable | 404 | 403
 */
export function validateSwitch(request: SwitchRequest, denied: string): ValidatedSwitch {
  const { subscription, current, next, buyer, pricing, now } = request;
  if (pricing.salesMode !== 'tariffs') throw tariffsModeOff();
  if (!subscription || !current) throw noSubscriptionToSwitch();
  const status = actualStatus(subscription, now);
  if (status === 'expired') {
    const detail = { code: 'subscription_expired', message: request.messages.expired, use_purchase_flow: true };
    throw subscriptionExpired({ detail });
  }
  if (status !== 'active' && status !== 'trial') {
    throw subscriptionNotActive({ detail: { code: 'subscription_not_active', message: request.messages.inactive } });
  }
  if (!next?.isActive) throw tariffNotOffered();
  if (next.id === current.id) throw sameTariff();
  if (!tariffVisibleTo(next, buyer.primaryPromoGroup)) throw tariffNotAvailable({ detail: denied });
  if (next.isDaily && next.dailyPriceKopeks <= 0) throw dailyPriceInvalid();
  if (!isSwitchPriced(next, current.isDaily)) {
    const message = 'This tariff has no price to switch at';
    throw periodUnavailable({ detail: { code: 'period_unavailable', message } });
  }
  const quote = quoteTariffSwitch({ current, next, endDate: subscription.endDate, user: buyer, settings: pricing, now });
  return { subscription, current, next, quote };
}

/**
 * What a switch to one of the listed tariffs would cost, for lists; the same price as the switch charges (spec 02 H5).
 * @returns null where no switch can be made: nothing to switch from, the current tariff, or one without a price
 */
export function offeredSwitch(
  current: { subscription: Subscription; tariff: Tariff } | null,
  next: Tariff,
  context: { buyer: PricedUser; pricing: PricingSettings; now: Date },
): TariffSwitchQuote | null {
  if (current === null || current.tariff.id === next.id) return null;
  const status = actualStatus(current.subscription, context.now);
  if ((status !== 'active' && status !== 'trial') || !isSwitchPriced(next, current.tariff.isDaily)) return null;
  const { buyer: user, pricing: settings, now } = context;
  return quoteTariffSwitch({ current: current.tariff, next, endDate: current.subscription.endDate, user, settings, now });
}
