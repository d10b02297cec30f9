import { addDays } from '../../../core/clock.ts';
import type { ServerSquad, Tariff } from '../../catalog/types.ts';
import { type ClassicQuote, isTrafficFixed, type PricedServer, quoteClassic } from '../../pricing/classic-price.ts';
import { MONTH_DAYS, periodKeys } from '../../pricing/periods.ts';
import { quoteTariff, type TariffPriceRefusal, type TariffQuote } from '../../pricing/tariff-price.ts';
import type { PricedUser, PricingSettings } from '../../pricing/types.ts';
import type { OrderOf } from '../order.ts';
import type { QuotedSale } from '../purchase/signed-quote.ts';
import type { Subscription, SubscriptionChanges, SubscriptionSettings } from '../types.ts';
import { isPast, isStopped } from './status.ts';

/** What an extension gives; anything left out stays as it is. */
export interface ExtendInput {
  /** May be negative: days are taken back. */
  days: number;
  /** The tariff it is extended with. */
  tariff?: { id: number; isDaily: boolean };
  /** The new own traffic limit, GB; 0 = unlimited. */
  trafficGb?: number;
  deviceLimit?: number;
  squads?: readonly string[];
  /** Money was paid for it: a trial becomes paid (spec 02 H8), a pending order becomes active. */
  isPaid: boolean;
}

export interface ExtendContext {
  now: Date;
  settings: Pick<SubscriptionSettings, 'trialAddRemainingDaysToPaid' | 'resetTrafficOnPayment' | 'resetTrafficOnTariffSwitch'>;
  pricing: Pick<PricingSettings, 'trafficSelectionMode' | 'fixedTrafficLimitGb'>;
  /** Whether the current tariff is a daily one; false for a classic subscription. */
  isCurrentTariffDaily: boolean;
}

export interface ExtendResult {
  /** Only what changes. */
  changes: SubscriptionChanges;
  /** The rows of traffic purchases must go. */
  dropsPurchases: boolean;
  isTariffChange: boolean;
  /** It had ended or was stopped before. */
  wasExpired: boolean;
  /** Money turned a trial into a paid subscription: one conversion row is due (spec 02 H8). */
  isTrialConversion: boolean;
  previousEndDate: Date;
}

/**
 * An extension as changed fields (spec 02 section 3.1). The sent notifications of the subscription are to be deleted with
 * every extension, and the provisioning state to be set by the caller.
 */
export function extendSubscription(subscription: Subscription, input: ExtendInput, context: ExtendContext): ExtendResult {
  const isTariffChange = input.tariff !== undefined && input.tariff.id !== subscription.tariffId;
  const wasExpired = isStopped(subscription.status) || isPast(subscription, context.now);
  const endsTrial = isTrialOver(subscription, input);
  const traffic = trafficChanges(subscription, input, context, isTariffChange, wasExpired);
  const changes: SubscriptionChanges = {
    ...dateChanges(subscription, input, context, isTariffChange || endsTrial),
    ...statusChange(subscription, input),
    ...(input.tariff !== undefined ? { tariffId: input.tariff.id } : {}),
    ...(endsTrial ? { isTrial: false } : {}),
    ...traffic.changes,
    ...(input.deviceLimit !== undefined ? { deviceLimit: input.deviceLimit } : {}),
    ...squadChange(subscription, input),
    ...dailyChanges(input, context, isTariffChange),
  };
  return {
    changes,
    dropsPurchases: traffic.dropsPurchases,
    isTariffChange,
    wasExpired,
    isTrialConversion: endsTrial && input.isPaid,
    previousEndDate: subscription.endDate,
  };
}

/** A tariff always ends a trial; so does money for more days. */
function isTrialOver(subscription: Subscription, input: ExtendInput): boolean {
  return subscription.isTrial && (input.tariff !== undefined || (input.isPaid && input.days > 0));
}

/**
 * @param startsAnew another tariff, or the first paid period after a trial: it starts now, and what is left of the old time is
 * added once (of a trial only when the setting says so, spec 02 H8)
 */
function dateChanges(
  subscription: Subscription,
  input: ExtendInput,
  context: ExtendContext,
  startsOver: boolean,
): SubscriptionChanges {
  const { now } = context;
  if (input.days < 0) return { endDate: addDays(subscription.endDate, input.days) };
  if (input.days === 0) return {};
  if (isPaidOrder(subscription, input)) return { startDate: now, endDate: addDays(now, input.days) };
  if (startsOver) {
    const leftMs = Math.max(0, subscription.endDate.getTime() - now.getTime());
    const keepsLeft = !subscription.isTrial || context.settings.trialAddRemainingDaysToPaid;
    const from = keepsLeft ? new Date(now.getTime() + leftMs) : now;
    return { startDate: now, endDate: addDays(from, input.days) };
  }
  return { endDate: addDays(isPast(subscription, now) ? now : subscription.endDate, input.days) };
}

