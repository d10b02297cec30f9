import { addDays } from '../../../core/clock.ts';
import type { ServerSquad, Tariff } from '../../catalog/types.ts';
import { groupPercent, offerPercent, stackedPrice } from '../../pricing/discounts.ts';
import type { PricedUser, PricingSettings } from '../../pricing/types.ts';
import type { Subscription, SubscriptionStatus, TrafficPurchase } from '../types.ts';
import { actualStatus, timeLeft } from './status.ts';
import { livePurchases, purchaseProgress } from './traffic-purchases.ts';

/** Shown when a subscription has no autopay lead of its own, days. */
const FALLBACK_AUTOPAY_DAYS_BEFORE = 3;

/** What a user sees of a subscription (SubscriptionData, spec 02 section 5.1). */
export interface SubscriptionView {
  id: number;
  /** As it is now, not as stored. */
  status: SubscriptionStatus;
  isTrial: boolean;
  isActive: boolean;
  isExpired: boolean;
  isLimited: boolean;
  startDate: Date;
  endDate: Date;
  daysLeft: number;
  hoursLeft: number;
  minutesLeft: number;
  timeLeftDisplay: string;
  trafficLimitGb: number;
  /** Rounded to 2 decimals. */
  trafficUsedGb: number;
  /** 0..100, one decimal. */
  trafficUsedPercent: number;
  deviceLimit: number;
  connectedSquads: string[];
  servers: { uuid: string; name: string; countryCode: string | null }[];
  autopayEnabled: boolean;
  autopayDaysBefore: number;
  subscriptionUrl: string | null;
  hideSubscriptionLink: boolean;
  trafficPurchases: {
    id: number;
    trafficGb: number;
    expiresAt: Date;
    createdAt: Date;
    daysRemaining: number;
    progressPercent: number;
  }[];
  isDaily: boolean;
  isDailyPaused: boolean;
  dailyPriceKopeks: number | null;
  nextDailyChargeAt: Date | null;
  tariffId: number | null;
  tariffName: string | null;
  /** The tariff's, else the default of the settings (spec 10 X7); null without a tariff. */
  trafficResetMode: string | null;
}

export interface SubscriptionViewInput {
  subscription: Subscription;
  tariff: Tariff | null;
  purchases: readonly TrafficPurchase[];
  /** Known servers; those of the subscription are picked. */
  squads: readonly Pick<ServerSquad, 'squadUuid' | 'displayName' | 'countryCode'>[];
  user: PricedUser;
  settings: PricingSettings;
  hideSubscriptionLink: boolean;
  /** `DEFAULT_TRAFFIC_RESET_STRATEGY`. */
  defaultTrafficReset: string;
  now: Date;
}

/** Everything of SubscriptionData. Pure: reading never writes a status (spec 02 H29). */
export function viewSubscription(input: SubscriptionViewInput): SubscriptionView {
  const { subscription, tariff, now } = input;
  const status = actualStatus(subscription, now);
  const left = status === 'expired' ? timeLeft({ endDate: now }, now) : timeLeft(subscription, now);
  return {
    id: subscription.id,
    status,
    isTrial: subscription.isTrial || status === 'trial',
    isActive: status === 'active' || status === 'trial',
    isExpired: status === 'expired',
    isLimited: status === 'limited',
    startDate: subscription.startDate,
    endDate: subscription.endDate,
    daysLeft: left.days,
    hoursLeft: left.hours,
    minutesLeft: left.minutes,
    timeLeftDisplay: left.display,
    trafficLimitGb: subscription.trafficLimitGb,
    trafficUsedGb: Math.round(subscription.trafficUsedGb * 100) / 100,
    trafficUsedPercent: trafficUsedPercent(subscription),
    deviceLimit: subscription.deviceLimit,
    connectedSquads: subscription.connectedSquads,
    servers: serversOf(subscription, input.squads),
    autopayEnabled: subscription.autopayEnabled,
    autopayDaysBefore: subscription.autopayDaysBefore || FALLBACK_AUTOPAY_DAYS_BEFORE,
    subscriptionUrl: subscription.subscriptionUrl,
    hideSubscriptionLink: input.hideSubscriptionLink,
    trafficPurchases: livePurchases(input.purchases, now).map((purchase) => ({
      id: purchase.id,
      trafficGb: purchase.trafficGb,
      expiresAt: purchase.expiresAt,
      createdAt: purchase.createdAt,
      ...purchaseProgress(purchase, now),
    })),
    isDaily: tariff?.isDaily ?? false,
    isDailyPaused: tariff?.isDaily === true && subscription.isDailyPaused,
    dailyPriceKopeks: tariff === null ? null : dailyPrice(tariff, input.user, input.settings, now),
    nextDailyChargeAt: tariff?.isDaily === true ? nextDailyChargeAt(subscription, now) : null,
    tariffId: subscription.tariffId,
    tariffName: tariff?.name ?? null,
    trafficResetMode: tariff && (tariff.trafficResetMode || input.defaultTrafficReset),
  };
}

