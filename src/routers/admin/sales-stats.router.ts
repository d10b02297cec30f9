import type { App } from '../../core/app.ts';
import { orFailWith } from '../../domain/insight/load-failure.ts';
import type { PeriodRequest } from '../../domain/insight/sales/period.ts';
import {
  readAddonStats,
  readDepositStats,
  readRenewalStats,
  readSalesSummary,
  readSubscriptionSales,
  readTrialStats,
} from '../../domain/insight/sales/read-sales.ts';
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
    .meta({ openapi: { method: 'GET', path: `${ROOT}/summary`, tags, summary: 'Money, subscriptions and trials' } })
    .input(fromWire(SalesPeriodQuery))
    .output(toWire(SalesSummary))
    .query(({ ctx, input }) => load(ctx.app, input, 'sales summary', readSalesSummary)),

  trials: reading
    .meta({ openapi: { method: 'GET', path: `${ROOT}/trials`, tags, summary: 'Trials and registrations' } })
    .input(fromWire(SalesPeriodQuery))
    .output(toWire(TrialsStatsResponse))
    .query(({ ctx, input }) => load(ctx.app, input, 'trials statistics', readTrialStats)),

  subscriptions: reading
    .meta({ openapi: { method: 'GET', path: `${ROOT}/subscriptions`, tags, summary: 'Subscriptions that were sold' } })
    .input(fromWire(SalesPeriodQuery))
    .output(toWire(SalesStatsResponse))
    .query(({ ctx, input }) => load(ctx.app, input, 'sales statistics', readSubscriptionSales)),

  renewals: reading
    .meta({ openapi: { method: 'GET', path: `${ROOT}/renewals`, tags, summary: 'Renewals, compared with the period before' } })
    .input(fromWire(SalesPeriodQuery))
    .output(toWire(RenewalsStatsResponse))
    .query(({ ctx, input }) => load(ctx.app, input, 'renewals statistics', readRenewalStats)),

  addons: reading
    .meta({ openapi: { method: 'GET', path: `${ROOT}/addons`, tags, summary: 'Traffic packages and devices that were sold' } })
    .input(fromWire(SalesPeriodQuery))
    .output(toWire(AddonsStatsResponse))
    .query(({ ctx, input }) => load(ctx.app, input, 'add-ons statistics', readAddonStats)),

  deposits: reading
    .meta({ openapi: { method: 'GET', path: `${ROOT}/deposits`, tags, summary: 'Money from outside' } })
    .input(fromWire(SalesPeriodQuery))
    .output(toWire(DepositsStatsResponse))
    .query(({ ctx, input }) => load(ctx.app, input, 'deposits statistics', readDepositStats)),
});
