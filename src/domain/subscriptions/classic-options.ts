import { formatPrice } from '../../core/money.ts';
import { isFull, squadVisibleTo } from '../catalog/rules/tariff-access.ts';
import type { ServerSquad } from '../catalog/types.ts';
import { isTrafficFixed, packagePrice, quoteClassic } from '../pricing/classic-price.ts';
import { type DiscountCategory, groupPercent, offerPercent, stackedPercent, stackedPrice } from '../pricing/discounts.ts';
import { periodLabel, trafficLabel } from '../pricing/labels.ts';
import { displayMonthsOf } from '../pricing/periods.ts';
import type { PricingSettings } from '../pricing/types.ts';
import type { PurchaseOptionsInput, WireObject } from './purchase-options.ts';

/** How many devices above the default may be picked when there is no cap. */
const UNCAPPED_EXTRA_DEVICES = 10;

/** What is picked when the buyer picks nothing; GB, uuids, devices. */
export interface ClassicDefaults {
  trafficGb: number;
  squadUuids: string[];
  devices: number;
}

/** Bounds and defaults that a selection is checked against; the purchase uses the same ones. */
export interface ClassicChoices {
  /** Enabled packages, GB; empty when traffic is fixed. */
  trafficGb: number[];
  /** Available servers of the user's group, and those the subscription has. */
  squads: ServerSquad[];
  minServers: number;
  maxServers: number;
  minDevices: number;
  maxDevices: number;
  defaults: ClassicDefaults;
}

/**
 * What a classic purchase may be made of (spec 02 section 5.8). The limits of a paid subscription are the defaults, those of a
 * trial are not.
 */
export function classicChoices(input: PurchaseOptionsInput): ClassicChoices {
  const { settings, user } = input;
  const paid = input.subscription !== null && !input.subscription.isTrial ? input.subscription : null;
  const connected = new Set(input.subscription?.connectedSquads ?? []);
  const squads = input.squads.filter(
    (squad) => connected.has(squad.squadUuid) || (squad.isAvailable && squadVisibleTo(squad, user.primaryPromoGroup)),
  );
  const own = (paid?.connectedSquads ?? []).filter((uuid) => squads.some((squad) => squad.squadUuid === uuid));
  const first = squads.find((squad) => squad.isAvailable && !isFull(squad)) ?? squads[0];
  const minDevices = Math.max(1, settings.defaultDeviceLimit);
  const maxDevices =
    settings.maxDevicesLimit > 0 ? Math.max(settings.maxDevicesLimit, minDevices) : minDevices + UNCAPPED_EXTRA_DEVICES;
  const trafficGb = isTrafficFixed(settings)
    ? []
    : [...new Set(settings.trafficPackages.filter((entry) => entry.isEnabled).map((entry) => entry.gb))];
  return {
    trafficGb,
    squads,
    minServers: squads.length > 0 ? 1 : 0,
    maxServers: squads.length,
    minDevices,
    maxDevices,
    defaults: {
      trafficGb: defaultTraffic(trafficGb, paid?.trafficLimitGb ?? null, settings),
      squadUuids: own.length > 0 ? own : first === undefined ? [] : [first.squadUuid],
      devices: Math.min(maxDevices, Math.max(minDevices, paid?.deviceLimit ?? minDevices)),
    },
  };
}

/**
 * Purchase options in classic mode. Base prices are the quote of the period alone, option prices are per 30 days; all carry the
 * group's percentage and the personal offer, as the charge does (spec 02 H5). Unlimited traffic is listed at what it is charged
 * (spec 02 H3). Kopeks throughout.
 */
export function classicOptions(input: PurchaseOptionsInput): WireObject {
  const { subscription, user, settings } = input;
  const choices = classicChoices(input);
  const periods = settings.availableSubscriptionPeriods.map((days) => classicPeriod(days, choices, input));
  const first = settings.availableSubscriptionPeriods.includes(30) ? 30 : settings.availableSubscriptionPeriods[0];
  const shown = periods.find((period) => period.period_days === first);
  const balanceLabel = formatPrice(user.balanceKopeks, settings.priceRoundingEnabled);
  return {
    currency: 'RUB',
    balance_kopeks: user.balanceKopeks,
    balanceKopeks: user.balanceKopeks,
    balance_label: balanceLabel,
    balanceLabel,
    subscription_id: subscription?.id ?? null,
    subscriptionId: subscription?.id ?? null,
    periods,
    traffic: shown?.traffic ?? null,
    servers: shown?.servers ?? null,
    devices: shown?.devices ?? null,
    selection: first === undefined ? null : defaultSelection(first, choices.defaults),
    summary: null,
    sales_mode: 'classic',
  };
}

