/** Purchase options are of free form in the interface; these are the parts that this page shows. Money in kopeks. */

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

type Answer = Record<string, unknown>;

export function readOffers(answer: Answer): TariffOffer[] {
  return listOf(answer.tariffs).map((tariff) => ({
    id: numberOf(tariff.id) ?? 0,
    name: textOf(tariff.name),
    description: textOf(tariff.description),
    trafficLabel: textOf(tariff.traffic_limit_label),
    deviceLimit: numberOf(tariff.device_limit) ?? 0,
    servers: listOf(tariff.servers).map((server) => textOf(server.name)),
    isCurrent: tariff.is_current === true,
    dailyPriceKopeks: tariff.is_daily === true ? numberOf(tariff.daily_price_kopeks) : null,
    periods: listOf(tariff.periods).map((period) => ({
      days: numberOf(period.days) ?? 0,
      label: textOf(period.label),
      priceKopeks: numberOf(period.price_kopeks) ?? 0,
      originalPriceKopeks: numberOf(period.original_price_kopeks),
    })),
  }));
}

function listOf(value: unknown): Answer[] {
  return Array.isArray(value) ? value.filter((item): item is Answer => typeof item === 'object' && item !== null) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
