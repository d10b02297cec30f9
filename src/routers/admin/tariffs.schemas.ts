import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';

/** Contract group `Cabinet Admin Tariffs`. */

const ExternalSquadUuid = z.string().regex(/^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/);

export const TariffPath = z.object({ tariff_id: z.int().describe('Id of the tariff.') });

export const TariffListQuery = z.object({
  include_inactive: z.boolean().default(true).describe('Whether inactive records are listed too.'),
});

export const TariffListItem = z
  .object({
    id: z.int().describe('Id of the tariff.'),
    name: z.string().describe('Name of the tariff, shown to users.'),
    description: z.string().nullish().describe('Text about the tariff, shown to users; null for none.'),
    is_active: z.boolean().describe('Whether the tariff is on sale.'),
    is_trial_available: z.boolean().describe('Whether trials use this tariff; at most one tariff does.'),
    is_daily: z.boolean().describe('Whether the tariff is charged by the day.'),
    daily_price_kopeks: z.int().describe('Price of one day in kopeks; 0 for a tariff that is not charged by the day.'),
    allow_traffic_topup: z.boolean().describe('Whether traffic can be bought on top; applies in classic mode.'),
    show_in_gift: z.boolean().describe('Whether the tariff can be bought as a gift.'),
    traffic_limit_gb: z.int().describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
    device_limit: z.int().describe('Number of devices that may be connected.'),
    tier_level: z.int().describe('Class of the tariff, 1 to 10, for display only.'),
    display_order: z.int().describe('Place in the list; smaller numbers come first.'),
    servers_count: z.int().describe('Number of servers of the tariff.'),
    subscriptions_count: z.int().describe('Number of subscriptions on the tariff.'),
    created_at: Timestamp.describe('When the tariff was created (UTC).'),
  })
  .meta({ id: 'TariffListItem' });

export const TariffListResponse = z
  .object({
    tariffs: TariffListItem.array().describe('Tariffs in the order of display.'),
    total: z.int().describe('Number of tariffs that match the filters.'),
  })
  .meta({ id: 'TariffListResponse' });

const PeriodPrice = z
  .object({
    days: z.int().min(1).describe('Length of the period in days.'),
    price_kopeks: z.int().min(0).describe('Price of the period in kopeks.'),
    price_rubles: z.number().nullish().describe('Price in rubles: kopeks / 100. Ignored in requests.'),
  })
  .meta({ id: 'PeriodPrice' });

const ServerTrafficLimit = z
  .object({ traffic_limit_gb: z.int().min(0).default(0).describe('Traffic limit on this server in GB; 0 = unlimited.') })
  .meta({ id: 'ServerTrafficLimit' });

const Packages = z.record(z.string(), z.int());
const ServerTrafficLimits = z.record(z.string(), ServerTrafficLimit);

