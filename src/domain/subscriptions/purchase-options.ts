import { formatPrice } from '../../core/money.ts';
import { effectiveSquads, tariffVisibleTo } from '../catalog/find-tariff.ts';
import type { ServerSquad, Tariff } from '../catalog/types.ts';
import { groupPercent, stackedPrice } from '../pricing/discounts.ts';
import { discountLabel, displayMonthsOf, periodKeys, periodLabel, trafficLabel } from '../pricing/periods.ts';
import { purchaseDeviceLimit, quoteTariff, type TariffQuote } from '../pricing/tariff-price.ts';
import type { PricedUser, PricingSettings } from '../pricing/types.ts';
import type { QuotedSale } from './purchase/signed-quote.ts';
import { actualStatus } from './rules/status.ts';
import { quotedTariff } from './rules/tariff-purchase.ts';
import type { Subscription, SubscriptionStatus } from './types.ts';

const LISTED_SERVERS = 5;

/** What both kinds of purchase options are made of. */
export interface PurchaseOptionsInput {
  subscription: Subscription | null;
  user: PricedUser & { balanceKopeks: number; language: string };
  /** All servers, never a page of them. */
  squads: readonly ServerSquad[];
  settings: PricingSettings;
  now: Date;
}

/** How the prices of tariffs are quoted to whom. */
export interface TariffsOptionsInput extends PurchaseOptionsInput {
  user: PurchaseOptionsInput['user'] & { id: number };
  sign: (sale: QuotedSale) => string;
  /** `DEFAULT_TRAFFIC_RESET_STRATEGY`, the mode of tariffs that name none (spec 10 X7). */
  defaultTrafficReset: string;
}

/** What can be bought in tariffs mode; kopeks, and labels of the same amounts. */
export interface TariffsOptions {
  salesMode: 'tariffs';
  tariffs: TariffOption[];
  currentTariffId: number | null;
  balanceKopeks: number;
  balanceLabel: string;
  /** As it is now; null without a subscription. */
  subscriptionStatus: SubscriptionStatus | null;
  subscriptionIsExpired: boolean;
  hasSubscription: boolean;
}

/** A tariff on offer; GB (0 = unlimited). */
interface TariffOption
  extends Pick<
      Tariff,
      | 'id'
      | 'name'
      | 'description'
      | 'tierLevel'
      | 'trafficLimitGb'
      | 'customDaysEnabled'
      | 'minDays'
      | 'maxDays'
      | 'customTrafficEnabled'
      | 'trafficPricePerGbKopeks'
      | 'minTrafficGb'
      | 'maxTrafficGb'
      | 'trafficTopupEnabled'
      | 'trafficTopupPackages'
      | 'maxTopupTrafficGb'
      | 'isDaily'
    >,
    DevicePriceFields,
    DailyPriceFields,
    DayPriceFields {
  /** The tariff's own, else the default of the settings (spec 10 X7). */
  trafficResetMode: string;
  trafficLimitLabel: string;
  isUnlimitedTraffic: boolean;
  /** Devices bought for the current tariff included. */
  deviceLimit: number;
  baseDeviceLimit: number;
  extraDevicesCount: number;
  serversCount: number;
  /** The first 5. */
  servers: { uuid: string; name: string }[];
  /** Empty for a daily tariff. */
  periods: TariffPeriodOption[];
  isCurrent: boolean;
  isAvailable: boolean;
  promoGroupName?: string;
}

interface DevicePriceFields {
  devicePriceKopeks: number;
  originalDevicePriceKopeks?: number;
  deviceDiscountPercent?: number;
}

interface DailyPriceFields {
  dailyPriceKopeks: number;
  originalDailyPriceKopeks?: number;
  dailyDiscountPercent?: number;
  /** Of a day of a daily tariff, as `TariffPeriodOption.quote`. */
  dailyQuote?: string;
}

interface DayPriceFields {
  pricePerDayKopeks: number;
  originalPricePerDayKopeks?: number;
  customDaysDiscountPercent?: number;
}

/** A period of a tariff at the price that the purchase charges, less the personal offer. */
interface TariffPeriodOption extends Partial<ExtraDevicesCost>, Partial<PeriodDiscount> {
  days: number;
  months: number;
  label: string;
  priceKopeks: number;
  priceLabel: string;
  pricePerMonthKopeks: number;
  pricePerMonthLabel: string;
  /** Signed, of what is charged: the personal offer included. See `requireQuoted`. */
  quote: string;
}

/** Of the current tariff with devices bought above its limit, before the group's discount (spec 10 X13). */
interface ExtraDevicesCost {
  extraDevicesCount: number;
  extraDevicesCostKopeks: number;
  extraDevicesCostLabel: string;
  baseTariffPriceKopeks: number;
  baseTariffPriceLabel: string;
}

