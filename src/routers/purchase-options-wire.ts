/** Purchase options on the wire, for cabinet and mini-app (spec 02 section 5.8). The contract leaves them free-form. */
import { z } from 'zod';
import type { ClassicOptions, ClassicPeriod } from '../domain/subscriptions/classic-options.ts';
import type { TariffsOptions } from '../domain/subscriptions/purchase-options.ts';
import { publishedAsFreeForm, SignedQuote } from './shared.schemas.ts';
import type { Domain } from './wire.ts';

/** The original price and the percentage only when something was taken off. */
const price = {
  price_kopeks: z.int(),
  price_label: z.string(),
  original_price_kopeks: z.int().optional(),
  original_price_label: z.string().optional(),
  discount_percent: z.number().optional(),
};

const TariffPeriod = z.object({
  days: z.int(),
  months: z.int(),
  label: z.string(),
  ...price,
  price_per_month_kopeks: z.int(),
  price_per_month_label: z.string(),
  quote: SignedQuote,
  extra_devices_count: z.int().optional(),
  extra_devices_cost_kopeks: z.int().optional(),
  extra_devices_cost_label: z.string().optional(),
  base_tariff_price_kopeks: z.int().optional(),
  base_tariff_price_label: z.string().optional(),
  original_per_month_kopeks: z.int().optional(),
  original_per_month_label: z.string().optional(),
  discount_amount_kopeks: z.int().optional(),
  discount_label: z.string().optional(),
});

const Tariff = z.object({
  id: z.int(),
  name: z.string(),
  description: z.string().nullable(),
  tier_level: z.int(),
  traffic_limit_gb: z.int(),
  traffic_limit_label: z.string(),
  is_unlimited_traffic: z.boolean(),
  device_limit: z.int(),
  base_device_limit: z.int(),
  extra_devices_count: z.int(),
  device_price_kopeks: z.int(),
  servers_count: z.int(),
  servers: z.array(z.object({ uuid: z.string(), name: z.string() })),
  periods: z.array(TariffPeriod),
  is_current: z.boolean(),
  is_available: z.boolean(),
  custom_days_enabled: z.boolean(),
  price_per_day_kopeks: z.int(),
  min_days: z.int(),
  max_days: z.int(),
  custom_traffic_enabled: z.boolean(),
  traffic_price_per_gb_kopeks: z.int(),
  min_traffic_gb: z.int(),
  max_traffic_gb: z.int(),
  traffic_topup_enabled: z.boolean(),
  /** Kopeks by GB. */
  traffic_topup_packages: z.record(z.string(), z.number()),
  max_topup_traffic_gb: z.int(),
  is_daily: z.boolean(),
  daily_price_kopeks: z.int(),
  traffic_reset_mode: z.string().nullable(),
  promo_group_name: z.string().optional(),
  original_device_price_kopeks: z.int().optional(),
  device_discount_percent: z.number().optional(),
  original_daily_price_kopeks: z.int().optional(),
  daily_discount_percent: z.number().optional(),
  daily_quote: SignedQuote.optional(),
  original_price_per_day_kopeks: z.int().optional(),
  custom_days_discount_percent: z.number().optional(),
});

const TariffsModeAnswer = z.object({
  sales_mode: z.literal('tariffs'),
  tariffs: z.array(Tariff),
  current_tariff_id: z.int().nullable(),
  balance_kopeks: z.int(),
  balance_label: z.string(),
  subscription_status: z.string().nullable(),
  subscription_is_expired: z.boolean(),
  has_subscription: z.boolean(),
});

const TrafficChoice = z.object({
  selectable: z.boolean(),
  mode: z.string(),
  default: z.int(),
  current: z.int().optional(),
  options: z
    .array(z.object({ value: z.int(), label: z.string(), ...price, is_available: z.boolean(), is_default: z.boolean() }))
    .optional(),
});