function classicPeriod(days: number, choices: ClassicChoices, input: PurchaseOptionsInput): WireObject {
  const { user, settings, now } = input;
  const quote = quoteClassic({
    periodDays: days,
    trafficLimitGb: choices.defaults.trafficGb,
    purchasedTrafficGb: 0,
    squadUuids: [],
    servers: [],
    deviceLimit: choices.minDevices,
    user,
    settings,
    now,
  });
  const price = shownPrice(quote.base.originalKopeks, quote.base.discountPercent, input);
  const months = displayMonthsOf(days);
  const perMonth = Math.floor(price.price_kopeks / months);
  return {
    id: `days:${days}`,
    code: `days:${days}`,
    period_id: `days:${days}`,
    period_days: days,
    period: days,
    months,
    label: periodLabel(days, user.language),
    ...price,
    per_month_price_kopeks: perMonth,
    per_month_price_label: formatPrice(perMonth, settings.priceRoundingEnabled),
    is_available: true,
    traffic: trafficChoice(days, choices, input),
    servers: serverChoice(days, choices, input),
    devices: deviceChoice(days, choices, input),
  };
}

function trafficChoice(days: number, choices: ClassicChoices, input: PurchaseOptionsInput): WireObject {
  const { settings, user, subscription } = input;
  const current = subscription !== null && !subscription.isTrial ? { current: subscription.trafficLimitGb } : {};
  const common = { mode: settings.trafficSelectionMode, default: choices.defaults.trafficGb, ...current };
  if (isTrafficFixed(settings)) return { selectable: false, ...common };
  const percent = percentFor('traffic', days, input);
  const options = choices.trafficGb.map((gb) => ({
    value: gb,
    label: trafficLabel(gb, user.language),
    ...shownPrice(packagePrice(settings.trafficPackages, gb), percent, input),
    is_available: true,
    is_default: gb === choices.defaults.trafficGb,
  }));
  return { selectable: true, ...common, options };
}

function serverChoice(days: number, choices: ClassicChoices, input: PurchaseOptionsInput): WireObject {
  const percent = percentFor('servers', days, input);
  const options = choices.squads.map((squad) => ({
    uuid: squad.squadUuid,
    name: squad.displayName,
    ...shownPrice(squad.priceKopeks, percent, input),
    is_available: squad.isAvailable && !isFull(squad),
  }));
  return {
    options,
    min: choices.minServers,
    max: choices.maxServers,
    default: choices.defaults.squadUuids,
    selected: choices.defaults.squadUuids,
  };
}

function deviceChoice(days: number, choices: ClassicChoices, input: PurchaseOptionsInput): WireObject {
  const price = shownPrice(input.settings.pricePerDeviceKopeks, percentFor('devices', days, input), input);
  return {
    min: choices.minDevices,
    max: choices.maxDevices,
    default: choices.defaults.devices,
    current: input.subscription?.deviceLimit ?? choices.defaults.devices,
    price_per_device_kopeks: price.price_kopeks,
    price_per_device_label: price.price_label,
    ...(price.original_price_kopeks !== undefined
      ? {
          price_per_device_original_kopeks: price.original_price_kopeks,
          price_per_device_original_label: price.original_price_label,
          discount_percent: price.discount_percent,
        }
      : {}),
  };
}

interface ShownPrice {
  price_kopeks: number;
  price_label: string;
  original_price_kopeks?: number;
  original_price_label?: string;
  discount_percent?: number;
}

/** The price after both discounts; the original one and the percentage only when something was taken off. */
function shownPrice(originalKopeks: number, groupDiscount: number, input: PurchaseOptionsInput): ShownPrice {
  const label = (kopeks: number) => formatPrice(kopeks, input.settings.priceRoundingEnabled);
  const offer = offerPercent(input.user, input.now);
  const priceKopeks = stackedPrice(originalKopeks, groupDiscount, offer);
  const shown = { price_kopeks: priceKopeks, price_label: label(priceKopeks) };
  if (priceKopeks >= originalKopeks) return shown;
  return {
    ...shown,
    original_price_kopeks: originalKopeks,
    original_price_label: label(originalKopeks),
    discount_percent: stackedPercent(groupDiscount, offer),
  };
}

function percentFor(category: DiscountCategory, days: number, input: PurchaseOptionsInput): number {
  return groupPercent(input.user.primaryPromoGroup, category, days, input.settings);
}

function defaultTraffic(packages: readonly number[], paidLimitGb: number | null, settings: PricingSettings): number {
  if (isTrafficFixed(settings)) return settings.fixedTrafficLimitGb;
  if (paidLimitGb !== null && packages.includes(paidLimitGb)) return paidLimitGb;
  return packages.includes(settings.defaultTrafficLimitGb) ? settings.defaultTrafficLimitGb : (packages[0] ?? 0);
}

/** Every key in snake and camel form. */
function defaultSelection(days: number, defaults: ClassicDefaults): WireObject {
  const period = `days:${days}`;
  return {
    period_id: period,
    periodId: period,
    period_days: days,
    periodDays: days,
    traffic_value: defaults.trafficGb,
    trafficValue: defaults.trafficGb,
    servers: defaults.squadUuids,
    countries: defaults.squadUuids,
    server_uuids: defaults.squadUuids,
    serverUuids: defaults.squadUuids,
    devices: defaults.devices,
    device_limit: defaults.devices,
    deviceLimit: defaults.devices,
  };
}
