import { formatPrice } from '../../core/money.ts';
import { isFull, squadVisibleTo } from '../catalog/find-tariff.ts';
import type { ServerSquad } from '../catalog/types.ts';
import { isTrafficFixed, packagePrice, quoteClassic } from '../pricing/classic-price.ts';
import { type DiscountCategory, groupPercent, stackedPrice } from '../pricing/discounts.ts';
import { displayMonthsOf, periodLabel, trafficLabel } from '../pricing/periods.ts';
import type { PricingSettings } from '../pricing/types.ts';
import type { PurchaseOptionsInput } from './purchase-options.ts';
import { reducedLimit } from './rules/traffic-purchases.ts';

/** How many devices above the default may be picked when there is no cap. */
const UNCAPPED_EXTRA_DEVICES = 10;

/** What is picked when the buyer picks nothing; GB, uuids, devices. */
interface ClassicDefaults {
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

/** What can be bought in classic mode; kopeks, and labels of the same amounts. */
export interface ClassicOptions {
  salesMode: 'classic';
  balanceKopeks: number;
  balanceLabel: string;
  subscriptionId: number | null;
  periods: ClassicPeriod[];
  /** Null when no period is on offer. */
  selection: ({ periodDays: number } & ClassicDefaults) | null;
}

/** A price after the group's discount; the original one and the percentage only when something was taken off. */
interface ShownPrice {
  priceKopeks: number;
  priceLabel: string;
  originalPriceKopeks?: number;
  originalPriceLabel?: string;
  discountPercent?: number;
}

/** A period at the price of the base, with what may be picked for it. */
export interface ClassicPeriod extends ShownPrice {
  periodDays: number;
  months: number;
  label: string;
  perMonthPriceKopeks: number;
  perMonthPriceLabel: string;
  isAvailable: boolean;
  traffic: TrafficChoice;
  servers: ServerChoice;
  devices: DeviceChoice;
}

/** GB, 0 = unlimited. */
interface TrafficChoice {
  selectable: boolean;
  mode: string;
  default: number;
  /** The package of the paid subscription, without what was added to it; it may be on sale no longer. */
  current?: number;
  /** When it is selectable. */
  options?: (ShownPrice & { value: number; label: string; isAvailable: boolean; isDefault: boolean })[];
}

/** Uuids of squads. */
interface ServerChoice {
  options: (ShownPrice & { uuid: string; name: string; isAvailable: boolean })[];
  min: number;
  max: number;
  default: string[];
  selected: string[];
}

interface DeviceChoice {
  min: number;
  max: number;
  default: number;
  current: number;
  pricePerDeviceKopeks: number;
  pricePerDeviceLabel: string;
  /** These three only when something was taken off. */
  pricePerDeviceOriginalKopeks?: number;
  pricePerDeviceOriginalLabel?: string;
  discountPercent?: number;
}

/**
 * What a classic purchase may be made of (spec 02 section 5.8). The limits of a paid subscription are the defaults, those of a
 * trial are not; else the first period and the first package (spec 10 X19).
 */
export function classicChoices(input: PurchaseOptionsInput): ClassicChoices {
  const { settings, user } = input;
  const paid = paidSubscription(input);
  const connected = new Set(input.subscription?.connectedSquads ?? []);
  const squads = input.squads.filter(
    (squad) => connected.has(squad.squadUuid) || (squad.isAvailable && squadVisibleTo(squad, user.primaryPromoGroup)),
  );
  // Those of a trial too: its user keeps the servers that he knows (spec 10 X19).
  const connectedNow = [...connected].filter((uuid) => squads.some((squad) => squad.squadUuid === uuid));
  const first = squads.find((squad) => squad.isAvailable && !isFull(squad)) ?? squads[0];
  const minDevices = Math.max(1, settings.defaultDeviceLimit);
  // Nobody loses devices by buying again: what a customer has may be above the cap (spec 10 X4).
  const devices = Math.max(minDevices, paid?.deviceLimit ?? minDevices);
  const maxDevices =
    settings.maxDevicesLimit > 0 ? Math.max(settings.maxDevicesLimit, devices) : devices + UNCAPPED_EXTRA_DEVICES;
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
      trafficGb: defaultTraffic(trafficGb, packageOf(paid), settings),
      squadUuids: connectedNow.length > 0 ? connectedNow : first === undefined ? [] : [first.squadUuid],
      devices,
    },
  };
}

/**
 * Purchase options in classic mode. Base prices are the quote of the period alone, option prices are per 30 days; all carry the
 * group's percentage (spec 02 H5) and leave the personal offer out, which clients take off themselves (08 C1). Unlimited traffic is listed at what it is charged
 * (spec 02 H3). Kopeks throughout.
 */
