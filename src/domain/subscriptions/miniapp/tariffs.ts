import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { listSquads } from '../../catalog/find-squads.ts';
import { effectiveSquads, findTariff, listVisibleTariffs } from '../../catalog/find-tariff.ts';
import type { ServerSquad, Tariff } from '../../catalog/types.ts';
import { type AddOnQuote, quoteTrafficPackage } from '../../pricing/addons.ts';
import { groupPercent, offerPercent, stackedPrice } from '../../pricing/discounts.ts';
import { floorDivide, MONTH_DAYS, periodKeys } from '../../pricing/periods.ts';
import { canTopUpTraffic, purchaseDeviceLimit, quoteTariff, type TariffQuote } from '../../pricing/tariff-price.ts';
import type { TariffSwitchQuote } from '../../pricing/tariff-switch.ts';
import type { PricedUser, PricingSettings } from '../../pricing/types.ts';
import { tariffsModeOff } from '../errors.ts';
import { requireBuyerDetails } from '../purchase/insufficient-funds.ts';
import { type Quoted, quoteSigner } from '../purchase/signed-quote.ts';
import { offeredSwitch } from '../rules/switch-order.ts';
import { quotedTariff } from '../rules/tariff-purchase.ts';
import { dailyPrice } from '../rules/view.ts';
import { pricingSettingsOf } from '../settings.ts';
import type { Subscription } from '../types.ts';

/** A tariff on offer with the very prices that purchase and switch charge (spec 02 section 12.2, H5). */
export interface OfferedTariff {
  tariff: Tariff;
  deviceLimit: number;
  servers: Pick<ServerSquad, 'squadUuid' | 'displayName'>[];
  serversCount: number;
  periods: Quoted<TariffQuote>[];
  isCurrent: boolean;
  /** Null where no switch can be made. */
  switchQuote: TariffSwitchQuote | null;
  /** 0 unless the tariff is paid by the day. */
  dailyPriceKopeks: number;
}

/** As many servers as a tariff names. */
const LISTED_SERVERS = 5;

/**
 * The tariffs a mini-app user may buy, and the current one (spec 02 section 12.2). Never writes.
 * @throws AppError 400 tariffs_mode_disabled
 */
export async function listMiniappTariffs(app: App, actor: UserActor) {
  const settings = pricingSettingsOf(app);
  if (settings.salesMode !== 'tariffs') throw tariffsModeOff();
  const found = await requireBuyerDetails(app, actor);
  const { buyer } = found;
  const now = app.clock.now();
  const subscription = found.details?.subscription ?? null;
  const squads = await listSquads(app);
  const tariffs = await listVisibleTariffs(app, buyer.primaryPromoGroup);
  const currentId = subscription?.tariffId ?? null;
  const currentTariff =
    currentId === null ? null : (tariffs.find((tariff) => tariff.id === currentId) ?? (await findTariff(app, currentId)));
  const sign = await quoteSigner(app);
  const current = subscription && currentTariff ? { subscription, tariff: currentTariff } : null;
  return {
    buyer,
    tariffs: tariffs.map((tariff) => {
      const uuids = effectiveSquads(tariff, squads);
      const wanted = new Set(uuids);
      const deviceLimit = purchaseDeviceLimit(tariff, subscription);
      const order = { tariff, deviceLimit, customTrafficGb: null, user: buyer, settings, now };
      return {
        tariff,
        deviceLimit,
        servers: squads.filter((squad) => wanted.has(squad.squadUuid)).slice(0, LISTED_SERVERS),
        serversCount: uuids.length,
        periods: (tariff.isDaily ? [] : periodKeys(tariff.periodPrices)).flatMap((periodDays) => {
          const quote = quoteTariff({ ...order, periodDays });
          if (quote.kind !== 'quote') return [];
          const sale = { ...quotedTariff(tariff, quote, null), userId: buyer.id, priceKopeks: quote.finalKopeks };
          return [{ ...quote, quote: sign(sale) }];
        }),
        isCurrent: tariff.id === currentId,
        switchQuote: offeredSwitch(current, tariff, { buyer, pricing: settings, now }),
        dailyPriceKopeks: dailyPrice(tariff, buyer, settings, now) ?? 0,
      };
    }),
    current: current
      ? describeCurrentTariff(
          {
            subscription: current.subscription,
            tariff: current.tariff,
            serversCount: effectiveSquads(current.tariff, squads).length,
          },
          { user: buyer, settings, now },
        )
      : null,
  };
}

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
function availableTopup(
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
