import { formatPrice } from '../../core/money.ts';
import type { Tariff } from '../../domain/catalog/types.ts';
import { stackedPercent } from '../../domain/pricing/discounts.ts';
import { displayMonthsOf, freeLabel, perDayLabel, periodLabel, trafficLabel } from '../../domain/pricing/periods.ts';
import type { TariffQuote } from '../../domain/pricing/tariff-price.ts';
import { canTopUpTraffic } from '../../domain/pricing/tariff-price.ts';
import type { PromoGroup } from '../../domain/promo-groups/types.ts';
import type { CurrentTariff, OfferedTariff } from '../../domain/subscriptions/miniapp/tariffs.ts';
import type { Quoted } from '../../domain/subscriptions/purchase/signed-quote.ts';

/** How the texts of an answer are written. */
export interface Wording {
  language: string;
  /** `PRICE_ROUNDING_ENABLED` */
  rounds: boolean;
}

/** Names of tariffs on the mini-app's wire (spec 02 sections 12.2 and 12.3). */
export function toOfferedTariff(offer: OfferedTariff, wording: Wording) {
  const { tariff, switchQuote } = offer;
  const switchCost = switchQuote?.finalKopeks ?? null;
  return {
    ...commonFields(tariff, offer.deviceLimit, offer.serversCount, offer.dailyPriceKopeks, wording),
    servers: offer.servers.map((server) => ({ uuid: server.squadUuid, name: server.displayName })),
    periods: offer.periods.map((quote) => toPeriod(quote, wording)),
    is_current: offer.isCurrent,
    is_available: true,
    switch_cost_kopeks: switchCost,
    switch_cost_label:
      switchCost === null ? null : switchCost > 0 ? formatPrice(switchCost, wording.rounds) : freeLabel(wording.language),
    is_upgrade: switchQuote?.isUpgrade ?? null,
    is_switch_free: switchCost === null ? null : switchCost === 0,
  };
}

export function toCurrentTariff(current: CurrentTariff, wording: Wording) {
  const { tariff } = current;
  const label = (kopeks: number) => formatPrice(kopeks, wording.rounds);
  return {
    ...commonFields(tariff, tariff.deviceLimit, current.serversCount, current.dailyPriceKopeks, wording),
    monthly_price_kopeks: current.monthlyPriceKopeks,
    traffic_topup_enabled: canTopUpTraffic(tariff),
    traffic_topup_packages: current.topupPackages.map(({ gb, quote }) => ({
      gb,
      price_kopeks: quote.finalKopeks,
      price_label: label(quote.finalKopeks),
      original_price_kopeks: quote.discountKopeks > 0 ? quote.originalKopeks : null,
      original_price_label: quote.discountKopeks > 0 ? label(quote.originalKopeks) : null,
      discount_percent: quote.discountPercent,
    })),
    max_topup_traffic_gb: tariff.maxTopupTrafficGb,
    available_topup_gb: current.availableTopupGb,
  };
}

export function toMiniappPromoGroup(group: PromoGroup) {
  return {
    id: group.id,
    name: group.name,
    server_discount_percent: group.serverDiscountPercent,
    traffic_discount_percent: group.trafficDiscountPercent,
    device_discount_percent: group.deviceDiscountPercent,
    period_discounts: Object.fromEntries(Object.entries(group.periodDiscounts)),
    apply_discounts_to_addons: group.applyDiscountsToAddons,
  };
}

function commonFields(tariff: Tariff, deviceLimit: number, serversCount: number, dailyPrice: number, wording: Wording) {
  return {
    id: tariff.id,
    name: tariff.name,
    description: tariff.description,
    tier_level: tariff.tierLevel,
    traffic_limit_gb: tariff.trafficLimitGb,
    traffic_limit_label: trafficLabel(tariff.trafficLimitGb, wording.language),
    is_unlimited_traffic: tariff.trafficLimitGb === 0,
    device_limit: deviceLimit,
    servers_count: serversCount,
    is_daily: tariff.isDaily,
    daily_price_kopeks: dailyPrice,
    daily_price_label: tariff.isDaily ? perDayLabel(formatPrice(dailyPrice, wording.rounds), wording.language) : null,
  };
}

function toPeriod(quote: Quoted<TariffQuote>, wording: Wording) {
  const label = (kopeks: number) => formatPrice(kopeks, wording.rounds);
  const months = displayMonthsOf(quote.periodDays);
  const perMonth = Math.floor(quote.finalKopeks / months);
  const isReduced = quote.finalKopeks < quote.originalTotalKopeks;
  return {
    days: quote.periodDays,
    months,
    label: periodLabel(quote.periodDays, wording.language),
    price_kopeks: quote.finalKopeks,
    price_label: label(quote.finalKopeks),
    price_per_month_kopeks: perMonth,
    price_per_month_label: label(perMonth),
    original_price_kopeks: isReduced ? quote.originalTotalKopeks : null,
    original_price_label: isReduced ? label(quote.originalTotalKopeks) : null,
    discount_percent: isReduced ? stackedPercent(quote.base.discountPercent, quote.offerDiscountPercent) : 0,
    quote: quote.quote,
  };
}
