import { rublesOf } from '../../core/money.ts';
import { type CampaignPeriod, campaignLinks, readCampaignChart, readCampaignStats } from '../../domain/campaigns/campaigns.ts';
import { campaignNotFound } from '../../domain/campaigns/errors.ts';
import { campaignTotals } from '../../domain/campaigns/read-campaigns.ts';
import { adminProcedure, router } from '../trpc.ts';
import { CampaignPath } from '../web/campaigns.schemas.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  AdminCampaignChartDataResponse,
  CampaignStatisticsResponse,
  CampaignsOverviewResponse,
} from './campaign-stats.schemas.ts';

const tags: [string] = ['Cabinet Admin Campaigns'];

/** The contract names registrations and deposits like those of a referrer. */
const asReferrals = (sums: { registrations: number; depositsKopeks: number }) => ({
  referralsCount: sums.registrations,
  earningsKopeks: sums.depositsKopeks,
});

const toPeriod = (period: CampaignPeriod) => ({ days: period.days, ...asReferrals(period) });

export const adminCampaignStatsRouter = router({
  overview: adminProcedure('campaigns:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/campaigns/overview', tags, summary: 'Totals of all campaigns' },
      description: 'Counts campaigns, registrations and bonuses.',
    })
    .output(toWire(CampaignsOverviewResponse))
    .query(async ({ ctx }) => {
      const totals = await campaignTotals(ctx.app);
      return {
        ...totals,
        inactive: totals.total - totals.active,
        totalBalanceIssuedRubles: rublesOf(totals.totalBalanceIssuedKopeks),
      };
    }),

  stats: adminProcedure('campaigns:stats')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/campaigns/{campaign_id}/stats',
        tags,
        summary: 'Statistics of a campaign',
      },
      description: 'Returns registrations, trials, payers, revenue and conversion of a campaign.',
      refuses: [campaignNotFound],
    })
    .input(fromWire(CampaignPath))
    .output(toWire(CampaignStatisticsResponse))
    .query(async ({ ctx, input }) => {
      const stats = await readCampaignStats(ctx.app, input.campaignId);
      return {
        ...stats,
        ...campaignLinks(ctx.app, stats.startParameter),
        balanceIssuedRubles: rublesOf(stats.balanceIssuedKopeks),
        totalRevenueRubles: rublesOf(stats.totalRevenueKopeks),
        avgRevenuePerUserRubles: rublesOf(stats.avgRevenuePerUserKopeks),
        avgFirstPaymentRubles: rublesOf(stats.avgFirstPaymentKopeks),
      };
    }),

  chart: adminProcedure('campaigns:stats')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/campaigns/{campaign_id}/chart-data',
        tags,
        summary: 'Statistics of a campaign by day, compared with the week before, and its top registrants',
      },
      description:
        'Returns registrations and payments of the last 30 days by day, the last 7 days beside the 7 before, and the registrants with the highest payments.',
      refuses: [campaignNotFound],
    })
    .input(fromWire(CampaignPath))
    .output(toWire(AdminCampaignChartDataResponse))
    .query(async ({ ctx, input }) => {
      const chart = await readCampaignChart(ctx.app, input.campaignId);
      return {
        campaignId: chart.campaignId,
        totalDepositsKopeks: chart.depositsKopeks,
        totalSpendingKopeks: chart.spentKopeks,
        dailyStats: chart.days.map((day) => ({ date: day.date, ...asReferrals(day) })),
        periodComparison: {
          current: toPeriod(chart.current),
          previous: toPeriod(chart.previous),
          referralsChange: chart.registrationsChange,
          earningsChange: chart.depositsChange,
        },
        topRegistrations: chart.top.map(({ kopeks, ...top }) => ({ ...top, totalEarningsKopeks: kopeks })),
      };
    }),
});
