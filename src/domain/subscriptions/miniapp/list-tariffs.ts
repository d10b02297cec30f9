import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { listSquads } from '../../catalog/find-squads.ts';
import { findTariff } from '../../catalog/find-tariff.ts';
import { listVisibleTariffs } from '../../catalog/list-visible-tariffs.ts';
import { effectiveSquads } from '../../catalog/rules/tariff-access.ts';
import type { ServerSquad, Tariff } from '../../catalog/types.ts';
import { periodKeys } from '../../pricing/periods.ts';
import { purchaseDeviceLimit, quoteTariff, type TariffQuote } from '../../pricing/tariff-price.ts';
import type { TariffSwitchQuote } from '../../pricing/tariff-switch.ts';
import { tariffsModeOff } from '../errors.ts';
import { requireBuyerDetails } from '../purchase/require-buyer-details.ts';
import { type Quoted, quoteSigner } from '../purchase/signed-quote.ts';
import type { Buyer } from '../purchase/types.ts';
import { offeredSwitch } from '../rules/switch-order.ts';
import { quotedTariff } from '../rules/tariff-purchase.ts';
import { dailyPrice } from '../rules/view.ts';
import { pricingSettingsOf } from '../settings.ts';
import { type CurrentTariff, describeCurrentTariff } from './current-tariff.ts';

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

export interface TariffOffers {
  buyer: Buyer;
  tariffs: OfferedTariff[];
  current: CurrentTariff | null;
}

/** As many servers as a tariff names. */
const LISTED_SERVERS = 5;

/**
 * The tariffs a mini-app user may buy, and the current one (spec 02 section 12.2). Never writes.
 * @throws AppError 400 tariffs_mode_disabled
 */
export async function listMiniappTariffs(app: App, actor: UserActor): Promise<TariffOffers> {
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
