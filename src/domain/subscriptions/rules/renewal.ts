import type { Tariff } from '../../catalog/types.ts';
import { type ClassicQuote, type PricedServer, quoteClassic } from '../../pricing/classic-price.ts';
import { MONTH_DAYS, periodKeys } from '../../pricing/periods.ts';
import { quoteTariff, type TariffPriceRefusal, type TariffQuote } from '../../pricing/tariff-price.ts';
import type { PricedUser, PricingSettings } from '../../pricing/types.ts';
import type { OrderOf } from '../order.ts';
import type { QuotedSale } from '../purchase/signed-quote.ts';
import type { Subscription } from '../types.ts';

export interface RenewalInput {
  subscription: Pick<Subscription, 'tariffId' | 'deviceLimit' | 'trafficLimitGb' | 'purchasedTrafficGb' | 'connectedSquads'>;
  /** The tariff of the subscription; null for a classic one. */
  tariff: Tariff | null;
  /** All servers, for the classic price. */
  servers: readonly PricedServer[];
  user: PricedUser;
  settings: PricingSettings;
  now: Date;
}

/** One period on offer; kopeks, percent. */
export interface RenewalOption {
  periodDays: number;
  priceKopeks: number;
  discountPercent: number;
  /** Only when something is taken off (spec 10 X10). */
  originalPriceKopeks: number | null;
}

/** Periods a renewal may be asked for: those of the tariff, else the service-wide list (spec 02 sections 5.1 and 5.2). */
export function renewalPeriods(tariff: Pick<Tariff, 'periodPrices'> | null, settings: PricingSettings): number[] {
  return tariff === null ? settings.availableRenewalPeriods : periodKeys(tariff.periodPrices);
}

/** The period that autopay buys: the tariff's shortest; without a tariff 30 days, or the shortest on offer. Null = none is. */
export function autopayPeriod(tariff: Pick<Tariff, 'periodPrices'> | null, settings: PricingSettings): number | null {
  const periods = renewalPeriods(tariff, settings);
  if (tariff === null && periods.includes(MONTH_DAYS)) return MONTH_DAYS;
  return periods.length > 0 ? Math.min(...periods) : null;
}

/**
 * Price of a renewal (spec 02 section 2.3): the tariff's when the subscription has one, else the classic one, whatever the
 * sales mode is. Kopeks; a period that is not on offer is refused (`period_unavailable`).
 */
export function quoteRenewal(input: RenewalInput, periodDays: number): TariffQuote | ClassicQuote | TariffPriceRefusal {
  const { subscription, tariff, user, settings, now } = input;
  if (!renewalPeriods(tariff, settings).includes(periodDays)) return { kind: 'refusal', reason: 'period_unavailable' };
  if (tariff !== null) {
    return quoteTariff({ tariff, periodDays, deviceLimit: subscription.deviceLimit, customTrafficGb: null, user, settings, now });
  }
  return quoteClassic({
    periodDays,
    trafficLimitGb: subscription.trafficLimitGb,
    purchasedTrafficGb: subscription.purchasedTrafficGb,
    squadUuids: subscription.connectedSquads,
    servers: input.servers,
    deviceLimit: subscription.deviceLimit,
    user,
    settings,
    now,
  });
}

/** Whether a renewal may be sold: it costs something, or its base does after the group's discount (spec 10 X21). */
export function isRenewable(quote: TariffQuote | ClassicQuote): boolean {
  return quote.finalKopeks > 0 || quote.base.finalKopeks > 0;
}

/** A renewal as it is quoted. */
export function quotedRenewal(
  { subscription, tariff }: Pick<RenewalInput, 'subscription' | 'tariff'>,
  order: OrderOf<'renewal'>,
): Pick<QuotedSale, 'order' | 'delivered'> {
  const { trafficLimitGb, deviceLimit, connectedSquads } = subscription;
  return { order, delivered: { tariffId: tariff?.id ?? null, trafficLimitGb, deviceLimit, servers: connectedSquads.toSorted() } };
}

/** The periods on offer with the very prices that a renewal charges (spec 02 H5). */
export function renewalOptions(input: RenewalInput): RenewalOption[] {
  const options: RenewalOption[] = [];
  for (const periodDays of renewalPeriods(input.tariff, input.settings)) {
    const quote = quoteRenewal(input, periodDays);
    if (quote.kind === 'refusal' || !isRenewable(quote)) continue;
    const { finalKopeks, originalTotalKopeks } = quote;
    options.push({
      periodDays,
      priceKopeks: finalKopeks,
      discountPercent:
        originalTotalKopeks > 0 ? Math.trunc(((originalTotalKopeks - finalKopeks) * 100) / originalTotalKopeks) : 0,
      originalPriceKopeks: finalKopeks < originalTotalKopeks ? originalTotalKopeks : null,
    });
  }
  return options;
}