/** The dates of an order that was never paid are worth nothing, hence it starts like a new subscription. */
function isPaidOrder(subscription: Subscription, input: ExtendInput): boolean {
  return subscription.status === 'pending' && input.isPaid && input.days > 0;
}

function statusChange(subscription: Subscription, input: ExtendInput): SubscriptionChanges {
  if (input.days <= 0) return {};
  const isRevived = isStopped(subscription.status) || subscription.status === 'trial' || isPaidOrder(subscription, input);
  return isRevived ? { status: 'active' } : {};
}

function trafficChanges(
  subscription: Subscription,
  input: ExtendInput,
  context: ExtendContext,
  isTariffChange: boolean,
  wasExpired: boolean,
): { changes: SubscriptionChanges; dropsPurchases: boolean } {
  const dropped: SubscriptionChanges = { purchasedTrafficGb: 0, trafficResetAt: null };
  if (input.trafficGb !== undefined) {
    const resetsUsed = !isTariffChange || context.settings.resetTrafficOnTariffSwitch;
    const used: SubscriptionChanges = resetsUsed ? { trafficUsedGb: 0 } : {};
    if (isTariffChange || wasExpired) {
      return { changes: { ...used, trafficLimitGb: input.trafficGb, ...dropped }, dropsPurchases: true };
    }
    // 0 means unlimited: adding the purchased GB to it would make a limit of them.
    const trafficLimitGb = input.trafficGb === 0 ? 0 : input.trafficGb + subscription.purchasedTrafficGb;
    return { changes: { ...used, trafficLimitGb }, dropsPurchases: false };
  }
  const isClassic = subscription.tariffId === null && input.tariff === undefined;
  const resetsOnPayment = context.settings.resetTrafficOnPayment;
  const isFixed = isClassic && input.days > 0 && isTrafficFixed(context.pricing);
  const dropsPurchases = isFixed || (resetsOnPayment && (isClassic || wasExpired));
  return {
    changes: {
      ...(resetsOnPayment ? { trafficUsedGb: 0 } : {}),
      ...(dropsPurchases ? dropped : {}),
      ...(isFixed ? { trafficLimitGb: context.pricing.fixedTrafficLimitGb } : {}),
    },
    dropsPurchases,
  };
}

function squadChange(subscription: Subscription, input: ExtendInput): SubscriptionChanges {
  if (input.squads === undefined) return {};
  if (input.squads.length === 0 && subscription.connectedSquads.length > 0) return {};
  return { connectedSquads: [...input.squads] };
}

/** Both into and out of a daily tariff the daily fields start empty; the purchase that pays the first day stamps it. */
function dailyChanges(input: ExtendInput, context: ExtendContext, isTariffChange: boolean): SubscriptionChanges {
  const touchesDaily = isTariffChange && (input.tariff?.isDaily === true || context.isCurrentTariffDaily);
  return touchesDaily ? { isDailyPaused: false, lastDailyChargeAt: null } : {};
}

interface ReplaceInput {
  days: number;
  isTrial: boolean;
  /** GB; 0 = unlimited. */
  trafficLimitGb: number;
  deviceLimit: number;
  /** Empty = the first available server. */
  squads: readonly string[];
}

/**
 * A subscription written over by the Web API (spec 02 section 3.4) as changed fields: everything starts again, only autopay is
 * kept. The tariff and the daily fields go too (hazard H20). Traffic purchases and sent notifications are deleted by the caller.
 * @param squads all servers in their display order
 */
export function replaceSubscription(
  input: ReplaceInput,
  squads: readonly Pick<ServerSquad, 'squadUuid' | 'isAvailable'>[],
  now: Date,
): SubscriptionChanges {
  return {
    status: 'active',
    isTrial: input.isTrial,
    startDate: now,
    endDate: addDays(now, input.days),
    trafficLimitGb: input.trafficLimitGb,
    trafficUsedGb: 0,
    purchasedTrafficGb: 0,
    trafficResetAt: null,
    deviceLimit: input.deviceLimit,
    connectedSquads: squadsOrFirstAvailable(input.squads, squads),
    tariffId: null,
    isDailyPaused: false,
    lastDailyChargeAt: null,
    subscriptionUrl: null,
    subscriptionCryptoLink: null,
    vpnpanelShortUuid: null,
  };
}

