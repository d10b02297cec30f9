import type { Tariff } from '../catalog/types.ts';
import { addOnPercent, groupPercent, offerPercent, pricePart, sumUp } from './discounts.ts';
import { monthsOf, periodKeys } from './periods.ts';
import type { PricedUser, PricePart, PricingSettings, QuoteTotals } from './types.ts';

/** Price of a tariff subscription; all amounts in kopeks. */
export interface TariffQuote extends QuoteTotals {
  kind: 'quote';
  periodDays: number;
  /** Month factor of the extra devices. */
  months: number;
  base: PricePart;
  devices: PricePart;
  extraDevices: number;
  traffic: PricePart;
}

/** Nothing may be charged or granted (spec 02 H1 and H2); the caller answers 400. */
export interface TariffPriceRefusal {
  kind: 'refusal';
  reason: 'period_unavailable' | 'traffic_out_of_range';
}

export interface TariffPriceInput {
  tariff: Tariff;
  periodDays: number;
  /** Devices of the subscription, included and extra. */
  deviceLimit: number;
  /** GB that the buyer chose; null = the tariff's own limit. */
  customTrafficGb: number | null;
  user: PricedUser;
  settings: PricingSettings;
  now: Date;
}

/** The shortest period of a tariff in days, or null when it has none. */
export function shortestPeriod(tariff: Pick<Tariff, 'periodPrices'>): number | null {
  return periodKeys(tariff.periodPrices)[0] ?? null;
}

/** Kopeks for a freely chosen number of days, or null when the tariff does not sell that. */
function customDaysPrice(tariff: Tariff, days: number): number | null {
  if (!tariff.customDaysEnabled || tariff.pricePerDayKopeks <= 0) return null;
  return days >= tariff.minDays && days <= tariff.maxDays ? tariff.pricePerDayKopeks * days : null;
}

/** Kopeks for a freely chosen traffic limit, or null when the tariff does not sell that. */
function customTrafficPrice(tariff: Tariff, gb: number): number | null {
  if (!tariff.customTrafficEnabled || tariff.trafficPricePerGbKopeks <= 0) return null;
  return gb >= tariff.minTrafficGb && gb <= tariff.maxTrafficGb ? tariff.trafficPricePerGbKopeks * gb : null;
}

/** Whether traffic packages of the tariff may be bought. */
export function canTopUpTraffic(tariff: Tariff): boolean {
  return tariff.trafficTopupEnabled && tariff.trafficLimitGb !== 0 && Object.keys(tariff.trafficTopupPackages).length > 0;
}

/** Kopeks per extra device per 30 days: the tariff's own price, else the service-wide one. */
function tariffDeviceUnitPrice(tariff: Pick<Tariff, 'devicePriceKopeks'>, settings: PricingSettings): number {
  return tariff.devicePriceKopeks ?? settings.pricePerDeviceKopeks;
}

/**
 * Price of a tariff for a period, for purchase, renewal, gift and every list that shows it (spec 02 section 2.2).
 * Group percentages first, part by part; then the personal offer on the sum.
 * A period that is neither listed nor a valid number of custom days, and a traffic limit outside the tariff's bounds,
 * are refused: a price of 0 comes only from an item that is priced 0 or discounted to 0.
 */
export function quoteTariff(input: TariffPriceInput): TariffQuote | TariffPriceRefusal {
  const { tariff, periodDays, user, settings } = input;
  const baseKopeks = basePrice(tariff, periodDays);
  if (baseKopeks === null) return { kind: 'refusal', reason: 'period_unavailable' };
  const trafficKopeks = input.customTrafficGb === null ? 0 : customTrafficPrice(tariff, input.customTrafficGb);
  if (trafficKopeks === null) return { kind: 'refusal', reason: 'traffic_out_of_range' };

  const group = user.primaryPromoGroup;
  const months = isDailyCharge(tariff, periodDays) ? 1 : monthsOf(periodDays);
  const extraDevices = Math.max(0, input.deviceLimit - tariff.deviceLimit);
  const devicesKopeks = extraDevices * tariffDeviceUnitPrice(tariff, settings) * months;

  const base = pricePart(baseKopeks, groupPercent(group, 'period', periodDays, settings));
  const devices = pricePart(devicesKopeks, groupPercent(group, 'devices', periodDays, settings));
  const traffic = pricePart(trafficKopeks, addOnPercent(group, 'traffic', null, settings));
  const totals = sumUp([base, devices, traffic], offerPercent(user, input.now));
  return { kind: 'quote', periodDays, months, base, devices, extraDevices, traffic, ...totals };
}

/** The device limit that a purchase is priced with: the current one if the subscription has the same tariff, else the tariff's. */
export function purchaseDeviceLimit(
  tariff: Pick<Tariff, 'id' | 'deviceLimit'>,
  current: { tariffId: number | null; deviceLimit: number } | null,
): number {
  return current?.tariffId === tariff.id ? Math.max(tariff.deviceLimit, current.deviceLimit) : tariff.deviceLimit;
}

function isDailyCharge(tariff: Tariff, periodDays: number): boolean {
  return tariff.isDaily && periodDays <= 1;
}

function basePrice(tariff: Tariff, periodDays: number): number | null {
  if (!Number.isInteger(periodDays) || periodDays < 1) return null;
  if (isDailyCharge(tariff, periodDays)) return tariff.dailyPriceKopeks > 0 ? tariff.dailyPriceKopeks : null;
  const listed = tariff.periodPrices[periodDays];
  if (listed !== undefined && listed > 0) return listed;
  return customDaysPrice(tariff, periodDays) ?? (listed === 0 ? 0 : null);
}
