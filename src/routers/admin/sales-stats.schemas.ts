import { z } from 'zod';

/** Contract group `Cabinet Admin Sales Stats` (spec 06 section 4.5). */

export const SalesPeriodQuery = z.object({
  days: z.int().nullable().default(30),
  start_date: z.string().nullish(),
  end_date: z.string().nullish(),
});

export const SalesSummary = z
  .object({
    total_revenue_kopeks: z.int(),
    manual_topup_kopeks: z.int(),
    active_subscriptions: z.int(),
    active_trials: z.int(),
    new_trials: z.int(),
    trial_to_paid_conversion: z.number(),
    renewals_count: z.int(),
    addon_revenue_kopeks: z.int(),
  })
  .meta({ id: 'SalesSummary' });

export const ProviderBreakdownItem = z.object({ provider: z.string(), count: z.int() }).meta({ id: 'ProviderBreakdownItem' });

export const DailyTrialItem = z
  .object({ date: z.string(), registrations: z.int(), trials: z.int() })
  .meta({ id: 'DailyTrialItem' });

export const TrialsStatsResponse = z
  .object({
    total_trials: z.int(),
    total_registrations: z.int(),
    conversion_rate: z.number(),
    avg_trial_duration_days: z.number(),
    by_provider: z.array(ProviderBreakdownItem),
    daily: z.array(DailyTrialItem),
  })
  .meta({ id: 'TrialsStatsResponse' });

export const SalesByTariffItem = z
  .object({ tariff_id: z.int(), tariff_name: z.string(), count: z.int() })
  .meta({ id: 'SalesByTariffItem' });

export const SalesByPeriodItem = z.object({ period_days: z.int(), count: z.int() }).meta({ id: 'SalesByPeriodItem' });

export const DailySalesItem = z
  .object({ date: z.string(), count: z.int(), revenue_kopeks: z.int() })
  .meta({ id: 'DailySalesItem' });

export const DailyTariffSalesItem = z
  .object({ date: z.string(), tariff_name: z.string(), count: z.int() })
  .meta({ id: 'DailyTariffSalesItem' });

export const SalesStatsResponse = z
  .object({
    total_sales: z.int(),
    total_revenue_kopeks: z.int(),
    avg_order_kopeks: z.int(),
    top_tariff_name: z.string(),
    by_tariff: z.array(SalesByTariffItem),
    by_period: z.array(SalesByPeriodItem),
    daily: z.array(DailySalesItem),
    daily_by_tariff: z.array(DailyTariffSalesItem),
  })
  .meta({ id: 'SalesStatsResponse' });

export const RenewalPeriodStats = z.object({ count: z.int(), revenue_kopeks: z.int() }).meta({ id: 'RenewalPeriodStats' });

export const RenewalChange = z
  .object({ absolute: z.int(), percent: z.number(), trend: z.string() })
  .meta({ id: 'RenewalChange' });

export const DailyRenewalItem = z.object({ date: z.string(), count: z.int() }).meta({ id: 'DailyRenewalItem' });

export const RenewalsStatsResponse = z
  .object({
    total_renewals: z.int(),
    total_revenue_kopeks: z.int(),
    renewal_rate: z.number(),
    current_period: RenewalPeriodStats,
    previous_period: RenewalPeriodStats,
    change: RenewalChange,
    daily: z.array(DailyRenewalItem),
  })
  .meta({ id: 'RenewalsStatsResponse' });

export const AddonByPackageItem = z.object({ traffic_gb: z.int(), count: z.int() }).meta({ id: 'AddonByPackageItem' });

export const DailyAddonItem = z.object({ date: z.string(), count: z.int(), total_gb: z.int() }).meta({ id: 'DailyAddonItem' });

export const DailyDeviceItem = z.object({ date: z.string(), count: z.int() }).meta({ id: 'DailyDeviceItem' });

export const AddonsStatsResponse = z
  .object({
    total_purchases: z.int(),
    total_gb_purchased: z.int(),
    addon_revenue_kopeks: z.int(),
    device_purchases: z.int(),
    device_revenue_kopeks: z.int(),
    by_package: z.array(AddonByPackageItem),
    daily: z.array(DailyAddonItem),
    daily_devices: z.array(DailyDeviceItem),
  })
  .meta({ id: 'AddonsStatsResponse' });

export const DepositByMethodItem = z
  .object({ method: z.string(), count: z.int(), amount_kopeks: z.int() })
  .meta({ id: 'DepositByMethodItem' });

export const DailyDepositItem = z
  .object({ date: z.string(), count: z.int(), amount_kopeks: z.int() })
  .meta({ id: 'DailyDepositItem' });

export const DailyDepositByMethodItem = z
  .object({ date: z.string(), method: z.string(), amount_kopeks: z.int() })
  .meta({ id: 'DailyDepositByMethodItem' });

export const DepositsStatsResponse = z
  .object({
    total_deposits: z.int(),
    total_amount_kopeks: z.int(),
    avg_deposit_kopeks: z.int(),
    by_method: z.array(DepositByMethodItem),
    daily: z.array(DailyDepositItem),
    daily_by_method: z.array(DailyDepositByMethodItem),
  })
  .meta({ id: 'DepositsStatsResponse' });