/** When something is taken off. */
interface PeriodDiscount {
  originalPriceKopeks: number;
  originalPriceLabel: string;
  originalPerMonthKopeks: number;
  originalPerMonthLabel: string;
  discountPercent: number;
  discountAmountKopeks: number;
  discountLabel: string;
}

/**
 * Purchase options in tariffs mode. Every price is that of the purchase's own quote (spec 02 H5), with the extra devices of the current
 * tariff and the same month factor, before the personal offer: clients take its percentage off themselves, and what they get with
 * `applyPercent` is what is charged (08 C1). A daily tariff lists no periods: it is bought by the day. Kopeks throughout.
 * @param input.tariffs all tariffs in display order; those not offered to the user are left out (spec 02 H19)
 */
export function tariffOptions(input: TariffsOptionsInput & { tariffs: readonly Tariff[] }): TariffsOptions {
  const { subscription, user, settings, now } = input;
  const offered = input.tariffs.filter((tariff) => tariff.isActive && tariffVisibleTo(tariff, user.primaryPromoGroup));
  const status = subscription === null ? null : actualStatus(subscription, now);
  return {
    salesMode: 'tariffs',
    tariffs: offered.map((tariff) => tariffOption(tariff, input)),
    currentTariffId: subscription?.tariffId ?? null,
    balanceKopeks: user.balanceKopeks,
    balanceLabel: formatPrice(user.balanceKopeks, settings.priceRoundingEnabled),
    subscriptionStatus: status,
    subscriptionIsExpired: status === 'expired',
    hasSubscription: subscription !== null,
  };
}

function tariffOption(tariff: Tariff, input: TariffsOptionsInput): TariffOption {
  const { subscription, user, settings } = input;
  const isCurrent = subscription !== null && subscription.tariffId === tariff.id;
  const deviceLimit = purchaseDeviceLimit(tariff, subscription);
  const squadUuids = effectiveSquads(tariff, input.squads);
  const periods = tariff.isDaily
    ? []
    : periodKeys(tariff.periodPrices).flatMap((days) => periodOption(tariff, days, deviceLimit, isCurrent, input));
  const devicePrice = devicePriceFields(tariff, user, settings);
  const dailyPrice = dailyPriceFields(tariff, input);
  const dayPrice = dayPriceFields(tariff, user, settings);
  const isReduced =
    periods.some((period) => period.discountPercent !== undefined) ||
    devicePrice.deviceDiscountPercent !== undefined ||
    dailyPrice.dailyDiscountPercent !== undefined ||
    dayPrice.customDaysDiscountPercent !== undefined;
  return {
    id: tariff.id,
    name: tariff.name,
    description: tariff.description,
    tierLevel: tariff.tierLevel,
    trafficLimitGb: tariff.trafficLimitGb,
    trafficLimitLabel: trafficLabel(tariff.trafficLimitGb, user.language),
    isUnlimitedTraffic: tariff.trafficLimitGb === 0,
    deviceLimit: deviceLimit,
    baseDeviceLimit: tariff.deviceLimit,
    extraDevicesCount: Math.max(0, deviceLimit - tariff.deviceLimit),
    serversCount: squadUuids.length,
    servers: listedServers(squadUuids, input.squads),
    periods,
    isCurrent: isCurrent,
    isAvailable: true,
    customDaysEnabled: tariff.customDaysEnabled,
    minDays: tariff.minDays,
    maxDays: tariff.maxDays,
    customTrafficEnabled: tariff.customTrafficEnabled,
    trafficPricePerGbKopeks: tariff.trafficPricePerGbKopeks,
    minTrafficGb: tariff.minTrafficGb,
    maxTrafficGb: tariff.maxTrafficGb,
    trafficTopupEnabled: tariff.trafficTopupEnabled,
    trafficTopupPackages: tariff.trafficTopupPackages,
    maxTopupTrafficGb: tariff.maxTopupTrafficGb,
    isDaily: tariff.isDaily,
    trafficResetMode: tariff.trafficResetMode || input.defaultTrafficReset,
    // Named only where it changes a price, because clients announce a discount by it (08 C5).
    ...(user.primaryPromoGroup !== null && isReduced ? { promoGroupName: user.primaryPromoGroup.name } : {}),
    ...devicePrice,
    ...dailyPrice,
    ...dayPrice,
  };
}