export const TariffCreateRequest = z
  .object({
    name: z.string().min(1).max(255).describe('Name of the tariff, shown to users. Trimmed.'),
    description: z.string().nullish().describe('Text about the tariff, shown to users; null for none.'),
    is_active: z.boolean().default(true).describe('Whether the tariff is on sale.'),
    allow_traffic_topup: z.boolean().default(true).describe('Whether traffic can be bought on top; applies in classic mode.'),
    traffic_topup_enabled: z
      .boolean()
      .default(false)
      .describe('Whether traffic packages of the tariff can be bought; applies in tariffs mode.'),
    traffic_topup_packages: Packages.default({}).describe('Traffic packages: GB (as text) to price in kopeks.'),
    max_topup_traffic_gb: z.int().min(0).default(0).describe('Maximum of the limit after purchases in GB; 0 for none.'),
    traffic_limit_gb: z.int().min(0).default(0).describe('Included traffic in GB; 0 = unlimited.'),
    device_limit: z.int().min(1).default(1).describe('Included number of devices.'),
    device_price_kopeks: z
      .int()
      .min(0)
      .nullish()
      .describe('Price of one more device for 30 days in kopeks; null for the price in the settings, 0 when none can be bought.'),
    max_device_limit: z.int().min(1).nullish().describe('Greatest number of devices; null for no cap.'),
    tier_level: z.int().min(1).max(10).default(1).describe('Class of the tariff, 1 to 10, for display only.'),
    period_prices: PeriodPrice.array().default([]).describe('Periods on sale with their prices.'),
    allowed_squads: z
      .string()
      .array()
      .default([])
      .describe('UUIDs of the servers of the tariff; empty for all available servers.'),
    server_traffic_limits: ServerTrafficLimits.default({}).describe('Limits of single servers: UUID to limit.'),
    promo_group_ids: z.int().array().default([]).describe('Promo groups whose members see the tariff; empty for everyone.'),
    custom_days_enabled: z
      .boolean()
      .default(false)
      .describe('Whether any number of days between `min_days` and `max_days` can be bought.'),
    price_per_day_kopeks: z.int().min(0).default(0).describe('Price of one day of a free choice of days, kopeks.'),
    min_days: z.int().min(1).default(1).describe('Smallest number of days of a free choice.'),
    max_days: z.int().min(1).default(365).describe('Greatest number of days of a free choice.'),
    custom_traffic_enabled: z
      .boolean()
      .default(false)
      .describe('Whether any traffic between `min_traffic_gb` and `max_traffic_gb` can be chosen.'),
    traffic_price_per_gb_kopeks: z.int().min(0).default(0).describe('Price of one GB of freely chosen traffic, kopeks.'),
    min_traffic_gb: z.int().min(1).default(1).describe('Smallest traffic of a free choice, GB.'),
    max_traffic_gb: z.int().min(1).default(1000).describe('Greatest traffic of a free choice, GB.'),
    is_daily: z.boolean().default(false).describe('Whether the tariff is charged by the day.'),
    daily_price_kopeks: z
      .int()
      .min(0)
      .default(0)
      .describe('Price of one day in kopeks; 0 for a tariff that is not charged by the day.'),
    traffic_reset_mode: z
      .string()
      .nullish()
      .describe(
        'How often the used traffic is reset: `DAY`, `WEEK`, `MONTH`, `MONTH_ROLLING` or `NO_RESET`; null for the default of the service.',
      ),
    external_squad_uuid: ExternalSquadUuid.nullish().describe(
      'UUID of the external squad of the panel; null for none. In an update an explicit null clears it.',
    ),
    show_in_gift: z.boolean().default(true).describe('Whether the tariff can be bought as a gift.'),
  })
  .meta({
    id: 'TariffCreateRequest',
    example: { name: 'Basic', traffic_limit_gb: 100, device_limit: 2, period_prices: [{ days: 30, price_kopeks: 29900 }] },
  });

export const TariffUpdateRequest = z
  .object({
    name: z.string().min(1).max(255).nullish().describe('New name of the tariff, 1 to 255 characters; null leaves it unchanged.'),
    description: z.string().nullish().describe('New text about the tariff; null leaves it unchanged.'),
    is_active: z
      .boolean()
      .nullish()
      .describe('Whether the tariff is on sale; null leaves it unchanged. Subscriptions that have it keep it.'),
    allow_traffic_topup: z
      .boolean()
      .nullish()
      .describe('Whether traffic can be bought on top; applies in classic mode. Null leaves it unchanged.'),
    traffic_topup_enabled: z
      .boolean()
      .nullish()
      .describe('Whether traffic packages of the tariff can be bought; applies in tariffs mode. Null leaves it unchanged.'),
    traffic_topup_packages: Packages.nullish().describe(
      'Traffic packages: GB (as text) to price in kopeks. They replace the stored ones; null leaves them unchanged.',
    ),
    max_topup_traffic_gb: z
      .int()
      .min(0)
      .nullish()
      .describe('Maximum of the limit after purchases in GB; 0 for none, null leaves it unchanged.'),
    traffic_limit_gb: z
      .int()
      .min(0)
      .nullish()
      .describe('Traffic limit in GB (1024³ bytes); 0 = unlimited, null leaves it unchanged.'),
    device_limit: z.int().min(1).nullish().describe('Included number of devices; null leaves it unchanged.'),
    device_price_kopeks: z
      .int()
      .min(0)
      .nullish()
      .describe('Price of one more device for 30 days in kopeks; 0 when none can be bought, null leaves it unchanged.'),
    max_device_limit: z
      .int()
      .min(1)
      .nullish()
      .describe('Greatest number of devices; null leaves it unchanged, so that a cap cannot be removed.'),
    tier_level: z
      .int()
      .min(1)
      .max(10)
      .nullish()
      .describe('Class of the tariff, 1 to 10, for display only; null leaves it unchanged.'),
    display_order: z.int().min(0).nullish().describe('Place in the list; smaller numbers come first. Null leaves it unchanged.'),
    period_prices: PeriodPrice.array()
      .nullish()
      .describe('Periods on sale with their prices. They replace the stored ones; null leaves them unchanged.'),
    allowed_squads: z
      .string()
      .array()
      .nullish()
      .describe('UUIDs of the servers of the tariff; empty for all available servers, null leaves them unchanged.'),
    server_traffic_limits: ServerTrafficLimits.nullish().describe(
      'Limits of single servers: UUID to limit. They replace the stored ones; null leaves them unchanged.',
    ),
    promo_group_ids: z
      .int()
      .array()
      .nullish()
      .describe('Promo groups whose members see the tariff; empty for everyone, null unchanged.'),
    custom_days_enabled: z
      .boolean()
      .nullish()
      .describe('Whether any number of days between `min_days` and `max_days` can be bought; null leaves it unchanged.'),
    price_per_day_kopeks: z
      .int()
      .min(0)
      .nullish()
      .describe('Price of one day of a free choice of days, kopeks; null leaves it unchanged.'),
    min_days: z.int().min(1).nullish().describe('Smallest number of days of a free choice; null leaves it unchanged.'),
    max_days: z.int().min(1).nullish().describe('Greatest number of days of a free choice; null leaves it unchanged.'),
    custom_traffic_enabled: z
      .boolean()
      .nullish()
      .describe('Whether any traffic between `min_traffic_gb` and `max_traffic_gb` can be chosen; null leaves it unchanged.'),
    traffic_price_per_gb_kopeks: z
      .int()
      .min(0)
      .nullish()
      .describe('Price of one GB of freely chosen traffic, kopeks; null leaves it unchanged.'),
    min_traffic_gb: z.int().min(1).nullish().describe('Smallest traffic of a free choice, GB; null leaves it unchanged.'),
    max_traffic_gb: z.int().min(1).nullish().describe('Greatest traffic of a free choice, GB; null leaves it unchanged.'),
    is_daily: z.boolean().nullish().describe('Whether the tariff is charged by the day; null leaves it unchanged.'),
    daily_price_kopeks: z
      .int()
      .min(0)
      .nullish()
      .describe('Price of one day in kopeks; 0 for a tariff that is not charged by the day, null leaves it unchanged.'),
    traffic_reset_mode: z
      .string()
      .nullish()
      .describe(
        '`DAY`, `WEEK`, `MONTH`, `MONTH_ROLLING` or `NO_RESET`; null sets the default of the service, absent leaves it unchanged.',
      ),
    external_squad_uuid: ExternalSquadUuid.nullish().describe(
      'UUID of the external squad of the panel; null removes it, absent leaves it unchanged.',
    ),
    show_in_gift: z.boolean().nullish().describe('Whether the tariff can be bought as a gift; null leaves it unchanged.'),
  })
  .meta({ id: 'TariffUpdateRequest', example: { name: 'Basic', period_prices: [{ days: 30, price_kopeks: 34900 }] } });

