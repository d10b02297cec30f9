import { z } from 'zod';
import { switchPreviewFields } from '../cabinet/subscription-purchase.schemas.ts';
import { GivenQuote, INIT_DATA_EXAMPLE, Moment, publishedAsFreeForm, SignedQuote } from '../shared.schemas.ts';

/** Contract group `miniapp`: tariffs, their purchase and switch (spec 02 section 12.2). */

/** The launch data of the mini-app, signed by the messenger. */
export const InitData = z.string();

export const MiniAppSubscriptionRequest = z
  .object({ initData: InitData })
  .meta({ id: 'MiniAppSubscriptionRequest', example: { initData: INIT_DATA_EXAMPLE } });

export const MiniAppMaintenanceStatusResponse = z
  .object({ isActive: z.boolean(), message: z.string().nullish(), reason: z.string().nullish() })
  .meta({ id: 'MiniAppMaintenanceStatusResponse' });

export const MiniAppTariffsRequest = z
  .object({ initData: InitData })
  .meta({ id: 'MiniAppTariffsRequest', example: { initData: INIT_DATA_EXAMPLE } });

export const MiniAppConnectedServer = z.object({ uuid: z.string(), name: z.string() }).meta({ id: 'MiniAppConnectedServer' });

export const MiniAppPromoGroup = z
  .object({
    id: z.int(),
    name: z.string(),
    server_discount_percent: z.int().default(0),
    traffic_discount_percent: z.int().default(0),
    device_discount_percent: z.int().default(0),
    period_discounts: z.record(z.string(), z.int()).default({}),
    apply_discounts_to_addons: z.boolean().default(true),
  })
  .meta({ id: 'MiniAppPromoGroup' });

export const MiniAppTariffPeriod = z
  .object({
    days: z.int(),
    months: z.int().nullish(),
    label: z.string(),
    price_kopeks: z.int(),
    price_label: z.string(),
    price_per_month_kopeks: z.int().nullish(),
    price_per_month_label: z.string().nullish(),
    original_price_kopeks: z.int().nullish(),
    original_price_label: z.string().nullish(),
    discount_percent: z.int().default(0),
    quote: SignedQuote,
  })
  .meta({ id: 'MiniAppTariffPeriod' });

export const MiniAppTrafficTopupPackage = z
  .object({
    gb: z.int(),
    price_kopeks: z.int(),
    price_label: z.string(),
    original_price_kopeks: z.int().nullish(),
    original_price_label: z.string().nullish(),
    discount_percent: z.int().default(0),
  })
  .meta({ id: 'MiniAppTrafficTopupPackage' });

/** Fields that an offered tariff and the current one have in common. */
const tariffFields = {
  id: z.int(),
  name: z.string(),
  description: z.string().nullish(),
  tier_level: z.int().default(1),
  traffic_limit_gb: z.int(),
  traffic_limit_label: z.string(),
  is_unlimited_traffic: z.boolean().default(false),
  device_limit: z.int(),
  servers_count: z.int(),
  is_daily: z.boolean().default(false),
  daily_price_kopeks: z.int().default(0),
  daily_price_label: z.string().nullish(),
};

export const MiniAppTariff = z
  .object({
    ...tariffFields,
    servers: z.array(MiniAppConnectedServer).default([]),
    periods: z.array(MiniAppTariffPeriod).default([]),
    is_current: z.boolean().default(false),
    is_available: z.boolean().default(true),
    switch_cost_kopeks: z.int().nullish(),
    switch_cost_label: z.string().nullish(),
    is_upgrade: z.boolean().nullish(),
    is_switch_free: z.boolean().nullish(),
  })
  .meta({ id: 'MiniAppTariff' });

export const MiniAppCurrentTariff = z
  .object({
    ...tariffFields,
    monthly_price_kopeks: z.int().default(0),
    traffic_topup_enabled: z.boolean().default(false),
    traffic_topup_packages: z.array(MiniAppTrafficTopupPackage).default([]),
    max_topup_traffic_gb: z.int().default(0),
    available_topup_gb: z.int().nullish(),
  })
  .meta({ id: 'MiniAppCurrentTariff' });

export const MiniAppTariffsResponse = z
  .object({
    success: z.boolean().default(true),
    sales_mode: z.string().default('tariffs'),
    tariffs: z.array(MiniAppTariff).default([]),
    current_tariff: MiniAppCurrentTariff.nullish(),
    balance_kopeks: z.int().default(0),
    balance_label: z.string().nullish(),
    promo_group: MiniAppPromoGroup.nullish(),
  })
  .meta({ id: 'MiniAppTariffsResponse' });

export const MiniAppTariffPurchaseRequest = z
  .object({ initData: InitData, tariffId: z.int(), periodDays: z.int(), quote: GivenQuote })
  .meta({ id: 'MiniAppTariffPurchaseRequest', example: { initData: INIT_DATA_EXAMPLE, tariffId: 1, periodDays: 30 } });

export const MiniAppTariffPurchaseResponse = z
  .object({
    success: z.boolean().default(true),
    message: z.string().nullish(),
    subscription_id: z.int().nullish(),
    tariff_id: z.int().nullish(),
    tariff_name: z.string().nullish(),
    new_end_date: Moment.nullish(),
    balance_kopeks: z.int().nullish(),
    balance_label: z.string().nullish(),
  })
  .meta({ id: 'MiniAppTariffPurchaseResponse' });

export const MiniAppTariffSwitchRequest = z
  .object({ init_data: InitData, tariff_id: z.int(), quote: GivenQuote })
  .meta({ id: 'MiniAppTariffSwitchRequest', example: { init_data: INIT_DATA_EXAMPLE, tariff_id: 2 } });

/** Untyped in the contract, as is the next one. */
export const MiniAppTariffSwitchPreviewResponse = publishedAsFreeForm(z.object({ ...switchPreviewFields, message: z.null() }));

export const MiniAppTariffSwitchResponse = publishedAsFreeForm(
  z.object({
    success: z.literal(true),
    message: z.string(),
    tariff_id: z.int(),
    tariff_name: z.string(),
    charged_kopeks: z.int(),
    balance_kopeks: z.int(),
    balance_label: z.string(),
  }),
);