/** Nothing when the quote refuses the period. */
function periodOption(
  tariff: Tariff,
  days: number,
  deviceLimit: number,
  isCurrent: boolean,
  input: TariffsOptionsInput,
): TariffPeriodOption[] {
  const { user, settings, now } = input;
  const quote = quoteTariff({ tariff, periodDays: days, deviceLimit, customTrafficGb: null, user, settings, now });
  if (quote.kind === 'refusal') return [];
  const label = (kopeks: number) => formatPrice(kopeks, settings.priceRoundingEnabled);
  const months = displayMonthsOf(days);
  const perMonth = Math.floor(quote.subtotalKopeks / months);
  const option: TariffPeriodOption = {
    days,
    months,
    label: periodLabel(days, user.language),
    priceKopeks: quote.subtotalKopeks,
    priceLabel: label(quote.subtotalKopeks),
    pricePerMonthKopeks: perMonth,
    pricePerMonthLabel: label(perMonth),
    quote: signed(tariff, quote, input),
  };
  if (isCurrent && quote.extraDevices > 0) {
    const { base, devices } = quote;
    const cost: ExtraDevicesCost = {
      extraDevicesCount: quote.extraDevices,
      extraDevicesCostKopeks: devices.originalKopeks,
      extraDevicesCostLabel: label(devices.originalKopeks),
      baseTariffPriceKopeks: base.originalKopeks,
      baseTariffPriceLabel: label(base.originalKopeks),
    };
    Object.assign(option, cost);
  }
  const discountKopeks = quote.groupDiscountKopeks;
  if (discountKopeks > 0) {
    const percent = Math.max(quote.base.discountPercent, quote.extraDevices > 0 ? quote.devices.discountPercent : 0);
    const originalPerMonth = Math.floor(quote.originalTotalKopeks / months);
    const discount: PeriodDiscount = {
      originalPriceKopeks: quote.originalTotalKopeks,
      originalPriceLabel: label(quote.originalTotalKopeks),
      originalPerMonthKopeks: originalPerMonth,
      originalPerMonthLabel: label(originalPerMonth),
      discountPercent: percent,
      discountAmountKopeks: discountKopeks,
      discountLabel: discountLabel(percent),
    };
    Object.assign(option, discount);
  }
  return [option];
}

/** Shown as 0 when the tariff has no device price of its own. */
function devicePriceFields(tariff: Tariff, user: PricedUser, settings: PricingSettings): DevicePriceFields {
  const original = tariff.devicePriceKopeks ?? 0;
  const percent = groupPercent(user.primaryPromoGroup, 'devices', 30, settings);
  const price = { devicePriceKopeks: stackedPrice(original, percent, 0) };
  return percent > 0 && original > 0 ? { ...price, originalDevicePriceKopeks: original, deviceDiscountPercent: percent } : price;
}

/** The price a day is sold at before the personal offer, devices bought for the current daily tariff included (spec 02 H5, 08 C1). */
function dailyPriceFields(tariff: Tariff, input: TariffsOptionsInput): DailyPriceFields {
  const { subscription, user, settings, now } = input;
  // A price that an administrator left on a tariff sold by periods is not charged (spec 10 X24).
  if (!tariff.isDaily) return { dailyPriceKopeks: 0 };
  const deviceLimit = purchaseDeviceLimit(tariff, subscription);
  const quote = quoteTariff({ tariff, periodDays: 1, deviceLimit, customTrafficGb: null, user, settings, now });
  if (quote.kind === 'refusal') return { dailyPriceKopeks: tariff.dailyPriceKopeks };
  const percent = groupPercent(user.primaryPromoGroup, 'period', 1, settings);
  const dailyQuote = signed(tariff, quote, input);
  if (percent === 0) return { dailyPriceKopeks: quote.subtotalKopeks, dailyQuote };
  return {
    dailyPriceKopeks: quote.subtotalKopeks,
    originalDailyPriceKopeks: quote.originalTotalKopeks,
    dailyDiscountPercent: percent,
    dailyQuote,
  };
}

/** Of what is charged: the personal offer included. */
function signed(tariff: Tariff, quote: TariffQuote, { user, sign }: Pick<TariffsOptionsInput, 'user' | 'sign'>): string {
  return sign({ ...quotedTariff(tariff, quote, null), userId: user.id, priceKopeks: quote.finalKopeks });
}

function dayPriceFields(tariff: Tariff, user: PricedUser, settings: PricingSettings): DayPriceFields {
  const percent = groupPercent(user.primaryPromoGroup, 'period', 30, settings);
  const price = { pricePerDayKopeks: stackedPrice(tariff.pricePerDayKopeks, percent, 0) };
  if (percent === 0 || tariff.pricePerDayKopeks <= 0) return price;
  return { ...price, originalPricePerDayKopeks: tariff.pricePerDayKopeks, customDaysDiscountPercent: percent };
}

function listedServers(uuids: readonly string[], squads: readonly ServerSquad[]): { uuid: string; name: string }[] {
  const wanted = new Set(uuids);
  return squads
    .filter((squad) => wanted.has(squad.squadUuid))
    .slice(0, LISTED_SERVERS)
    .map((squad) => ({ uuid: squad.squadUuid, name: squad.displayName }));
}