export const CabinetTariffsServerInfo = z
  .object({
    id: z.int().describe('Id of the server.'),
    squad_uuid: z.string().describe('UUID of the server (internal squad of the panel).'),
    display_name: z.string().describe('Name shown to users.'),
    country_code: z.string().nullish().describe('Country code of two letters; null or empty for none.'),
    is_selected: z.boolean().describe('Whether the group is selected.'),
    traffic_limit_gb: z
      .int()
      .nullish()
      .describe('Traffic limit on this server in GB; null where the limit of the tariff applies.'),
  })
  .meta({ id: 'CabinetTariffsServerInfo' });

const PromoGroupInfo = z
  .object({
    id: z.int().describe('Id of the promo group.'),
    name: z.string().describe('Name of the promo group.'),
    is_selected: z.boolean().describe('Whether the group is selected.'),
  })
  .meta({ id: 'PromoGroupInfo' });

export const TariffDetailResponse = z
  .object({
    id: z.int().describe('Id of the tariff.'),
    name: z.string().describe('Name of the tariff, shown to users.'),
    description: z.string().nullish().describe('Text about the tariff, shown to users; null for none.'),
    is_active: z.boolean().describe('Whether the tariff is on sale.'),
    is_trial_available: z.boolean().describe('Whether trials use this tariff; at most one tariff does.'),
    allow_traffic_topup: z.boolean().describe('Whether traffic can be bought on top; applies in classic mode.'),
    traffic_topup_enabled: z.boolean().describe('Whether traffic packages of the tariff can be bought; applies in tariffs mode.'),
    traffic_topup_packages: Packages.describe('Traffic packages: GB (as text) to price in kopeks.'),
    max_topup_traffic_gb: z.int().describe('Maximum of the limit after purchases in GB; 0 for none.'),
    traffic_limit_gb: z.int().describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
    device_limit: z.int().describe('Number of devices that may be connected.'),
    device_price_kopeks: z
      .int()
      .nullish()
      .describe('Price of one more device for 30 days in kopeks; null for the price in the settings, 0 when none can be bought.'),
    max_device_limit: z.int().nullish().describe('Greatest number of devices; null for no cap.'),
    tier_level: z.int().describe('Class of the tariff, 1 to 10, for display only.'),
    display_order: z.int().describe('Place in the list; smaller numbers come first.'),
    period_prices: PeriodPrice.array().describe('Periods on sale with their prices.'),
    allowed_squads: z.string().array().describe('UUIDs of the servers of the tariff; empty for all available servers.'),
    server_traffic_limits: ServerTrafficLimits.describe('Limits of single servers: UUID to limit.'),
    servers: CabinetTariffsServerInfo.array().describe('Servers.'),
    promo_groups: PromoGroupInfo.array().describe('All promo groups; the selected ones are marked.'),
    subscriptions_count: z.int().describe('Number of subscriptions on the tariff.'),
    custom_days_enabled: z.boolean().describe('Whether any number of days between `min_days` and `max_days` can be bought.'),
    price_per_day_kopeks: z.int().describe('Price of one day of a free choice of days, kopeks.'),
    min_days: z.int().describe('Smallest number of days of a free choice.'),
    max_days: z.int().describe('Greatest number of days of a free choice.'),
    custom_traffic_enabled: z
      .boolean()
      .describe('Whether any traffic between `min_traffic_gb` and `max_traffic_gb` can be chosen.'),
    traffic_price_per_gb_kopeks: z.int().describe('Price of one GB of freely chosen traffic, kopeks.'),
    min_traffic_gb: z.int().describe('Smallest traffic of a free choice, GB.'),
    max_traffic_gb: z.int().describe('Greatest traffic of a free choice, GB.'),
    is_daily: z.boolean().describe('Whether the tariff is charged by the day.'),
    daily_price_kopeks: z.int().describe('Price of one day in kopeks; 0 for a tariff that is not charged by the day.'),
    traffic_reset_mode: z
      .string()
      .nullish()
      .describe(
        'How often the used traffic is reset: `DAY`, `WEEK`, `MONTH`, `MONTH_ROLLING` or `NO_RESET`; null for the default of the service.',
      ),
    external_squad_uuid: z
      .string()
      .nullish()
      .describe('UUID of the external squad of the panel; null for none. In an update an explicit null clears it.'),
    show_in_gift: z.boolean().describe('Whether the tariff can be bought as a gift.'),
    created_at: Timestamp.describe('When the tariff was created (UTC).'),
    updated_at: Timestamp.nullish().describe('When the tariff was last changed (UTC).'),
  })
  .meta({ id: 'TariffDetailResponse' });

