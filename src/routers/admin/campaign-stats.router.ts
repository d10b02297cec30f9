import { rublesOf } from '../../core/money.ts';
import { campaignLinks } from '../../domain/campaigns/campaign-links.ts';
import { type CampaignPeriod, readCampaignChart, readCampaignStats } from '../../domain/campaigns/campaign-stats.ts';
import { campaignTotals } from '../../domain/campaigns/read-campaigns.ts';
import { toCampaignHead } from '../campaign-wire.ts';
import { adminProcedure, router } from '../trpc.ts';
import { CampaignPath } from '../web/campaigns.schemas.ts';
import {
  AdminCampaignChartDataResponse,
  CampaignStatisticsResponse,
  CampaignsOverviewResponse,
} from './campaign-stats.schemas.ts';

const tags: [string] = ['Cabinet Admin Campaigns'];

function toPeriod(period: CampaignPeriod) {
  return { days: period.days, referrals_count: period.registrations, earnings_kopeks: period.depositsKopeks };
}

export const adminCampaignStatsRouter = router({
  overview: adminProcedure('campaigns:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/campaigns/overview', tags, summary: 'Numbers over all campaigns' } })
    .output(CampaignsOverviewResponse)
    .query(async ({ ctx }) => {
      const totals = await campaignTotals(ctx.app);
      return {
        total: totals.total,
        active: totals.active,
        inactive: totals.total - totals.active,
        total_registrations: totals.registrations,
        total_balance_issued_kopeks: totals.balanceIssuedKopeks,
        total_balance_issued_rubles: rublesOf(totals.balanceIssuedKopeks),
        total_subscription_issued: totals.subscriptionRegistrations,
        total_tariff_issued: totals.tariffRegistrations,
      };
    }),

  stats: adminProcedure('campaigns:stats')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/campaigns/{campaign_id}/stats',
        tags,
        summary: 'What a campaign has brought',
      },
    })
    .input(CampaignPath)
    .output(CampaignStatisticsResponse)
    .query(async ({ ctx, input }) => {
      const stats = await readCampaignStats(ctx.app, input.campaign_id);
      const { campaign } = stats;
      const { deepLink, webLink } = campaignLinks(ctx.app, campaign.startParameter);
      return {
        ...toCampaignHead(campaign),
        registrations: stats.registrations,
        balance_issued_kopeks: stats.balanceIssuedKopeks,
        balance_issued_rubles: rublesOf(stats.balanceIssuedKopeks),
        subscription_issued: stats.subscriptionsIssued,
        last_registration: stats.lastRegistration,
        total_revenue_kopeks: stats.revenueKopeks,
        total_revenue_rubles: rublesOf(stats.revenueKopeks),
        avg_revenue_per_user_kopeks: stats.averageRevenueKopeks,
        avg_revenue_per_user_rubles: rublesOf(stats.averageRevenueKopeks),
        avg_first_payment_kopeks: stats.averageFirstPaymentKopeks,
        avg_first_payment_rubles: rublesOf(stats.averageFirstPaymentKopeks),
        trial_users_count: stats.trialUsers,
        active_trials_count: stats.activeTrials,
        conversion_count: stats.conversions,
        paid_users_count: stats.paidUsers,
        conversion_rate: stats.conversionRate,
        trial_conversion_rate: stats.trialConversionRate,
        deep_link: deepLink,
        web_link: webLink,
      };
    }),

  chart: adminProcedure('campaigns:stats')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/campaigns/{campaign_id}/chart-data',
        tags,
        summary: 'A campaign by day, against the week before, and its best visitors',
      },
    })
    .input(CampaignPath)
    .output(AdminCampaignChartDataResponse)
    .query(async ({ ctx, input }) => {
      const chart = await readCampaignChart(ctx.app, input.campaign_id);
      return {
        campaign_id: chart.campaignId,
        total_deposits_kopeks: chart.depositsKopeks,
        total_spending_kopeks: chart.spentKopeks,
        daily_stats: chart.days.map((day) => ({
          date: day.date,
          referrals_count: day.registrations,
          earnings_kopeks: day.depositsKopeks,
        })),
        period_comparison: {
          current: toPeriod(chart.current),
          previous: toPeriod(chart.previous),
          referrals_change: chart.registrationsChange,
          earnings_change: chart.depositsChange,
        },
        top_registrations: chart.top.map((visitor) => ({
          id: visitor.userId,
          full_name: visitor.name,
          created_at: visitor.registeredAt,
          has_paid: visitor.hasPaid,
          is_active: visitor.isActive,
          total_earnings_kopeks: visitor.kopeks,
        })),
      };
    }),
});
