import { applyPercent } from '../../core/money.ts';
import type { Tariff } from '../catalog/types.ts';
import { addOnPercent, type DiscountCategory } from './discounts.ts';
import { floorDivide, MIN_ADDON_PRICE_KOPEKS, MONTH_DAYS, prorate, wholeDaysLeft } from './periods.ts';
import type { PricedUser, PricePart, PricingSettings } from './types.ts';

/** Price of a purchase in the middle of a period; original = final + discount, kopeks. The personal offer never applies. */
export interface AddOnQuote extends PricePart {
  /** Days the price is for; also the hint of the group's percentage. */
  days: number;
}

/** Where the price and the bounds of extra devices come from. */
export interface DeviceTerms {
  /** Kopeks per device per 30 days; 0 = buying devices is off. */
  unitKopeks: number;
  /** Devices in the price of the subscription itself. */
  includedDevices: number;
  /** null = no cap. */
  maxDevices: number | null;
}

/**
 * The tariff's device price and cap when it has a price of its own, else the service-wide ones (0 = no cap).
 * @param tariff the tariff of the subscription, null for a classic one. Spec 02 section 5.5.
 */
export function deviceTerms(
  tariff: Pick<Tariff, 'deviceLimit' | 'devicePriceKopeks' | 'maxDeviceLimit'> | null,
  settings: PricingSettings,
): DeviceTerms {
  const includedDevices = tariff?.deviceLimit ?? settings.defaultDeviceLimit;
  if (tariff !== null && tariff.devicePriceKopeks !== null) {
    return { unitKopeks: tariff.devicePriceKopeks, includedDevices, maxDevices: capOf(tariff.maxDeviceLimit) };
  }
  return { unitKopeks: settings.pricePerDeviceKopeks, includedDevices, maxDevices: capOf(settings.maxDevicesLimit) };
}

/** How many of the devices between two limits are above the included number, and therefore paid for (spec 02 H28). */
export function chargeableDevices(currentLimit: number, newLimit: number, includedDevices: number): number {
  return Math.max(0, Math.max(0, newLimit - includedDevices) - Math.max(0, currentLimit - includedDevices));
}

/**
 * Price of growing a device limit, one formula for every operation (spec 02 section 5.5, hazard H28):
 * floor(unit * devices * days left / 30) for at least one day, then the group's add-on percentage; at least 100 kopeks
 * unless the discount is 100 % or nothing above the included number is added.
 */
export function quoteDevices(input: {
  terms: DeviceTerms;
  currentLimit: number;
  newLimit: number;
  endDate: Date;
  user: PricedUser;
  settings: PricingSettings;
  now: Date;
}): AddOnQuote {
  const days = Math.max(1, wholeDaysLeft(input.endDate, input.now));
  const count = chargeableDevices(input.currentLimit, input.newLimit, input.terms.includedDevices);
  const perMonthKopeks = Math.max(0, input.terms.unitKopeks) * count;
  const baseKopeks = perMonthKopeks > 0 ? Math.max(MIN_ADDON_PRICE_KOPEKS, floorDivide(perMonthKopeks * days, MONTH_DAYS)) : 0;
  const discountPercent = addOnPercent(input.user.primaryPromoGroup, 'devices', days, input.settings);
  return { days, ...withFloor(baseKopeks, discountPercent) };
}

/**
 * Price of a traffic package (spec 02 section 5.3): flat for 30 days on a tariff in tariffs mode, else prorated to the end
 * date; then the group's add-on percentage with the charged days as hint.
 * @param packageKopeks the listed price, kopeks per 30 days
 */
export function quoteTrafficPackage(input: {
  packageKopeks: number;
  hasTariff: boolean;
  endDate: Date;
  user: PricedUser;
  settings: PricingSettings;
  now: Date;
}): AddOnQuote {
  const isFlat = input.hasTariff && input.settings.salesMode === 'tariffs';
  const charged = isFlat
    ? { priceKopeks: input.packageKopeks, days: MONTH_DAYS }
    : prorate(input.packageKopeks, input.endDate, input.now);
  const discountPercent = addOnPercent(input.user.primaryPromoGroup, 'traffic', charged.days, input.settings);
  return { days: charged.days, ...withFloor(charged.priceKopeks, discountPercent) };
}

