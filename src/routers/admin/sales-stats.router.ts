import { z } from 'zod';
import type { App } from '../../core/app.ts';
import { orFailWith } from '../../domain/insight/load-failure.ts';
import { type PeriodRequest, SALES_PERIOD_REFUSALS } from '../../domain/insight/sales/period.ts';
import {
  readAddonStats,
  readDepositStats,
  readRenewalStats,
  readSalesSummary,
  readSubscriptionSales,
  readTrialStats,
} from '../../domain/insight/sales/sales.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Admin Sales Stats`. */

const SalesPeriodQuery = z.object({
  days: z
    .int()
    .nullable()
    .default(30)
    .describe('Number of days before today; at most 730 are counted. 0, negative or null = everything.'),
  start_date: z.string().nullish().describe('Start of the period, ISO 8601; without `end_date` it has no effect.'),
  end_date: z.string().nullish().describe('Last day of the period, ISO 8601; without `start_date` it has no effect.'),
});

const SalesSummary = z
  .object({
    total_revenue_kopeks: z
      .int()
      .describe('Completed top-ups and payments for subscriptions through providers, and manual top-ups, kopeks.'),
    manual_topup_kopeks: z.int().describe('Completed top-ups by administrators, kopeks.'),
    active_subscriptions: z.int().describe('Subscriptions with status `active` that are no trial, now.'),
    active_trials: z.int().describe('Trials with status `active`, now.'),
    new_trials: z.int().describe('Trials that were created in the period.'),
    trial_to_paid_conversion: z
      .number()
      .describe('Paid ones in percent of new trials and paid ones, one decimal, at most 100; 0 for none.'),
    renewals_count: z.int().describe('Payments for subscriptions of users who had paid before the period.'),
    addon_revenue_kopeks: z.int().describe('Payments for traffic, kopeks.'),
  })
  .meta({ id: 'SalesSummary' });

const ProviderBreakdownItem = z
  .object({
    provider: z.string().describe('`vk`, `yandex`, `google`, `discord`, `email` or `messenger`.'),
    count: z.int().describe('Number of trials of users of this registration method.'),
  })
  .meta({ id: 'ProviderBreakdownItem' });

const DailyTrialItem = z
  .object({
    date: z.string().describe('Calendar day in the time zone of the service (`TIMEZONE`), `YYYY-MM-DD`.'),
    registrations: z.int().describe('Users who were created on the day.'),
    trials: z.int().describe('Trials that were created on the day.'),
  })
  .meta({ id: 'DailyTrialItem' });

const TrialsStatsResponse = z
  .object({
    total_trials: z.int().describe('Trials that were created in the period.'),
    total_registrations: z.int().describe('Users who were created in the period.'),
    conversion_rate: z
      .number()
      .describe('Paid ones in percent of new trials and paid ones, one decimal, at most 100; 0 for none.'),
    avg_trial_duration_days: z
      .number()
      .describe(
        'Mean number of days from the start of the trials that became paid in the period to the purchase, one decimal; 0 for none.',
      ),
    by_provider: z.array(ProviderBreakdownItem).describe('The trials by the way in which their user signs in, most first.'),
    daily: z.array(DailyTrialItem).describe('Registrations and trials by day, ascending; days without any are absent.'),
  })
  .meta({ id: 'TrialsStatsResponse' });

const SalesByTariffItem = z
  .object({
    tariff_id: z.int().describe('Id of the tariff; 0 for none.'),
    tariff_name: z.string().describe('Name of the tariff; `Unknown` for none.'),
    count: z.int().describe('Number of sales of this tariff.'),
  })
  .meta({ id: 'SalesByTariffItem' });

const SalesByPeriodItem = z
  .object({
    period_days: z.int().describe('Days from start to end of the subscription, rounded to the nearest.'),
    count: z.int().describe('Number of sales of this period.'),
  })
  .meta({ id: 'SalesByPeriodItem' });