export const ExternalSquadInfoResponse = z
  .object({
    uuid: z.string().describe('UUID in the panel.'),
    name: z.string().describe('Name of the external squad in the panel.'),
    members_count: z.int().describe('Number of members.'),
  })
  .meta({ id: 'ExternalSquadInfoResponse' });

export const TariffSortOrderRequest = z
  .object({ tariff_ids: z.int().array().min(1).describe('All ids in the wanted order.') })
  .meta({ id: 'TariffSortOrderRequest' });

/** The contract leaves these two open. */
export const TariffOrderAnswer = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
});
export const TariffDeleteAnswer = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  affected_subscriptions: z.int().describe('Number of subscriptions that lost their tariff; they go on without one.'),
});

export const TariffToggleResponse = z
  .object({
    id: z.int().describe('Id of the tariff.'),
    is_active: z.boolean().describe('Whether the tariff is on sale now.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'TariffToggleResponse' });

export const TariffTrialResponse = z
  .object({
    id: z.int().describe('Id of the tariff.'),
    is_trial_available: z.boolean().describe('Whether trials use this tariff; at most one tariff does.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'TariffTrialResponse' });

export const TariffStatsResponse = z
  .object({
    id: z.int().describe('Id of the tariff.'),
    name: z.string().describe('Name of the tariff that the statistics are about.'),
    subscriptions_count: z.int().describe('Number of subscriptions on the tariff.'),
    active_subscriptions: z.int().describe('Number of subscriptions with access.'),
    trial_subscriptions: z.int().describe('Number of trial subscriptions.'),
    revenue_kopeks: z.int().describe('Completed payments for subscriptions of the users who are on the tariff now, kopeks.'),
    revenue_rubles: z.number().describe('Revenue in rubles: kopeks / 100.'),
  })
  .meta({ id: 'TariffStatsResponse' });

export const SyncSquadsResponse = z
  .object({
    tariff_id: z.int().describe('Id of the tariff.'),
    tariff_name: z.string().describe('Name of the tariff.'),
    total_subscriptions: z.int().describe('Number of subscriptions that were looked at.'),
    updated_count: z.int().describe('Number that the panel accepted.'),
    failed_count: z.int().describe('Number that the panel refused.'),
    skipped_count: z.int().describe('Number left out after ten failures in a row.'),
    errors: z.string().array().describe('Descriptions of problems during the operation; empty when there were none.'),
  })
  .meta({ id: 'SyncSquadsResponse' });