/** The given squads without repetition, or the first available server; empty when there is none. */
export function squadsOrFirstAvailable(
  uuids: readonly string[],
  squads: readonly Pick<ServerSquad, 'squadUuid' | 'isAvailable'>[],
): string[] {
  if (uuids.length > 0) return [...new Set(uuids)];
  const first = squads.find((squad) => squad.isAvailable);
  return first === undefined ? [] : [first.squadUuid];
}

export interface RenewalInput {
  subscription: Pick<Subscription, 'tariffId' | 'deviceLimit' | 'trafficLimitGb' | 'purchasedTrafficGb' | 'connectedSquads'>;
  /** The tariff of the subscription; null for a classic one. */
  tariff: Tariff | null;
  /** All servers, for the classic price. */
  servers: readonly PricedServer[];
  user: PricedUser;
  settings: PricingSettings;
  now: Date;
}

/** One period on offer; kopeks, percent. */
export interface RenewalOption {
  periodDays: number;
  priceKopeks: number;
  discountPercent: number;
  /** Only when something is taken off (spec 10 X10). */
  originalPriceKopeks: number | null;
}

/** Periods a renewal may be asked for: those of the tariff, else the service-wide list. */
function renewalPeriods(tariff: Pick<Tariff, 'periodPrices'> | null, settings: PricingSettings): number[] {
  return tariff === null ? settings.availableRenewalPeriods : periodKeys(tariff.periodPrices);
}

/** The period that autopay buys: the tariff's shortest; without a tariff 30 days, or the shortest on offer. Null = none is. */
export function autopayPeriod(tariff: Pick<Tariff, 'periodPrices'> | null, settings: PricingSettings): number | null {
  const periods = renewalPeriods(tariff, settings);
  if (tariff === null && periods.includes(MONTH_DAYS)) return MONTH_DAYS;
  return periods.length > 0 ? Math.min(...periods) : null;
}

/**
 * Price of a renewal (spec 02 section 2.3): the tariff's when the subscription has one, else the classic one, whatever the
 * sales mode is. Kopeks; a period that is not on offer is refused (`period_unavailable`).
 */
export function quoteRenewal(input: RenewalInput, periodDays: number): TariffQuote | ClassicQuote | TariffPriceRefusal {
  const { subscription, tariff, user, settings, now } = input;
  if (!renewalPeriods(tariff, settings).includes(periodDays)) return { kind: 'refusal', reason: 'period_unavailable' };
  if (tariff !== null) {
    return quoteTariff({ tariff, periodDays, deviceLimit: subscription.deviceLimit, customTrafficGb: null, user, settings, now });
  }
  return quoteClassic({
    periodDays,
    trafficLimitGb: subscription.trafficLimitGb,
    purchasedTrafficGb: subscription.purchasedTrafficGb,
    squadUuids: subscription.connectedSquads,
    servers: input.servers,
    deviceLimit: subscription.deviceLimit,
    user,
    settings,
    now,
  });
}

/** Whether a renewal may be sold: it costs something, or its base does after the group's discount (spec 10 X21). */
export function isRenewable(quote: TariffQuote | ClassicQuote): boolean {
  return quote.finalKopeks > 0 || quote.base.finalKopeks > 0;
}

/** A renewal as it is quoted. */
export function quotedRenewal(
  { subscription, tariff }: Pick<RenewalInput, 'subscription' | 'tariff'>,
  order: OrderOf<'renewal'>,
): Pick<QuotedSale, 'order' | 'delivered'> {
  const { trafficLimitGb, deviceLimit, connectedSquads } = subscription;
  return { order, delivered: { tariffId: tariff?.id ?? null, trafficLimitGb, deviceLimit, servers: connectedSquads.toSorted() } };
}

/** The periods on offer with the very prices that a renewal charges (spec 02 H5). */
export function renewalOptions(input: RenewalInput): RenewalOption[] {
  const options: RenewalOption[] = [];
  for (const periodDays of renewalPeriods(input.tariff, input.settings)) {
    const quote = quoteRenewal(input, periodDays);
    if (quote.kind === 'refusal' || !isRenewable(quote)) continue;
    const { finalKopeks, originalTotalKopeks } = quote;
    options.push({
      periodDays,
      priceKopeks: finalKopeks,
      discountPercent:
        originalTotalKopeks > 0 ? Math.trunc(((originalTotalKopeks - finalKopeks) * 100) / originalTotalKopeks) : 0,
      originalPriceKopeks: finalKopeks < originalTotalKopeks ? originalTotalKopeks : null,
    });
  }
  return options;
}