/**
 * Price of another traffic package in place of the current one (spec 02 section 5.4): the difference of the listed prices
 * after the add-on percentage without hint, prorated; free when the new one is not more expensive.
 */
export function quoteTrafficChange(input: {
  oldPackageKopeks: number;
  newPackageKopeks: number;
  endDate: Date;
  user: PricedUser;
  settings: PricingSettings;
  now: Date;
}): AddOnQuote {
  const difference = Math.max(0, input.newPackageKopeks - input.oldPackageKopeks);
  return proratedQuote(difference, 'traffic', input);
}

/**
 * The same in the mini-app (spec 02 section 12.2, spec 10 X1): the difference of the two monthly prices, each after the percentage, for the
 * whole days left, at least one; at least 100 kopeks where the new one is more expensive. The floor of a month is the cabinet's.
 */
export function quoteMiniappTrafficChange(input: Parameters<typeof quoteTrafficChange>[0]): AddOnQuote {
  const { oldPackageKopeks, newPackageKopeks, user, settings } = input;
  const discountPercent = addOnPercent(user.primaryPromoGroup, 'traffic', null, settings);
  const days = Math.max(1, wholeDaysLeft(input.endDate, input.now));
  const priceOf = (difference: number) =>
    difference > 0 ? Math.max(MIN_ADDON_PRICE_KOPEKS, floorDivide(difference * days, MONTH_DAYS)) : 0;
  const originalKopeks = priceOf(newPackageKopeks - oldPackageKopeks);
  const finalKopeks = priceOf(applyPercent(newPackageKopeks, discountPercent) - applyPercent(oldPackageKopeks, discountPercent));
  return { days, discountPercent, originalKopeks, finalKopeks, discountKopeks: originalKopeks - finalKopeks };
}

/**
 * Price of one added server (spec 02 section 5.13): the discounted monthly price, prorated to the end date.
 * @param monthlyKopeks kopeks per 30 days
 */
export function quoteServer(input: {
  monthlyKopeks: number;
  endDate: Date;
  user: PricedUser;
  settings: PricingSettings;
  now: Date;
}): AddOnQuote {
  return proratedQuote(input.monthlyKopeks, 'servers', input);
}

interface AddOnContext {
  endDate: Date;
  user: PricedUser;
  settings: PricingSettings;
  now: Date;
}

function proratedQuote(monthlyKopeks: number, category: DiscountCategory, input: AddOnContext): AddOnQuote {
  const discountPercent = addOnPercent(input.user.primaryPromoGroup, category, null, input.settings);
  const original = prorate(monthlyKopeks, input.endDate, input.now);
  const final = prorate(applyPercent(monthlyKopeks, discountPercent), input.endDate, input.now);
  return {
    days: original.days,
    discountPercent,
    originalKopeks: original.priceKopeks,
    finalKopeks: final.priceKopeks,
    discountKopeks: original.priceKopeks - final.priceKopeks,
  };
}

/** The minimum price applies before and after the discount; the price is 0 only where it is free or discounted by 100 %. */
function withFloor(baseKopeks: number, discountPercent: number): PricePart {
  if (baseKopeks <= 0) return { originalKopeks: 0, discountPercent, discountKopeks: 0, finalKopeks: 0 };
  const originalKopeks = Math.max(MIN_ADDON_PRICE_KOPEKS, baseKopeks);
  const discounted = applyPercent(originalKopeks, discountPercent);
  const finalKopeks = discountPercent === 100 ? 0 : Math.max(MIN_ADDON_PRICE_KOPEKS, discounted);
  return { originalKopeks, discountPercent, discountKopeks: originalKopeks - finalKopeks, finalKopeks };
}

function capOf(maxDevices: number | null): number | null {
  return maxDevices !== null && maxDevices > 0 ? maxDevices : null;
}