export function classicOptions(input: PurchaseOptionsInput): ClassicOptions {
  const { subscription, user, settings } = input;
  const choices = classicChoices(input);
  const offered = settings.availableSubscriptionPeriods;
  const [periodDays] = offered;
  return {
    salesMode: 'classic',
    balanceKopeks: user.balanceKopeks,
    balanceLabel: formatPrice(user.balanceKopeks, settings.priceRoundingEnabled),
    subscriptionId: subscription?.id ?? null,
    periods: offered.map((days) => classicPeriod(days, choices, input)),
    selection: periodDays === undefined ? null : { periodDays, ...choices.defaults },
  };
}

function classicPeriod(days: number, choices: ClassicChoices, input: PurchaseOptionsInput): ClassicPeriod {
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
  const perMonth = Math.floor(price.priceKopeks / months);
  return {
    periodDays: days,
    months,
    label: periodLabel(days, user.language),
    ...price,
    perMonthPriceKopeks: perMonth,
    perMonthPriceLabel: formatPrice(perMonth, settings.priceRoundingEnabled),
    isAvailable: true,
    traffic: trafficChoice(days, choices, input),
    servers: serverChoice(days, choices, input),
    devices: deviceChoice(days, choices, input),
  };
}

function trafficChoice(days: number, choices: ClassicChoices, input: PurchaseOptionsInput): TrafficChoice {
  const { settings, user } = input;
  const current = packageOf(paidSubscription(input));
  const common = {
    mode: settings.trafficSelectionMode,
    default: choices.defaults.trafficGb,
    ...(current === null ? {} : { current }),
  };
  if (isTrafficFixed(settings)) return { selectable: false, ...common };
  const percent = percentFor('traffic', days, input);
  const options = choices.trafficGb.map((gb) => ({
    value: gb,
    label: trafficLabel(gb, user.language),
    ...shownPrice(packagePrice(settings.trafficPackages, gb), percent, input),
    isAvailable: true,
    isDefault: gb === choices.defaults.trafficGb,
  }));
  return { selectable: true, ...common, options };
}

const paidSubscription = ({ subscription }: PurchaseOptionsInput) =>
  subscription !== null && !subscription.isTrial ? subscription : null;

/** What a purchase would choose again: traffic that was added to it stays without being chosen. Null without a paid subscription. */
function packageOf(paid: PurchaseOptionsInput['subscription']): number | null {
  return paid === null ? null : reducedLimit(paid.trafficLimitGb, paid.purchasedTrafficGb);
}

function serverChoice(days: number, choices: ClassicChoices, input: PurchaseOptionsInput): ServerChoice {
  const percent = percentFor('servers', days, input);
  const options = choices.squads.map((squad) => ({
    uuid: squad.squadUuid,
    name: squad.displayName,
    ...shownPrice(squad.priceKopeks, percent, input),
    isAvailable: squad.isAvailable && !isFull(squad),
  }));
  return {
    options,
    min: choices.minServers,
    max: choices.maxServers,
    default: choices.defaults.squadUuids,
    selected: choices.defaults.squadUuids,
  };
}

function deviceChoice(days: number, choices: ClassicChoices, input: PurchaseOptionsInput): DeviceChoice {
  const price = shownPrice(input.settings.pricePerDeviceKopeks, percentFor('devices', days, input), input);
  return {
    min: choices.minDevices,
    max: choices.maxDevices,
    default: choices.defaults.devices,
    current: Math.max(input.subscription?.deviceLimit ?? 0, choices.defaults.devices),
    pricePerDeviceKopeks: price.priceKopeks,
    pricePerDeviceLabel: price.priceLabel,
    ...(price.originalPriceKopeks !== undefined
      ? {
          pricePerDeviceOriginalKopeks: price.originalPriceKopeks,
          pricePerDeviceOriginalLabel: price.originalPriceLabel,
          discountPercent: price.discountPercent,
        }
      : {}),
  };
}

function shownPrice(originalKopeks: number, groupDiscount: number, input: PurchaseOptionsInput): ShownPrice {
  const label = (kopeks: number) => formatPrice(kopeks, input.settings.priceRoundingEnabled);
  const priceKopeks = stackedPrice(originalKopeks, groupDiscount, 0);
  const shown = { priceKopeks, priceLabel: label(priceKopeks) };
  if (priceKopeks >= originalKopeks) return shown;
  return {
    ...shown,
    originalPriceKopeks: originalKopeks,
    originalPriceLabel: label(originalKopeks),
    discountPercent: groupDiscount,
  };
}

function percentFor(category: DiscountCategory, days: number, input: PurchaseOptionsInput): number {
  return groupPercent(input.user.primaryPromoGroup, category, days, input.settings);
}

function defaultTraffic(packages: readonly number[], paidGb: number | null, settings: PricingSettings): number {
  if (isTrafficFixed(settings)) return settings.fixedTrafficLimitGb;
  return paidGb !== null && packages.includes(paidGb) ? paidGb : (packages[0] ?? 0);
}
