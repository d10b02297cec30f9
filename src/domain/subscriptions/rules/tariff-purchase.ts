import { addDays } from '../../../core/clock.ts';
import { effectiveSquads } from '../../catalog/find-tariff.ts';
import type { ServerSquad, Tariff } from '../../catalog/types.ts';
import { purchaseDeviceLimit, type TariffQuote } from '../../pricing/tariff-price.ts';
import { deviceLimitAfterSwitch, type SwitchKind } from '../../pricing/tariff-switch.ts';
import type { PricingSettings } from '../../pricing/types.ts';
import type { OrderOf } from '../order.ts';
import type { QuotedSale } from '../purchase/signed-quote.ts';
import type { Subscription, SubscriptionChanges, SubscriptionSettings } from '../types.ts';
import { isPast } from './status.ts';
import { type ExtendContext, type ExtendResult, extendSubscription } from './terms.ts';

export interface PurchaseInput {
  tariff: Tariff;
  /** A daily tariff is always bought for one day, whatever stands here. */
  periodDays: number;
  /** GB picked by the buyer; null = the tariff's own limit. Its bounds were checked by the quote. */
  customTrafficGb: number | null;
  /** All servers, never a page of them. */
  squads: readonly Pick<ServerSquad, 'squadUuid' | 'isAvailable'>[];
}

/** A subscription to create, or the changes of the one the buyer has. */
export type PurchaseOutcome =
  | { kind: 'create'; fields: SubscriptionChanges }
  | { kind: 'extend'; result: ExtendResult; isSameTariff: boolean };

/** The period a purchase is priced and granted for: one day for a daily tariff. */
export function purchasedPeriod(tariff: Pick<Tariff, 'isDaily'>, periodDays: number): number {
  return tariff.isDaily ? 1 : periodDays;
}

/** A tariff as it is quoted. @param trafficGb GB picked by the buyer; null = the tariff's own limit */
export function quotedTariff(
  tariff: Pick<Tariff, 'id' | 'trafficLimitGb' | 'deviceLimit'>,
  { periodDays, extraDevices }: Pick<TariffQuote, 'periodDays' | 'extraDevices'>,
  trafficGb: number | null,
): { order: OrderOf<'tariff'>; delivered: QuotedSale['delivered'] } {
  return {
    order: { kind: 'tariff', tariffId: tariff.id, periodDays, trafficGb },
    delivered: { trafficLimitGb: trafficGb ?? tariff.trafficLimitGb, deviceLimit: tariff.deviceLimit + extraDevices },
  };
}

/**
 * What a paid tariff purchase makes of a subscription (spec 02 section 5.10). The time left of another tariff is kept
 * (hazard H10), devices bought for the same tariff are kept, and a daily tariff starts unpaused with its first day paid now.
 */
export function planTariffPurchase(
  subscription: Subscription | null,
  input: PurchaseInput,
  context: ExtendContext,
): PurchaseOutcome {
  const { tariff } = input;
  const days = purchasedPeriod(tariff, input.periodDays);
  const trafficGb = input.customTrafficGb ?? tariff.trafficLimitGb;
  const deviceLimit = purchaseDeviceLimit(tariff, subscription);
  const squads = effectiveSquads(tariff, input.squads);
  const daily: SubscriptionChanges = tariff.isDaily ? { isDailyPaused: false, lastDailyChargeAt: context.now } : {};
  if (subscription === null) {
    return {
      kind: 'create',
      fields: {
        ...newSubscription(days, context.now),
        tariffId: tariff.id,
        trafficLimitGb: trafficGb,
        deviceLimit,
        connectedSquads: squads,
        ...daily,
      },
    };
  }
  const result = extendSubscription(
    subscription,
    { days, tariff: { id: tariff.id, isDaily: tariff.isDaily }, trafficGb, deviceLimit, squads, isPaid: true },
    context,
  );
  return {
    kind: 'extend',
    result: { ...result, changes: { ...result.changes, ...daily } },
    isSameTariff: subscription.tariffId === tariff.id,
  };
}

export interface SwitchInput {
  next: Tariff;
  kind: SwitchKind;
  /** From the quote; 0 = the end date stays. */
  newPeriodDays: number;
  /** Something is charged: only then does a trial become paid (spec 02 H8). */
  isPaid: boolean;
  squads: readonly Pick<ServerSquad, 'squadUuid' | 'isAvailable'>[];
}

/** The changed fields of a switch; traffic purchases are always dropped with it. */
export interface SwitchResult {
  changes: SubscriptionChanges;
  /** Money turned a trial into a paid subscription: one conversion row is due (spec 02 H8). */
  isTrialConversion: boolean;
}

/**
 * What a tariff switch makes of a subscription (spec 02 section 5.11, hazards H8, H9, H10).
 * Into or out of a daily tariff the bought day or period is added to the time left, so that paid time is never lost; of a
 * trial the time left counts only by the setting. Daily to daily and periodic to periodic move no date.
 */
export function planTariffSwitch(
  subscription: Subscription,
  input: SwitchInput,
  context: {
    now: Date;
    settings: Pick<SubscriptionSettings, 'trialAddRemainingDaysToPaid' | 'resetTrafficOnTariffSwitch'>;
    pricing: Pick<PricingSettings, 'maxDevicesLimit'>;
  },
): SwitchResult {
  const { next, kind } = input;
  const squads = effectiveSquads(next, input.squads);
  const isTrialConversion = subscription.isTrial && input.isPaid;
  return {
    changes: {
      tariffId: next.id,
      ...(isTrialConversion ? { isTrial: false } : {}),
      trafficLimitGb: next.trafficLimitGb,
      purchasedTrafficGb: 0,
      trafficResetAt: null,
      ...(context.settings.resetTrafficOnTariffSwitch ? { trafficUsedGb: 0 } : {}),
      deviceLimit: deviceLimitAfterSwitch(next, context.pricing),
      connectedSquads: squads.length > 0 ? squads : subscription.connectedSquads,
      ...(isTrialConversion && subscription.status === 'trial' ? { status: 'active' as const } : {}),
      ...switchDates(subscription, kind, input.newPeriodDays, context),
    },
    isTrialConversion,
  };
}

function switchDates(
  subscription: Subscription,
  kind: SwitchKind,
  newPeriodDays: number,
  context: { now: Date; settings: Pick<SubscriptionSettings, 'trialAddRemainingDaysToPaid'> },
): SubscriptionChanges {
  if (kind === 'periodic_to_periodic') return {};
  if (kind === 'daily_to_daily') return {};
  const countsLeft = !subscription.isTrial || context.settings.trialAddRemainingDaysToPaid;
  const from = countsLeft && !isPast(subscription, context.now) ? subscription.endDate : context.now;
  const endDate = addDays(from, newPeriodDays);
  const lastDailyChargeAt = kind === 'periodic_to_daily' ? context.now : null;
  return { endDate, isDailyPaused: false, lastDailyChargeAt };
}

function newSubscription(days: number, now: Date): SubscriptionChanges {
  return {
    status: 'active',
    isTrial: false,
    startDate: now,
    endDate: addDays(now, days),
    trafficUsedGb: 0,
    purchasedTrafficGb: 0,
    trafficResetAt: null,
    isDailyPaused: false,
    lastDailyChargeAt: null,
  };
}
