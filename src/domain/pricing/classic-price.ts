import { applyPercent } from '../../core/money.ts';
import { groupPercent, offerPercent, pricePart, sumUp } from './discounts.ts';
import { monthsOf } from './periods.ts';
import type { PricedUser, PricePart, PricingSettings, QuoteTotals, TrafficPackage } from './types.ts';

/** Price of a classic subscription; all amounts in kopeks for the whole period. */
export interface ClassicQuote extends QuoteTotals {
  kind: 'quote';
  periodDays: number;
  months: number;
  base: PricePart;
  servers: PricePart;
  traffic: PricePart;
  devices: PricePart;
  extraDevices: number;
  /** The limit priced: the fixed one when traffic cannot be picked. */
  trafficLimitGb: number;
  /** The price to record for each known server, kopeks. */
  serverPrices: { serverId: number; squadUuid: string; paidPriceKopeks: number }[];
}

/** What prices depend on of a server; kopeks per 30 days. */
export interface PricedServer {
  id: number;
  squadUuid: string;
  priceKopeks: number;
}

export interface ClassicPriceInput {
  periodDays: number;
  /** GB, bought packages included; 0 = unlimited. */
  trafficLimitGb: number;
  /** The part of the limit that was bought as packages, GB. */
  purchasedTrafficGb: number;
  squadUuids: readonly string[];
  /** Servers known by uuid; they count with their price even when unavailable, full or not allowed. */
  servers: readonly PricedServer[];
  deviceLimit: number;
  user: PricedUser;
  settings: PricingSettings;
  now: Date;
}

/**
 * Price of a classic subscription for purchase, renewal and every list that shows it (spec 02 section 2.3).
 * The group's percentage is taken per month, before the month factor; the personal offer on the sum.
 * A period outside the price list has the base price 0: the caller refuses periods that are not offered.
 */
export function quoteClassic(input: ClassicPriceInput): ClassicQuote {
  const { periodDays, user, settings } = input;
  const group = user.primaryPromoGroup;
  const months = monthsOf(periodDays);
  const isFixed = isTrafficFixed(settings);
  const trafficLimitGb = isFixed ? settings.fixedTrafficLimitGb : input.trafficLimitGb;
  const purchasedGb = isFixed ? 0 : input.purchasedTrafficGb;

  const serversPercent = groupPercent(group, 'servers', periodDays, settings);
  const servers = knownServers(input.squadUuids, input.servers);
  const extraDevices = Math.max(0, input.deviceLimit - settings.defaultDeviceLimit);

  const base = pricePart(settings.periodPricesKopeks[periodDays] ?? 0, groupPercent(group, 'period', periodDays, settings));
  const serversPart = pricePart(
    servers.reduce((sum, server) => sum + server.priceKopeks, 0),
    serversPercent,
    months,
  );
  const traffic = pricePart(
    trafficPerMonth(settings.trafficPackages, trafficLimitGb, purchasedGb),
    groupPercent(group, 'traffic', periodDays, settings),
    months,
  );
  const devices = pricePart(
    extraDevices * settings.pricePerDeviceKopeks,
    groupPercent(group, 'devices', periodDays, settings),
    months,
  );
  const totals = sumUp([base, serversPart, traffic, devices], offerPercent(user, input.now));
  const serverPrices = servers.map((server) => ({
    serverId: server.id,
    squadUuid: server.squadUuid,
    paidPriceKopeks: applyPercent(server.priceKopeks, serversPercent) * months,
  }));
  return {
    kind: 'quote',
    periodDays,
    months,
    base,
    servers: serversPart,
    traffic,
    devices,
    extraDevices,
    trafficLimitGb,
    serverPrices,
    ...totals,
  };
}

/** Whether every subscription has the one fixed traffic limit. */
export function isTrafficFixed(settings: Pick<PricingSettings, 'trafficSelectionMode'>): boolean {
  return settings.trafficSelectionMode !== 'selectable';
}

/**
 * Kopeks per 30 days for `gb` over the enabled packages: the exact package, else the next larger one; beyond the largest
 * the unlimited (0 GB) one, else the largest. Spec 02 section 2.3.
 */
export function packagePrice(packages: readonly TrafficPackage[], gb: number): number {
  const enabled = packages.filter((entry) => entry.isEnabled);
  const exact = enabled.find((entry) => entry.gb === gb);
  if (exact !== undefined) return exact.priceKopeks;
  const unlimitedKopeks = enabled.find((entry) => entry.gb === 0)?.priceKopeks;
  const finite = enabled.filter((entry) => entry.gb > 0).sort((a, b) => a.gb - b.gb);
  const largest = finite.at(-1);
  if (gb <= 0 || largest === undefined) return unlimitedKopeks ?? 0;
  if (gb >= largest.gb) return unlimitedKopeks ?? largest.priceKopeks;
  return finite.find((entry) => entry.gb > gb)?.priceKopeks ?? largest.priceKopeks;
}

/** An unlimited subscription is charged the price of the 0 GB package (spec 02 H3). */
function trafficPerMonth(packages: readonly TrafficPackage[], limitGb: number, purchasedGb: number): number {
  if (limitGb <= 0) return packagePrice(packages, 0);
  const includedGb = limitGb - purchasedGb;
  return (includedGb > 0 ? packagePrice(packages, includedGb) : 0) + (purchasedGb > 0 ? packagePrice(packages, purchasedGb) : 0);
}

function knownServers(squadUuids: readonly string[], servers: readonly PricedServer[]): PricedServer[] {
  const wanted = new Set(squadUuids);
  return servers.filter((server) => wanted.has(server.squadUuid));
}
