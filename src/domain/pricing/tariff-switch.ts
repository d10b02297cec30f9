import { DAY_MS } from '../../core/clock.ts';
import type { Tariff } from '../catalog/types.ts';
import { groupPercent, offerPercent, pricePart, sumUp } from './discounts.ts';
import { MONTH_DAYS, nearestPeriod, wholeDaysLeft } from './periods.ts';
import { shortestPeriod } from './tariff-price.ts';
import type { PricedUser, PricingSettings, QuoteTotals } from './types.ts';

/** What happens to the end date: it stays (`keep`), or a new period of so many days is bought. */
export type SwitchKind = 'periodic_to_daily' | 'daily_to_periodic' | 'daily_to_daily' | 'periodic_to_periodic';

/** What a switch to another tariff costs; kopeks. */
export interface TariffSwitchQuote extends QuoteTotals {
  kind: SwitchKind;
  /** Whole days left on the current tariff. */
  remainingDays: number;
  /** Before any discount. */
  rawKopeks: number;
  groupDiscountPercent: number;
  /** raw - final. */
  discountKopeks: number;
  /** round((raw - final) * 100 / raw); 0 for a free switch. */
  effectiveDiscountPercent: number;
  isUpgrade: boolean;
  /** Days bought by the switch; 0 = the end date stays. */
  newPeriodDays: number;
}

export interface TariffSwitchInput {
  current: Tariff;
  next: Tariff;
  endDate: Date;
  user: PricedUser;
  settings: PricingSettings;
  now: Date;
}

interface RawSwitch {
  kind: SwitchKind;
  rawKopeks: number;
  /** Period for the group's period percentage. */
  discountPeriodDays: number;
  newPeriodDays: number;
}

/**
 * Cost of a switch (spec 02 section 2.4): the difference of the daily rates for the days left, or the first day or period of
 * the new tariff when one of the two is daily. Daily to daily is free and moves no date (hazard H10). While time is left, at
 * least one day's difference is charged, so that the last hours of a cheap tariff cannot be exchanged for an expensive one (hazard H30).
 */
export function quoteTariffSwitch(input: TariffSwitchInput): TariffSwitchQuote {
  const remainingDays = wholeDaysLeft(input.endDate, input.now);
  const raw = rawSwitch(input, remainingDays);
  const groupDiscountPercent = groupPercent(input.user.primaryPromoGroup, 'period', raw.discountPeriodDays, input.settings);
  const totals = sumUp([pricePart(raw.rawKopeks, groupDiscountPercent)], offerPercent(input.user, input.now));
  const discountKopeks = raw.rawKopeks - totals.finalKopeks;
  return {
    ...totals,
    kind: raw.kind,
    remainingDays,
    rawKopeks: raw.rawKopeks,
    groupDiscountPercent,
    discountKopeks,
    effectiveDiscountPercent: raw.rawKopeks > 0 ? Math.round((discountKopeks * 100) / raw.rawKopeks) : 0,
    isUpgrade: raw.kind === 'periodic_to_periodic' ? raw.rawKopeks > 0 : totals.finalKopeks > 0,
    newPeriodDays: raw.newPeriodDays,
  };
}

/**
 * Whether a tariff has a price from which a switch to it can be computed: by the day, by a listed period, or by the freely chosen day.
 * A switch to one without such a price is refused, since its limits would be free (spec 02 H1).
 * @param fromDaily the switch then buys a whole listed period
 */
export function isSwitchPriced(next: Tariff, fromDaily: boolean): boolean {
  if (next.isDaily) return next.dailyPriceKopeks > 0;
  return shortestPeriod(next) !== null || (!fromDaily && dayRate(next) !== null);
}

/**
 * Devices after a switch: the new tariff's number, within its cap or else the service-wide one. Devices bought for the
 * old tariff are lost.
 */
export function deviceLimitAfterSwitch(
  next: { deviceLimit: number | null; maxDeviceLimit: number | null },
  settings: Pick<PricingSettings, 'maxDevicesLimit'>,
): number {
  const cap = next.maxDeviceLimit ?? settings.maxDevicesLimit;
  const limit = next.deviceLimit ?? 1;
  return cap > 0 ? Math.min(limit, cap) : limit;
}

function rawSwitch(input: TariffSwitchInput, remainingDays: number): RawSwitch {
  const { current, next } = input;
  if (next.isDaily && current.isDaily) {
    return { kind: 'daily_to_daily', rawKopeks: 0, discountPeriodDays: 1, newPeriodDays: 1 };
  }
  if (next.isDaily) {
    return {
      kind: 'periodic_to_daily',
      rawKopeks: Math.max(0, next.dailyPriceKopeks),
      discountPeriodDays: remainingDays > 0 ? remainingDays : MONTH_DAYS,
      newPeriodDays: 1,
    };
  }
  if (current.isDaily) {
    const period = shortestPeriod(next) ?? MONTH_DAYS;
    return {
      kind: 'daily_to_periodic',
      rawKopeks: next.periodPrices[period] ?? 0,
      discountPeriodDays: period,
      newPeriodDays: period,
    };
  }
  const chargedDays = chargedDaysLeft(input, remainingDays);
  return {
    kind: 'periodic_to_periodic',
    rawKopeks: rateDifference(rateOf(current, chargedDays), rateOf(next, chargedDays), chargedDays),
    discountPeriodDays: nearestPeriod(current.periodPrices, chargedDays) ?? MONTH_DAYS,
    newPeriodDays: 0,
  };
}

/** Less than one day counts as one day; no time left as 0. */
function chargedDaysLeft(input: TariffSwitchInput, remainingDays: number): number {
  const msLeft = input.endDate.getTime() - input.now.getTime();
  return msLeft > 0 && msLeft < DAY_MS ? 1 : remainingDays;
}

/**
 * Price and length of the period nearest to the days left. A tariff without listed periods counts with its price of a freely chosen
 * day, and with nothing when it has none either.
 */
function rateOf(tariff: Tariff, days: number): { priceKopeks: number; days: number } {
  const period = nearestPeriod(tariff.periodPrices, days);
  if (period === null) return { priceKopeks: dayRate(tariff) ?? 0, days: 1 };
  return { priceKopeks: tariff.periodPrices[period] ?? 0, days: period };
}

/** Kopeks of a freely chosen day; null when the tariff is not sold by such days. */
function dayRate(tariff: Tariff): number | null {
  return tariff.customDaysEnabled && tariff.pricePerDayKopeks > 0 ? tariff.pricePerDayKopeks : null;
}

/** max(0, floor((Pn * Dc - Pc * Dn) * remaining / (Dn * Dc))); the products may pass 2^53, hence whole big numbers. */
function rateDifference(
  current: { priceKopeks: number; days: number },
  next: { priceKopeks: number; days: number },
  remainingDays: number,
): number {
  const perDay = BigInt(next.priceKopeks) * BigInt(current.days) - BigInt(current.priceKopeks) * BigInt(next.days);
  if (perDay <= 0n || remainingDays <= 0) return 0;
  return Number((perDay * BigInt(remainingDays)) / (BigInt(next.days) * BigInt(current.days)));
}
