import { z } from 'zod';
import { switchPreviewFields } from '../cabinet/subscription-purchase.schemas.ts';
import { GivenQuote, INIT_DATA_EXAMPLE, publishedAsFreeForm, SignedQuote, Timestamp } from '../shared.schemas.ts';

/** Contract group `miniapp`: tariffs, their purchase and switch. */

/** The launch data of the mini-app, signed by the messenger. */
export const InitData = z.string();

export const MiniAppSubscriptionRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
  })
  .meta({ id: 'MiniAppSubscriptionRequest', example: { initData: INIT_DATA_EXAMPLE } });

export const MiniAppMaintenanceStatusResponse = z
  .object({
    isActive: z.boolean().describe('Whether maintenance mode is on.'),
    message: z.string().nullish().describe('Text for users during maintenance; null when maintenance is off.'),
    reason: z.string().nullish().describe('Why maintenance is on; null when it is off or no reason is known.'),
  })
  .meta({ id: 'MiniAppMaintenanceStatusResponse' });

export const MiniAppTariffsRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
  })
  .meta({ id: 'MiniAppTariffsRequest', example: { initData: INIT_DATA_EXAMPLE } });

export const MiniAppConnectedServer = z
  .object({ uuid: z.string().describe('UUID in the panel.'), name: z.string().describe('Name of the server for display.') })
  .meta({ id: 'MiniAppConnectedServer' });

export const MiniAppPromoGroup = z
  .object({
    id: z.int().describe('Id of the promo group.'),
    name: z.string().describe('Name of the promo group of the user.'),
    server_discount_percent: z.int().default(0).describe('Discount on servers in percent, 0 to 100.'),
    traffic_discount_percent: z.int().default(0).describe('Discount on traffic in percent, 0 to 100.'),
    device_discount_percent: z.int().default(0).describe('Discount on devices in percent, 0 to 100.'),
    period_discounts: z
      .record(z.string(), z.int())
      .default({})
      .describe('Discounts on periods: length in days (as text) to percent.'),
    apply_discounts_to_addons: z
      .boolean()
      .default(true)
      .describe('Whether traffic, devices and servers bought in mid-period are discounted too.'),
  })
  .meta({ id: 'MiniAppPromoGroup' });

const MiniAppTariffPeriod = z
  .object({
    days: z.int().describe('Length of the period of the tariff in days.'),
    months: z.int().nullish().describe('Length in whole months for display; null when it is not known.'),
    label: z.string().describe('Length of the period for display.'),
    price_kopeks: z.int().describe('Price in kopeks, after discounts.'),
    price_label: z.string().describe('Price for display, for example `990 ₽`.'),
    price_per_month_kopeks: z.int().nullish().describe('Price divided by the months in kopeks; null when not shown.'),
    price_per_month_label: z.string().nullish().describe('Price per month for display; null when not shown.'),
    original_price_kopeks: z.int().nullish().describe('Price before discounts in kopeks; null when there is no discount.'),
    original_price_label: z.string().nullish().describe('Price before discounts for display; null when there is no discount.'),
    discount_percent: z.int().default(0).describe('Discount in percent; 0 for none.'),
    quote: SignedQuote,
  })
  .meta({ id: 'MiniAppTariffPeriod' });

const MiniAppTrafficTopupPackage = z
  .object({
    gb: z.int().describe('Size of the traffic package in GB; 0 is the unlimited package.'),
    price_kopeks: z.int().describe('Price in kopeks, after discounts.'),
    price_label: z.string().describe('Price for display, for example `990 ₽`.'),
    original_price_kopeks: z.int().nullish().describe('Price before discounts in kopeks; null when there is no discount.'),
    original_price_label: z.string().nullish().describe('Price before discounts for display; null when there is no discount.'),
    discount_percent: z.int().default(0).describe('Discount in percent; 0 for none.'),
  })
  .meta({ id: 'MiniAppTrafficTopupPackage' });

/** Fields that an offered tariff and the current one have in common. */
const tariffFields = {
  id: z.int().describe('Id of the tariff.'),
  name: z.string().describe('Name of the tariff.'),
  description: z.string().nullish().describe('Text about the tariff, shown to users; null for none.'),
  tier_level: z.int().default(1).describe('Class of the tariff, 1 to 10, for display only.'),
  traffic_limit_gb: z.int().describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
  traffic_limit_label: z.string().describe('Traffic limit for display.'),
  is_unlimited_traffic: z.boolean().default(false).describe('Whether the tariff has no traffic limit.'),
  device_limit: z.int().describe('Number of devices that may be connected.'),
  servers_count: z.int().describe('Number of servers of the tariff.'),
  is_daily: z.boolean().default(false).describe('Whether the tariff is charged by the day.'),
  daily_price_kopeks: z.int().default(0).describe('Price of one day in kopeks; 0 for a tariff that is not charged by the day.'),
  daily_price_label: z
    .string()
    .nullish()
    .describe('Price of one day for display; null for a tariff that is not charged by the day.'),
};

