/** What the page shows of the purchase options. Money in kopeks. */
import type { client } from './service.ts';

/** The answer has two forms; `sales_mode` says which. */
export type PurchaseOptions = Awaited<ReturnType<typeof client.api.subscription.purchaseOptions.query>>;

export interface TariffPeriod {
  days: number;
  label: string;
  priceKopeks: number;
  originalPriceKopeks: number | null;
}

export interface TariffOffer {
  id: number;
  name: string;
  description: string;
  trafficLabel: string;
  deviceLimit: number;
  servers: string[];
  isCurrent: boolean;
  periods: TariffPeriod[];
  /** Set when the tariff is paid by the day. */
  dailyPriceKopeks: number | null;
}

/** None in classic mode, which this page does not show. */
export function readOffers(options: PurchaseOptions): TariffOffer[] {
  if (options.sales_mode !== 'tariffs') return [];
  return options.tariffs.map((tariff) => ({
    id: tariff.id,
    name: tariff.name,
    description: tariff.description ?? '',
    trafficLabel: tariff.traffic_limit_label,
    deviceLimit: tariff.device_limit,
    servers: tariff.servers.map((server) => server.name),
    isCurrent: tariff.is_current,
    dailyPriceKopeks: tariff.is_daily ? tariff.daily_price_kopeks : null,
    periods: tariff.periods.map((period) => ({
      days: period.days,
      label: period.label,
      priceKopeks: period.price_kopeks,
      originalPriceKopeks: period.original_price_kopeks ?? null,
    })),
  }));
}