const DailySalesItem = z
  .object({
    date: z.string().describe('Calendar day in the time zone of the service (`TIMEZONE`), `YYYY-MM-DD`.'),
    count: z.int().describe('Number of payments for subscriptions on the day.'),
    revenue_kopeks: z.int().describe('Sum of the payments, kopeks.'),
  })
  .meta({ id: 'DailySalesItem' });

const DailyTariffSalesItem = z
  .object({
    date: z.string().describe('Calendar day in the time zone of the service (`TIMEZONE`), `YYYY-MM-DD`.'),
    tariff_name: z.string().describe('Name of the tariff; `Unknown` for none.'),
    count: z.int().describe('Number of sales of the tariff on the day.'),
  })
  .meta({ id: 'DailyTariffSalesItem' });

const SalesStatsResponse = z
  .object({
    total_sales: z.int().describe('Subscriptions that were created in the period and are no trial.'),
    total_revenue_kopeks: z.int().describe('Completed payments for subscriptions in the period with any method, kopeks.'),
    avg_order_kopeks: z.int().describe('Revenue divided by the sales, kopeks, rounded down; 0 for none.'),
    top_tariff_name: z.string().describe('Name of the first of `by_tariff`; `-` for none.'),
    by_tariff: z
      .array(SalesByTariffItem)
      .describe('Sales by tariff, most first; without a tariff the id is 0 and the name `Unknown`.'),
    by_period: z.array(SalesByPeriodItem).describe('Sales by days from start to end of the subscription, ascending.'),
    daily: z.array(DailySalesItem).describe('Payments for subscriptions by day, ascending; days without any are absent.'),
    daily_by_tariff: z.array(DailyTariffSalesItem).describe('Sales by day and name of the tariff, in this order.'),
  })
  .meta({ id: 'SalesStatsResponse' });

const RenewalPeriodStats = z
  .object({
    count: z.int().describe('Number of renewals in the period.'),
    revenue_kopeks: z.int().describe('Sum of the renewals, kopeks.'),
  })
  .meta({ id: 'RenewalPeriodStats' });

const RenewalChange = z
  .object({
    absolute: z.int().describe('Difference of the two periods: current minus previous.'),
    percent: z
      .number()
      .describe('Difference in percent of the previous number, one decimal; 100 where there was nothing before.'),
    trend: z.string().describe('Direction of the difference: `up`, `down` or `stable`.'),
  })
  .meta({ id: 'RenewalChange' });

const DailyRenewalItem = z
  .object({
    date: z.string().describe('Calendar day in the time zone of the service (`TIMEZONE`), `YYYY-MM-DD`.'),
    count: z.int().describe('Number of renewals on the day.'),
  })
  .meta({ id: 'DailyRenewalItem' });

const RenewalsStatsResponse = z
  .object({
    total_renewals: z.int().describe('Payments for subscriptions in the period of users who had paid before it.'),
    total_revenue_kopeks: z.int().describe('Sum of these payments, kopeks.'),
    renewal_rate: z
      .number()
      .describe('Renewals in percent of all payments for subscriptions in the period, one decimal; 0 for none.'),
    current_period: RenewalPeriodStats.describe('Renewals in the period.'),
    previous_period: RenewalPeriodStats.describe(
      'Renewals in the equally long window that ends where the period starts; 0 when everything is asked for.',
    ),
    change: RenewalChange.describe('Difference between the two periods.'),
    daily: z.array(DailyRenewalItem).describe('Renewals in the period by day, ascending; days without any are absent.'),
  })
  .meta({ id: 'RenewalsStatsResponse' });

const AddonByPackageItem = z
  .object({
    traffic_gb: z.int().describe('Size of the package, GB.'),
    count: z.int().describe('Number of sold packages of this size.'),
  })
  .meta({ id: 'AddonByPackageItem' });

const DailyAddonItem = z
  .object({
    date: z.string().describe('Calendar day in the time zone of the service (`TIMEZONE`), `YYYY-MM-DD`.'),
    count: z.int().describe('Number of traffic packages that were sold on the day.'),
    total_gb: z.int().describe('Sum of the packages, GB.'),
  })
  .meta({ id: 'DailyAddonItem' });

