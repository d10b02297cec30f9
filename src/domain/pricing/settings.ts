import { periodKeys } from './periods.ts';
import type { PricingSettings, TrafficPackage, TrafficSelectionMode } from './types.ts';

/** The settings as stored (spec 02 section 14), in camel case; lists are still text. Prices in kopeks. */
export interface RawPricingSettings {
  /** Any value but `classic` counts as `tariffs`. */
  salesMode: string;
  basePromoGroupPeriodDiscountsEnabled: boolean;
  /** "30:5,90:10" */
  basePromoGroupPeriodDiscounts: string;
  /** PRICE_{days}_DAYS by days. */
  periodPricesKopeks: Record<number, number>;
  /** "14,30,60" */
  availableSubscriptionPeriods: string;
  availableRenewalPeriods: string;
  /** PRICE_TRAFFIC_{gb}GB by GB; the unlimited one under 0. */
  trafficPricesKopeks: Record<number, number>;
  /** "gb:price:true,..." */
  trafficPackagesConfig: string;
  trafficTopupPackagesConfig: string;
  trafficSelectionMode: string;
  fixedTrafficLimitGb: number;
  trafficTopupEnabled: boolean;
  pricePerDeviceKopeks: number;
  defaultTrafficLimitGb: number;
  defaultDeviceLimit: number;
  maxDevicesLimit: number;
  priceRoundingEnabled: boolean;
}

/** Parses the text lists once, so that pricing works on plain values. Invalid entries of a list are left out. */
export function pricingSettingsFrom(raw: RawPricingSettings): PricingSettings {
  const configured = parseTrafficPackages(raw.trafficPackagesConfig, 'flag_required');
  const trafficPackages = configured.length > 0 ? configured : packagesOfPrices(raw.trafficPricesKopeks);
  const topup = parseTrafficPackages(raw.trafficTopupPackagesConfig, 'flag_optional');
  return {
    salesMode: raw.salesMode === 'classic' ? 'classic' : 'tariffs',
    basePromoGroupPeriodDiscountsEnabled: raw.basePromoGroupPeriodDiscountsEnabled,
    basePromoGroupPeriodDiscounts: parsePeriodDiscounts(raw.basePromoGroupPeriodDiscounts),
    periodPricesKopeks: raw.periodPricesKopeks,
    availableSubscriptionPeriods: parseDays(raw.availableSubscriptionPeriods),
    availableRenewalPeriods: parseDays(raw.availableRenewalPeriods),
    trafficPackages,
    trafficTopupPackages: topup.length > 0 ? topup : trafficPackages,
    trafficSelectionMode: selectionMode(raw.trafficSelectionMode),
    fixedTrafficLimitGb: raw.fixedTrafficLimitGb,
    trafficTopupEnabled: raw.trafficTopupEnabled,
    pricePerDeviceKopeks: raw.pricePerDeviceKopeks,
    defaultTrafficLimitGb: raw.defaultTrafficLimitGb,
    defaultDeviceLimit: raw.defaultDeviceLimit,
    maxDevicesLimit: raw.maxDevicesLimit,
    priceRoundingEnabled: raw.priceRoundingEnabled,
  };
}

/** "30:5,90:10" to days and percent; entries that are not two whole numbers, or whose days are not above 0, are left out. */
export function parsePeriodDiscounts(text: string): Record<number, number> {
  const discounts: Record<number, number> = {};
  for (const entry of listEntries(text)) {
    const [days, percent, ...rest] = entry.split(':').map(wholeNumber);
    if (rest.length > 0 || days === undefined || days === null || percent === undefined || percent === null || days <= 0)
      continue;
    discounts[days] = percent;
  }
  return discounts;
}

/** "14,30,60" to ascending days without repetition. */
export function parseDays(text: string): number[] {
  const days = listEntries(text)
    .map(wholeNumber)
    .filter((value): value is number => value !== null && value > 0);
  return [...new Set(days)].sort((a, b) => a - b);
}

/**
 * "gb:price:true,..." to packages; entries with another number of parts, a bad number or a negative one are left out.
 * @param flag whether the third part may be missing (it then counts as true)
 */
export function parseTrafficPackages(text: string, flag: 'flag_required' | 'flag_optional'): TrafficPackage[] {
  const packages: TrafficPackage[] = [];
  for (const entry of listEntries(text)) {
    const [gbText, priceText, enabledText, ...rest] = entry.split(':');
    if (gbText === undefined || priceText === undefined || rest.length > 0) continue;
    if (enabledText === undefined && flag === 'flag_required') continue;
    const gb = wholeNumber(gbText);
    const priceKopeks = wholeNumber(priceText);
    if (gb === null || priceKopeks === null || gb < 0 || priceKopeks < 0) continue;
    packages.push({ gb, priceKopeks, isEnabled: enabledText === undefined || enabledText.trim().toLowerCase() === 'true' });
  }
  return packages;
}

/** Unlimited (0 GB) is the last, as in lists. */
function packagesOfPrices(pricesKopeks: Record<number, number>): TrafficPackage[] {
  const finite = periodKeys(pricesKopeks).map((gb) => ({ gb, priceKopeks: pricesKopeks[gb] ?? 0, isEnabled: true }));
  const unlimited = pricesKopeks[0];
  return unlimited === undefined ? finite : [...finite, { gb: 0, priceKopeks: unlimited, isEnabled: true }];
}

function selectionMode(text: string): TrafficSelectionMode {
  return text === 'fixed' || text === 'fixed_with_topup' ? text : 'selectable';
}

function listEntries(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function wholeNumber(text: string): number | null {
  return /^-?\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : null;
}