const ServerChoice = z.object({
  options: z.array(z.object({ uuid: z.string(), name: z.string(), ...price, is_available: z.boolean() })),
  min: z.int(),
  max: z.int(),
  default: z.array(z.string()),
  selected: z.array(z.string()),
});

const DeviceChoice = z.object({
  min: z.int(),
  max: z.int(),
  default: z.int(),
  current: z.int(),
  price_per_device_kopeks: z.int(),
  price_per_device_label: z.string(),
  price_per_device_original_kopeks: z.int().optional(),
  price_per_device_original_label: z.string().optional(),
  discount_percent: z.number().optional(),
});

const Period = z.object({
  id: z.string(),
  code: z.string(),
  period_id: z.string(),
  period_days: z.int(),
  period: z.int(),
  months: z.int(),
  label: z.string(),
  ...price,
  per_month_price_kopeks: z.int(),
  per_month_price_label: z.string(),
  is_available: z.boolean(),
  traffic: TrafficChoice,
  servers: ServerChoice,
  devices: DeviceChoice,
});

/** Some fields have two spellings, as older clients read them. Both come from one field of the domain. */
const ClassicModeAnswer = z.object({
  currency: z.literal('RUB'),
  balance_kopeks: z.int(),
  balanceKopeks: z.int(),
  balance_label: z.string(),
  balanceLabel: z.string(),
  subscription_id: z.int().nullable(),
  subscriptionId: z.int().nullable(),
  periods: z.array(Period),
  traffic: TrafficChoice.nullable(),
  servers: ServerChoice.nullable(),
  devices: DeviceChoice.nullable(),
  selection: z
    .object({
      period_id: z.string(),
      periodId: z.string(),
      period_days: z.int(),
      periodDays: z.int(),
      traffic_value: z.int(),
      trafficValue: z.int(),
      servers: z.array(z.string()),
      countries: z.array(z.string()),
      server_uuids: z.array(z.string()),
      serverUuids: z.array(z.string()),
      devices: z.int(),
      device_limit: z.int(),
      deviceLimit: z.int(),
    })
    .nullable(),
  summary: z.null(),
  sales_mode: z.literal('classic'),
});

export const ClassicOptionsAnswer = publishedAsFreeForm(ClassicModeAnswer);

export const PurchaseOptionsAnswer = publishedAsFreeForm(
  z.discriminatedUnion('sales_mode', [TariffsModeAnswer, ClassicModeAnswer]),
);

/** Options of either mode, also under the alternative names that clients use. */
export function purchaseOptionsAnswer(options: TariffsOptions | ClassicOptions): Domain<z.input<typeof PurchaseOptionsAnswer>> {
  return options.salesMode === 'tariffs' ? options : classicOptionsAnswer(options);
}

/** The options of classic mode with the alternative names that clients use; those of the default period are also at the top level. */
export function classicOptionsAnswer(options: ClassicOptions): Domain<z.input<typeof ClassicOptionsAnswer>> {
  const { selection } = options;
  const shown = options.periods.find((period) => period.periodDays === selection?.periodDays);
  return {
    ...options,
    currency: 'RUB',
    periods: options.periods.map(withPeriodNames),
    traffic: shown?.traffic ?? null,
    servers: shown?.servers ?? null,
    devices: shown?.devices ?? null,
    selection: selection && selectionAnswer(selection),
    summary: null,
  };
}

function withPeriodNames(period: ClassicPeriod) {
  const id = periodIdOf(period.periodDays);
  return { ...period, id, code: id, periodId: id, period: period.periodDays };
}

function selectionAnswer({ periodDays, trafficGb, squadUuids, devices }: NonNullable<ClassicOptions['selection']>) {
  return {
    periodId: periodIdOf(periodDays),
    periodDays,
    trafficValue: trafficGb,
    servers: squadUuids,
    countries: squadUuids,
    serverUuids: squadUuids,
    devices,
    deviceLimit: devices,
  };
}

function periodIdOf(days: number): string {
  return `days:${days}`;
}