const DailyDeviceItem = z
  .object({
    date: z.string().describe('Calendar day in the time zone of the service (`TIMEZONE`), `YYYY-MM-DD`.'),
    count: z.int().describe('Number of payments for devices on the day.'),
  })
  .meta({ id: 'DailyDeviceItem' });

const AddonsStatsResponse = z
  .object({
    total_purchases: z.int().describe('Traffic packages that were bought in the period and are stored.'),
    total_gb_purchased: z.int().describe('Sum of these packages, GB.'),
    addon_revenue_kopeks: z.int().describe('Payments for traffic, kopeks.'),
    device_purchases: z.int().describe('Number of payments for devices.'),
    device_revenue_kopeks: z.int().describe('Payments for devices, kopeks.'),
    by_package: z.array(AddonByPackageItem).describe('Traffic packages by size, ascending.'),
    daily: z.array(DailyAddonItem).describe('Traffic packages by day, ascending; days without any are absent.'),
    daily_devices: z.array(DailyDeviceItem).describe('Payments for devices by day, ascending; days without any are absent.'),
  })
  .meta({ id: 'AddonsStatsResponse' });

const DepositByMethodItem = z
  .object({
    method: z.string().describe('Id of the payment method.'),
    count: z.int().describe('Number of top-ups by this method.'),
    amount_kopeks: z.int().describe('Sum of the payments, kopeks.'),
  })
  .meta({ id: 'DepositByMethodItem' });

const DailyDepositItem = z
  .object({
    date: z.string().describe('Calendar day in the time zone of the service (`TIMEZONE`), `YYYY-MM-DD`.'),
    count: z.int().describe('Number of top-ups on the day.'),
    amount_kopeks: z.int().describe('Sum of the payments, kopeks.'),
  })
  .meta({ id: 'DailyDepositItem' });

const DailyDepositByMethodItem = z
  .object({
    date: z.string().describe('Calendar day in the time zone of the service (`TIMEZONE`), `YYYY-MM-DD`.'),
    method: z.string().describe('Id of the payment method.'),
    amount_kopeks: z.int().describe('Sum of the payments, kopeks.'),
  })
  .meta({ id: 'DailyDepositByMethodItem' });

const DepositsStatsResponse = z
  .object({
    total_deposits: z.int().describe('Completed top-ups and payments for subscriptions through providers, and manual top-ups.'),
    total_amount_kopeks: z.int().describe('Their sum, kopeks.'),
    avg_deposit_kopeks: z.int().describe('Sum divided by the number, rounded down; 0 for none.'),
    by_method: z.array(DepositByMethodItem).describe('The same by payment method, largest sum first.'),
    daily: z.array(DailyDepositItem).describe('The same by day, ascending; days without any are absent.'),
    daily_by_method: z.array(DailyDepositByMethodItem).describe('The same by day and payment method, in this order.'),
  })
  .meta({ id: 'DepositsStatsResponse' });

const tags: [string] = ['Cabinet Admin Sales Stats'];
const ROOT = '/cabinet/admin/stats/sales';

const reading = adminProcedure('sales_stats:read');

type PeriodInput = { [K in keyof PeriodRequest]?: PeriodRequest[K] | undefined };

/** @param what is read, for the text of an unexpected failure */
function load<T>(app: App, input: PeriodInput, what: string, read: (app: App, period: PeriodRequest) => Promise<T>): Promise<T> {
  const period = { days: input.days ?? null, startDate: input.startDate ?? null, endDate: input.endDate ?? null };
  return orFailWith(`Failed to load ${what}`, () => read(app, period));
}