/** Used traffic in percent of the limit with one decimal, at most 100; 0 for an unlimited subscription. */
export function trafficUsedPercent(subscription: Pick<Subscription, 'trafficUsedGb' | 'trafficLimitGb'>): number {
  if (subscription.trafficLimitGb <= 0) return 0;
  return percentUsed(subscription.trafficUsedGb, subscription.trafficLimitGb);
}

/** At most 100, with one decimal; a half is rounded to the even one (spec 10 X24). @param limit above 0 */
export function percentUsed(used: number, limit: number): number {
  const percent = Math.min(100, (used / limit) * 100);
  // Of one decimal only quarters are exact halves in binary.
  const isHalf = percent % 0.5 === 0.25;
  return isHalf ? (2 * Math.round(percent * 5)) / 10 : Number(percent.toFixed(1));
}

/** Kopeks a day of the tariff is shown at, group and personal offer taken off; null when it has no daily price. */
export function dailyPrice(
  tariff: Pick<Tariff, 'isDaily' | 'dailyPriceKopeks'>,
  user: PricedUser,
  settings: PricingSettings,
  now: Date,
): number | null {
  if (!tariff.isDaily || tariff.dailyPriceKopeks <= 0) return null;
  const group = groupPercent(user.primaryPromoGroup, 'period', 1, settings);
  return stackedPrice(tariff.dailyPriceKopeks, group, offerPercent(user, now));
}

/** Kopeks a recurring daily charge takes: the group's percentage only, the one-shot offer never (spec 02 section 2.1). */
export function recurringDailyPrice(
  tariff: Pick<Tariff, 'dailyPriceKopeks'>,
  user: Pick<PricedUser, 'primaryPromoGroup'>,
  settings: PricingSettings,
): number {
  return stackedPrice(Math.max(0, tariff.dailyPriceKopeks), groupPercent(user.primaryPromoGroup, 'period', 1, settings), 0);
}

/**
 * When a daily subscription is charged next: 24 h after the last charge, but not before the paid time ends (spec 02 H10, H22).
 * null when paused, never charged, or already due.
 */
export function nextDailyChargeAt(
  subscription: Pick<Subscription, 'isDailyPaused' | 'lastDailyChargeAt' | 'endDate'>,
  now: Date,
): Date | null {
  if (subscription.isDailyPaused || subscription.lastDailyChargeAt === null) return null;
  const dayLater = addDays(subscription.lastDailyChargeAt, 1);
  const next = subscription.endDate.getTime() > dayLater.getTime() ? subscription.endDate : dayLater;
  return next.getTime() > now.getTime() ? next : null;
}

function serversOf(
  subscription: Pick<Subscription, 'connectedSquads'>,
  squads: SubscriptionViewInput['squads'],
): SubscriptionView['servers'] {
  const byUuid = new Map(squads.map((squad) => [squad.squadUuid, squad]));
  return subscription.connectedSquads.flatMap((uuid) => {
    const squad = byUuid.get(uuid);
    return squad === undefined ? [] : [{ uuid, name: squad.displayName, countryCode: squad.countryCode }];
  });
}
