import { formatPrice } from '../../core/money.ts';
import { effectiveSquads, tariffVisibleTo } from '../catalog/rules/tariff-access.ts';
import type { ServerSquad, Tariff } from '../catalog/types.ts';
import { groupPercent, offerPercent, stackedPercent, stackedPrice } from '../pricing/discounts.ts';
import { discountLabel, periodLabel, trafficLabel } from '../pricing/labels.ts';
import { displayMonthsOf, periodKeys } from '../pricing/periods.ts';
import { purchaseDeviceLimit, quoteTariff } from '../pricing/tariff-price.ts';
import type { PricedUser, PricingSettings } from '../pricing/types.ts';
import { actualStatus } from './rules/status.ts';
import type { Subscription } from './types.ts';

const LISTED_SERVERS = 5;

/** An answer of free form: its keys are the documented wire names already (spec 02 section 5.8). */
export type WireObject = Record<string, unknown>;

/** What both kinds of purchase options are made of. */
export interface PurchaseOptionsInput {
  subscription: Subscription | null;
  user: PricedUser & { balanceKopeks: number; language: string };
  /** All servers, never a page of them. */
  squads: readonly ServerSquad[];
  settings: PricingSettings;
  now: Date;
}

/**
 * Purchase options in tariffs mode. Every period price is the one the purchase charges (spec 02 H5): the same quote with the
 * offer, the extra devices of the current tariff, and the same month factor. A daily tariff lists no periods: it is bought by
 * the day. Kopeks throughout.
 * @param input.tariffs all tariffs in display order; those not offered to the user are left out (spec 02 H19)
 */
export function tariffOptions(input: PurchaseOptionsInput & { tariffs: readonly Tariff[] }): WireObject {
  const { subscription, user, settings, now } = input;
  const offered = input.tariffs.filter((tariff) => tariff.isActive && tariffVisibleTo(tariff, user.primaryPromoGroup));
  const status = subscription === null ? null : actualStatus(subscription, now);
  return {
    sales_mode: 'tariffs',
    tariffs: offered.map((tariff) => tariffOption(tariff, input)),
    current_tariff_id: subscription?.tariffId ?? null,
    balance_kopeks: user.balanceKopeks,
    balance_label: formatPrice(user.balanceKopeks, settings.priceRoundingEnabled),
    subscription_status: status,
    subscription_is_expired: status === 'expired',
    has_subscription: subscription !== null,
  };
}

function tariffOption(tariff: Tariff, input: PurchaseOptionsInput): WireObject {
  const { subscription, user, settings } = input;
  const isCurrent = subscription !== null && subscription.tariffId === tariff.id;
  const deviceLimit = purchaseDeviceLimit(tariff, subscription);
  const squadUuids = effectiveSquads(tariff, input.squads);
  return {
    id: tariff.id,
    name: tariff.name,
    description: tariff.description,
    tier_level: tariff.tierLevel,
    traffic_limit_gb: tariff.trafficLimitGb,
    traffic_limit_label: trafficLabel(tariff.trafficLimitGb, user.language),
    is_unlimited_traffic: tariff.trafficLimitGb === 0,
    device_limit: deviceLimit,
    base_device_limit: tariff.deviceLimit,
    extra_devices_count: Math.max(0, deviceLimit - tariff.deviceLimit),
    servers_count: squadUuids.length,
    servers: listedServers(squadUuids, input.squads),
    periods: tariff.isDaily
      ? []
      : periodKeys(tariff.periodPrices).flatMap((days) => periodOption(tariff, days, deviceLimit, isCurrent, input)),
    is_current: isCurrent,
    is_available: true,
    custom_days_enabled: tariff.customDaysEnabled,
    min_days: tariff.minDays,
    max_days: tariff.maxDays,
    custom_traffic_enabled: tariff.customTrafficEnabled,
    traffic_price_per_gb_kopeks: tariff.trafficPricePerGbKopeks,
    min_traffic_gb: tariff.minTrafficGb,
    max_traffic_gb: tariff.maxTrafficGb,
    traffic_topup_enabled: tariff.trafficTopupEnabled,
    traffic_topup_packages: tariff.trafficTopupPackages,
    max_topup_traffic_gb: tariff.maxTopupTrafficGb,
    is_daily: tariff.isDaily,
    traffic_reset_mode: tariff.trafficResetMode,
    ...(user.primaryPromoGroup !== null ? { promo_group_name: user.primaryPromoGroup.name } : {}),
    ...devicePriceFields(tariff, user, settings),
    ...dailyPriceFields(tariff, input),
    ...dayPriceFields(tariff, user, settings),
  };
}