export const adminSalesStatsRouter = router({
  summary: reading
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/summary`, tags, summary: 'Money, subscriptions and trials' },
      description:
        'Returns revenue, new trials, conversion and renewals of a period, and the subscriptions of now. The period is from `start_date` to the end of the day of `end_date`, at most 730 days, when both are given; else the last `days` days until now, and everything when `days` is 0, negative or null. Moments without a zone and days are those of the time zone of the service (`TIMEZONE`). The answer is exact at any moment.',
      refuses: [...SALES_PERIOD_REFUSALS],
    })
    .input(fromWire(SalesPeriodQuery))
    .output(toWire(SalesSummary))
    .query(({ ctx, input }) => load(ctx.app, input, 'sales summary', readSalesSummary)),

  trials: reading
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/trials`, tags, summary: 'Trials and registrations' },
      description:
        'Returns registrations and trials of a period, by day and by way of signing in. The period is from `start_date` to the end of the day of `end_date`, at most 730 days, when both are given; else the last `days` days until now, and everything when `days` is 0, negative or null. Moments without a zone and days are those of the time zone of the service (`TIMEZONE`). The answer is exact at any moment.',
      refuses: [...SALES_PERIOD_REFUSALS],
    })
    .input(fromWire(SalesPeriodQuery))
    .output(toWire(TrialsStatsResponse))
    .query(({ ctx, input }) => load(ctx.app, input, 'trials statistics', readTrialStats)),

  subscriptions: reading
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/subscriptions`, tags, summary: 'Subscriptions that were sold' },
      description:
        'Returns the subscriptions that were created in a period and are no trial, by tariff, length and day, and the payments for subscriptions. The period is from `start_date` to the end of the day of `end_date`, at most 730 days, when both are given; else the last `days` days until now, and everything when `days` is 0, negative or null. Moments without a zone and days are those of the time zone of the service (`TIMEZONE`). The answer is exact at any moment.',
      refuses: [...SALES_PERIOD_REFUSALS],
    })
    .input(fromWire(SalesPeriodQuery))
    .output(toWire(SalesStatsResponse))
    .query(({ ctx, input }) => load(ctx.app, input, 'sales statistics', readSubscriptionSales)),

  renewals: reading
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/renewals`, tags, summary: 'Renewals, compared with the period before' },
      description:
        'Returns the payments for subscriptions of users who had paid before the period, compared with the equally long window before it. When everything is asked for, these are all payments of users with more than one. The period is from `start_date` to the end of the day of `end_date`, at most 730 days, when both are given; else the last `days` days until now, and everything when `days` is 0, negative or null. Moments without a zone and days are those of the time zone of the service (`TIMEZONE`). The answer is exact at any moment.',
      refuses: [...SALES_PERIOD_REFUSALS],
    })
    .input(fromWire(SalesPeriodQuery))
    .output(toWire(RenewalsStatsResponse))
    .query(({ ctx, input }) => load(ctx.app, input, 'renewals statistics', readRenewalStats)),

  addons: reading
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/addons`, tags, summary: 'Traffic packages and devices that were sold' },
      description:
        'Returns traffic packages and devices that were bought in a period. What a payment was for is recorded with the payment. The period is from `start_date` to the end of the day of `end_date`, at most 730 days, when both are given; else the last `days` days until now, and everything when `days` is 0, negative or null. Moments without a zone and days are those of the time zone of the service (`TIMEZONE`). The answer is exact at any moment.',
      refuses: [...SALES_PERIOD_REFUSALS],
    })
    .input(fromWire(SalesPeriodQuery))
    .output(toWire(AddonsStatsResponse))
    .query(({ ctx, input }) => load(ctx.app, input, 'add-ons statistics', readAddonStats)),

  deposits: reading
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/deposits`, tags, summary: 'Money from outside' },
      description:
        'Returns completed payments through providers and manual top-ups of a period, by method and day. The period is from `start_date` to the end of the day of `end_date`, at most 730 days, when both are given; else the last `days` days until now, and everything when `days` is 0, negative or null. Moments without a zone and days are those of the time zone of the service (`TIMEZONE`). The answer is exact at any moment.',
      refuses: [...SALES_PERIOD_REFUSALS],
    })
    .input(fromWire(SalesPeriodQuery))
    .output(toWire(DepositsStatsResponse))
    .query(({ ctx, input }) => load(ctx.app, input, 'deposits statistics', readDepositStats)),
});
