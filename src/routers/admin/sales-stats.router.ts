import type { App } from '../../core/app.ts';
import { orFailWith } from '../../domain/insight/load-failure.ts';
import type { PeriodRequest } from '../../domain/insight/sales/period.ts';
import { SALES_PERIOD_REFUSALS } from '../../domain/insight/sales/period.ts';
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
import {
  AddonsStatsResponse,
  DepositsStatsResponse,
  RenewalsStatsResponse,
  SalesPeriodQuery,
  SalesStatsResponse,
  SalesSummary,
  TrialsStatsResponse,
} from './sales-stats.schemas.ts';

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