/** Nothing when the quote refuses the period. */
function periodOption(
  tariff: Tariff,
  days: number,
  deviceLimit: number,
  isCurrent: boolean,
  input: PurchaseOptionsInput,
): WireObject[] {
  const { user, settings, now } = input;
  const order = { tariff, periodDays: days, customTrafficGb: null, user, settings, now };
  const quote = quoteTariff({ ...order, deviceLimit });
  if (quote.kind === 'refusal') return [];
  const label = (kopeks: number) => formatPrice(kopeks, settings.priceRoundingEnabled);
  const months = displayMonthsOf(days);
  const perMonth = Math.floor(quote.finalKopeks / months);
  const option: WireObject = {
    days,
    months,
    label: periodLabel(days, user.language),
    price_kopeks: quote.finalKopeks,
    price_label: label(quote.finalKopeks),
    price_per_month_kopeks: perMonth,
    price_per_month_label: label(perMonth),
  };
  const bare = quoteTariff({ ...order, deviceLimit: tariff.deviceLimit });
  if (isCurrent && quote.extraDevices > 0 && bare.kind === 'quote') {
    const extraDevicesKopeks = quote.finalKopeks - bare.finalKopeks;
    Object.assign(option, {
      extra_devices_count: quote.extraDevices,
      extra_devices_cost_kopeks: extraDevicesKopeks,
      extra_devices_cost_label: label(extraDevicesKopeks),
      base_tariff_price_kopeks: bare.finalKopeks,
      base_tariff_price_label: label(bare.finalKopeks),
    });
  }
  const discountKopeks = quote.originalTotalKopeks - quote.finalKopeks;
  if (discountKopeks > 0) {
    const groupDiscount = Math.max(quote.base.discountPercent, quote.extraDevices > 0 ? quote.devices.discountPercent : 0);
    const percent = stackedPercent(groupDiscount, quote.offerDiscountPercent);
    const originalPerMonth = Math.floor(quote.originalTotalKopeks / months);
    Object.assign(option, {
      original_price_kopeks: quote.originalTotalKopeks,
      original_price_label: label(quote.originalTotalKopeks),
      original_per_month_kopeks: originalPerMonth,
      original_per_month_label: label(originalPerMonth),
      discount_percent: percent,
      discount_amount_kopeks: discountKopeks,
      discount_label: discountLabel(percent),
    });
  }
  return [option];
}

/** Shown as 0 when the tariff has no device price of its own (spec 02 section 1.4). */
function devicePriceFields(tariff: Tariff, user: PricedUser, settings: PricingSettings): WireObject {
  const original = tariff.devicePriceKopeks ?? 0;
  const percent = groupPercent(user.primaryPromoGroup, 'devices', 30, settings);
  const price = { device_price_kopeks: stackedPrice(original, percent, 0) };
  return percent > 0 && original > 0
    ? { ...price, original_device_price_kopeks: original, device_discount_percent: percent }
    : price;
}

/** The price a day is sold at, devices bought for the current daily tariff included, as the purchase charges it (spec 02 H5). */
function dailyPriceFields(tariff: Tariff, input: PurchaseOptionsInput): WireObject {
  const { subscription, user, settings, now } = input;
  if (!tariff.isDaily) return { daily_price_kopeks: tariff.dailyPriceKopeks };
  const deviceLimit = purchaseDeviceLimit(tariff, subscription);
  const quote = quoteTariff({ tariff, periodDays: 1, deviceLimit, customTrafficGb: null, user, settings, now });
  if (quote.kind === 'refusal') return { daily_price_kopeks: tariff.dailyPriceKopeks };
  const percent = stackedPercent(groupPercent(user.primaryPromoGroup, 'period', 1, settings), offerPercent(user, now));
  if (percent === 0) return { daily_price_kopeks: quote.finalKopeks };
  return {
    daily_price_kopeks: quote.finalKopeks,
    original_daily_price_kopeks: quote.originalTotalKopeks,
    daily_discount_percent: percent,
  };
}

function dayPriceFields(tariff: Tariff, user: PricedUser, settings: PricingSettings): WireObject {
  const percent = groupPercent(user.primaryPromoGroup, 'period', 30, settings);
  const price = { price_per_day_kopeks: stackedPrice(tariff.pricePerDayKopeks, percent, 0) };
  if (percent === 0 || tariff.pricePerDayKopeks <= 0) return price;
  return { ...price, original_price_per_day_kopeks: tariff.pricePerDayKopeks, custom_days_discount_percent: percent };
}

function listedServers(uuids: readonly string[], squads: readonly ServerSquad[]): { uuid: string; name: string }[] {
  const wanted = new Set(uuids);
  return squads
    .filter((squad) => wanted.has(squad.squadUuid))
    .slice(0, LISTED_SERVERS)
    .map((squad) => ({ uuid: squad.squadUuid, name: squad.displayName }));
}
