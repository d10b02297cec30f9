import type { Tariff } from '../../catalog/types.ts';
import { type AddOnQuote, quoteTrafficPackage } from '../../pricing/addons.ts';
import { groupPercent, offerPercent, stackedPrice } from '../../pricing/discounts.ts';
import { floorDivide, MONTH_DAYS, periodKeys } from '../../pricing/periods.ts';
import { canTopUpTraffic } from '../../pricing/tariff-price.ts';
import type { PricedUser, PricingSettings } from '../../pricing/types.ts';
import { dailyPrice } from '../rules/view.ts';
import type { Subscription } from '../types.ts';

/** The tariff of the user's subscription as the mini-app shows it (spec 02 section 12.3); kopeks and GB. */
export interface CurrentTariff {
  tariff: Tariff;
  serversCount: number;
  monthlyPriceKopeks: number;
  /** Packages that may be bought now, each at what it is charged. */
  topupPackages: { gb: number; quote: AddOnQuote }[];
  /** GB that may still be added; null = no cap. */
  availableTopupGb: number | null;
  /** 0 unless the tariff is paid by the day. */
  dailyPriceKopeks: number;
}

/** @param serversCount of the tariff's effective squads */
export function describeCurrentTariff(
  current: { subscription: Subscription; tariff: Tariff; serversCount: number },
  context: { user: PricedUser; settings: PricingSettings; now: Date },
): CurrentTariff {
  const { subscription, tariff, serversCount } = current;
  const { user, settings, now } = context;
  const availableTopupGb = availableTopup(tariff, subscription);
  const packages = canTopUpTraffic(tariff) ? periodKeys(tariff.trafficTopupPackages) : [];
  return {
    tariff,
    serversCount,
    monthlyPriceKopeks: monthlyPrice(tariff, user, settings, now),
    topupPackages: packages.flatMap((gb) => {
      const packageKopeks = tariff.trafficTopupPackages[gb] ?? 0;
      if (packageKopeks <= 0 || (availableTopupGb !== null && gb > availableTopupGb)) return [];
      const { endDate } = subscription;
      return [{ gb, quote: quoteTrafficPackage({ packageKopeks, hasTariff: true, endDate, user, settings, now }) }];
    }),
    availableTopupGb,
    dailyPriceKopeks: dailyPrice(tariff, user, settings, now) ?? 0,
  };
}

/** GB that may be added before the tariff's cap on the whole limit is reached; null = no cap. */
export function availableTopup(
  tariff: Pick<Tariff, 'maxTopupTrafficGb'>,
  subscription: Pick<Subscription, 'trafficLimitGb'>,
): number | null {
  return tariff.maxTopupTrafficGb > 0 ? Math.max(0, tariff.maxTopupTrafficGb - subscription.trafficLimitGb) : null;
}

/** The 30 day price, else the shortest period's share of 30 days, with the group's percentage for 30 days and the personal offer (spec 10 X14). */
function monthlyPrice(tariff: Tariff, user: PricedUser, settings: PricingSettings, now: Date): number {
  const shortest = periodKeys(tariff.periodPrices)[0];
  const listed = tariff.periodPrices[MONTH_DAYS];
  const kopeks =
    listed ?? (shortest === undefined ? 0 : floorDivide((tariff.periodPrices[shortest] ?? 0) * MONTH_DAYS, shortest));
  return stackedPrice(kopeks, groupPercent(user.primaryPromoGroup, 'period', MONTH_DAYS, settings), offerPercent(user, now));
}
