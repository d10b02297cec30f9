import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Admin Tariffs` (spec 02 section 10). */

const ExternalSquadUuid = z.string().regex(/^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/);

export const TariffPath = z.object({ tariff_id: z.int() });

export const TariffListQuery = z.object({ include_inactive: z.boolean().default(true) });

export const TariffListItem = z
  .object({
    id: z.int(),
    name: z.string(),
    description: z.string().nullish(),
    is_active: z.boolean(),
    is_trial_available: z.boolean(),
    is_daily: z.boolean(),
    daily_price_kopeks: z.int(),
    allow_traffic_topup: z.boolean(),
    show_in_gift: z.boolean(),
    traffic_limit_gb: z.int(),
    device_limit: z.int(),
    tier_level: z.int(),
    display_order: z.int(),
    servers_count: z.int(),
    subscriptions_count: z.int(),
    created_at: Moment,
  })
  .meta({ id: 'TariffListItem' });

export const TariffListResponse = z
  .object({ tariffs: TariffListItem.array(), total: z.int() })
  .meta({ id: 'TariffListResponse' });

export const PeriodPrice = z
  .object({ days: z.int().min(1), price_kopeks: z.int().min(0), price_rubles: z.number().nullish() })
  .meta({ id: 'PeriodPrice' });

export const ServerTrafficLimit = z.object({ traffic_limit_gb: z.int().min(0).default(0) }).meta({ id: 'ServerTrafficLimit' });

const Packages = z.record(z.string(), z.int());
const ServerTrafficLimits = z.record(z.string(), ServerTrafficLimit);

export const TariffCreateRequest = z
  .object({
    name: z.string().min(1).max(255),
    description: z.string().nullish(),
    is_active: z.boolean().default(true),
    allow_traffic_topup: z.boolean().default(true),
    traffic_topup_enabled: z.boolean().default(false),
    traffic_topup_packages: Packages.default({}),
    max_topup_traffic_gb: z.int().min(0).default(0),
    traffic_limit_gb: z.int().min(0).default(0),
    device_limit: z.int().min(1).default(1),
    device_price_kopeks: z.int().min(0).nullish(),
    max_device_limit: z.int().min(1).nullish(),
    tier_level: z.int().min(1).max(10).default(1),
    period_prices: PeriodPrice.array().default([]),
    allowed_squads: z.string().array().default([]),
    server_traffic_limits: ServerTrafficLimits.default({}),
    promo_group_ids: z.int().array().default([]),
    custom_days_enabled: z.boolean().default(false),
    price_per_day_kopeks: z.int().min(0).default(0),
    min_days: z.int().min(1).default(1),
    max_days: z.int().min(1).default(365),
    custom_traffic_enabled: z.boolean().default(false),
    traffic_price_per_gb_kopeks: z.int().min(0).default(0),
    min_traffic_gb: z.int().min(1).default(1),
    max_traffic_gb: z.int().min(1).default(1000),
    is_daily: z.boolean().default(false),
    daily_price_kopeks: z.int().min(0).default(0),
    traffic_reset_mode: z.string().nullish(),
    external_squad_uuid: ExternalSquadUuid.nullish(),
    show_in_gift: z.boolean().default(true),
  })
  .meta({
    id: 'TariffCreateRequest',
    example: { name: 'Basic', traffic_limit_gb: 100, device_limit: 2, period_prices: [{ days: 30, price_kopeks: 29900 }] },
  });

export const TariffUpdateRequest = z
  .object({
    name: z.string().min(1).max(255).nullish(),
    description: z.string().nullish(),
    is_active: z.boolean().nullish(),
    allow_traffic_topup: z.boolean().nullish(),
    traffic_topup_enabled: z.boolean().nullish(),
    traffic_topup_packages: Packages.nullish(),
    max_topup_traffic_gb: z.int().min(0).nullish(),
    traffic_limit_gb: z.int().min(0).nullish(),
    device_limit: z.int().min(1).nullish(),
    device_price_kopeks: z.int().min(0).nullish(),
    max_device_limit: z.int().min(1).nullish(),
    tier_level: z.int().min(1).max(10).nullish(),
    display_order: z.int().min(0).nullish(),
    period_prices: PeriodPrice.array().nullish(),
    allowed_squads: z.string().array().nullish(),
    server_traffic_limits: ServerTrafficLimits.nullish(),
    promo_group_ids: z.int().array().nullish(),
    custom_days_enabled: z.boolean().nullish(),
    price_per_day_kopeks: z.int().min(0).nullish(),
    min_days: z.int().min(1).nullish(),
    max_days: z.int().min(1).nullish(),
    custom_traffic_enabled: z.boolean().nullish(),
    traffic_price_per_gb_kopeks: z.int().min(0).nullish(),
    min_traffic_gb: z.int().min(1).nullish(),
    max_traffic_gb: z.int().min(1).nullish(),
    is_daily: z.boolean().nullish(),
    daily_price_kopeks: z.int().min(0).nullish(),
    traffic_reset_mode: z.string().nullish(),
    external_squad_uuid: ExternalSquadUuid.nullish(),
    show_in_gift: z.boolean().nullish(),
  })
  .meta({ id: 'TariffUpdateRequest', example: { name: 'Basic', period_prices: [{ days: 30, price_kopeks: 34900 }] } });

export const CabinetTariffsServerInfo = z
  .object({
    id: z.int(),
    squad_uuid: z.string(),
    display_name: z.string(),
    country_code: z.string().nullish(),
    is_selected: z.boolean(),
    traffic_limit_gb: z.int().nullish(),
  })
  .meta({ id: 'CabinetTariffsServerInfo' });

export const PromoGroupInfo = z
  .object({ id: z.int(), name: z.string(), is_selected: z.boolean() })
  .meta({ id: 'PromoGroupInfo' });

export const TariffDetailResponse = z
  .object({
    id: z.int(),
    name: z.string(),
    description: z.string().nullish(),
    is_active: z.boolean(),
    is_trial_available: z.boolean(),
    allow_traffic_topup: z.boolean(),
    traffic_topup_enabled: z.boolean(),
    traffic_topup_packages: Packages,
    max_topup_traffic_gb: z.int(),
    traffic_limit_gb: z.int(),
    device_limit: z.int(),
    device_price_kopeks: z.int().nullish(),
    max_device_limit: z.int().nullish(),
    tier_level: z.int(),
    display_order: z.int(),
    period_prices: PeriodPrice.array(),
    allowed_squads: z.string().array(),
    server_traffic_limits: ServerTrafficLimits,
    servers: CabinetTariffsServerInfo.array(),
    promo_groups: PromoGroupInfo.array(),
    subscriptions_count: z.int(),
    custom_days_enabled: z.boolean(),
    price_per_day_kopeks: z.int(),
    min_days: z.int(),
    max_days: z.int(),
    custom_traffic_enabled: z.boolean(),
    traffic_price_per_gb_kopeks: z.int(),
    min_traffic_gb: z.int(),
    max_traffic_gb: z.int(),
    is_daily: z.boolean(),
    daily_price_kopeks: z.int(),
    traffic_reset_mode: z.string().nullish(),
    external_squad_uuid: z.string().nullish(),
    show_in_gift: z.boolean(),
    created_at: Moment,
    updated_at: Moment.nullish(),
  })
  .meta({ id: 'TariffDetailResponse' });

export const ExternalSquadInfoResponse = z
  .object({ uuid: z.string(), name: z.string(), members_count: z.int() })
  .meta({ id: 'ExternalSquadInfoResponse' });

export const TariffSortOrderRequest = z.object({ tariff_ids: z.int().array().min(1) }).meta({ id: 'TariffSortOrderRequest' });

/** The contract leaves these two open (spec 02 section 10). */
export const TariffOrderAnswer = z.object({ message: z.string() });
export const TariffDeleteAnswer = z.object({ message: z.string(), affected_subscriptions: z.int() });

export const TariffToggleResponse = z
  .object({ id: z.int(), is_active: z.boolean(), message: z.string() })
  .meta({ id: 'TariffToggleResponse' });

export const TariffTrialResponse = z
  .object({ id: z.int(), is_trial_available: z.boolean(), message: z.string() })
  .meta({ id: 'TariffTrialResponse' });

export const TariffStatsResponse = z
  .object({
    id: z.int(),
    name: z.string(),
    subscriptions_count: z.int(),
    active_subscriptions: z.int(),
    trial_subscriptions: z.int(),
    revenue_kopeks: z.int(),
    revenue_rubles: z.number(),
  })
  .meta({ id: 'TariffStatsResponse' });

export const SyncSquadsResponse = z
  .object({
    tariff_id: z.int(),
    tariff_name: z.string(),
    total_subscriptions: z.int(),
    updated_count: z.int(),
    failed_count: z.int(),
    skipped_count: z.int(),
    errors: z.string().array(),
  })
  .meta({ id: 'SyncSquadsResponse' });