const MiniAppTariff = z
  .object({
    ...tariffFields,
    servers: z.array(MiniAppConnectedServer).default([]).describe('Servers.'),
    periods: z.array(MiniAppTariffPeriod).default([]).describe('Periods that can be bought, shortest first.'),
    is_current: z.boolean().default(false).describe('Whether the subscription of the user has the tariff.'),
    is_available: z.boolean().default(true).describe('Whether the user can buy the tariff now.'),
    switch_cost_kopeks: z
      .int()
      .nullish()
      .describe('Price of a switch to this tariff in kopeks; null when no switch is possible.'),
    switch_cost_label: z.string().nullish().describe('Price of the switch for display; null when no switch is possible.'),
    is_upgrade: z
      .boolean()
      .nullish()
      .describe('Whether the tariff is more expensive than the current one; null without a current tariff.'),
    is_switch_free: z.boolean().nullish().describe('Whether the switch costs nothing; null without a current tariff.'),
  })
  .meta({ id: 'MiniAppTariff' });

export const MiniAppCurrentTariff = z
  .object({
    ...tariffFields,
    monthly_price_kopeks: z
      .int()
      .default(0)
      .describe('Price of 30 days in kopeks, after the discount of the promo group and the personal offer.'),
    traffic_topup_enabled: z
      .boolean()
      .default(false)
      .describe('Whether traffic packages of the tariff can be bought; applies in tariffs mode.'),
    traffic_topup_packages: z
      .array(MiniAppTrafficTopupPackage)
      .default([])
      .describe('Traffic packages that can be bought now, smallest first.'),
    max_topup_traffic_gb: z.int().default(0).describe('Maximum of the limit after purchases in GB; 0 for none.'),
    available_topup_gb: z
      .int()
      .nullish()
      .describe('Traffic in GB that can still be bought under the cap of the tariff; null without a cap.'),
  })
  .meta({ id: 'MiniAppCurrentTariff' });

export const MiniAppTariffsResponse = z
  .object({
    success: z
      .boolean()
      .default(true)
      .describe('Always true: a request for tariffs that is refused is answered with an error status.'),
    sales_mode: z.string().default('tariffs').describe('How subscriptions are sold: `tariffs` or `classic`.'),
    tariffs: z.array(MiniAppTariff).default([]).describe('Tariffs in the order of display.'),
    current_tariff: MiniAppCurrentTariff.nullish().describe('Tariff of the own subscription; null for none.'),
    balance_kopeks: z.int().default(0).describe('Balance in kopeks; never negative.'),
    balance_label: z.string().nullish().describe('Balance for display, for example `150 ₽`; null where it is not known.'),
    promo_group: MiniAppPromoGroup.nullish().describe('Primary promo group of the user; null for none.'),
  })
  .meta({ id: 'MiniAppTariffsResponse' });

export const MiniAppTariffPurchaseRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    tariffId: z.int().describe('Id of the tariff.'),
    periodDays: z.int().describe('Length of the period in days.'),
    quote: GivenQuote,
  })
  .meta({ id: 'MiniAppTariffPurchaseRequest', example: { initData: INIT_DATA_EXAMPLE, tariffId: 1, periodDays: 30 } });

export const MiniAppTariffPurchaseResponse = z
  .object({
    success: z.boolean().default(true).describe('Always true: a purchase that is refused is answered with an error status.'),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
    subscription_id: z.int().nullish().describe('Id of the subscription; null for none.'),
    tariff_id: z.int().nullish().describe('Id of the tariff; null for none.'),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
    new_end_date: Timestamp.nullish().describe('End of the subscription after the operation (UTC); null when unknown.'),
    balance_kopeks: z.int().nullish().describe('Balance in kopeks; never negative. Null where it is not known.'),
    balance_label: z.string().nullish().describe('Balance for display, for example `150 ₽`; null where it is not known.'),
  })
  .meta({ id: 'MiniAppTariffPurchaseResponse' });

export const MiniAppTariffSwitchRequest = z
  .object({
    init_data: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    tariff_id: z.int().describe('Id of the tariff.'),
    quote: GivenQuote,
  })
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
