import { z } from 'zod';
import { rublesOf } from '../../core/money.ts';
import { type CampaignPeriod, campaignLinks, readCampaignChart, readCampaignStats } from '../../domain/campaigns/campaigns.ts';
import { campaignNotFound } from '../../domain/campaigns/errors.ts';
import { campaignTotals } from '../../domain/campaigns/read-campaigns.ts';
import { Timestamp } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { CampaignPath, campaignHead } from '../web/campaigns.schemas.ts';
import { fromWire, toWire } from '../wire.ts';

/** Statistics of contract group `Cabinet Admin Campaigns`. */

const CampaignsOverviewResponse = z
  .object({
    total: z.int().describe('Number of advertising campaigns, inactive ones included.'),
    active: z.int().describe('Number of active ones.'),
    inactive: z.int().describe('Number of inactive ones.'),
    total_registrations: z.int().describe('Number of registrations.'),
    total_balance_issued_kopeks: z.int().describe('Kopeks given as bonuses.'),
    total_balance_issued_rubles: z.number().describe('Rubles given as bonuses.'),
    total_subscription_issued: z.int().describe('Number of subscriptions given.'),
    total_tariff_issued: z.int().default(0).describe('Number of tariffs given.'),
  })
  .meta({ id: 'CampaignsOverviewResponse' });

const CampaignStatisticsResponse = z
  .object({
    ...campaignHead,
    registrations: z.int().default(0).describe('Number of users who registered through the campaign.'),
    balance_issued_kopeks: z.int().default(0).describe('Kopeks given as bonuses.'),
    balance_issued_rubles: z.number().default(0).describe('Rubles given as bonuses.'),
    subscription_issued: z.int().default(0).describe('Number of subscriptions given.'),
    last_registration: Timestamp.nullish().describe('When the last user registered (UTC); null when none did.'),
    total_revenue_kopeks: z.int().default(0).describe('Payments of the registrants through providers, kopeks.'),
    total_revenue_rubles: z.number().default(0).describe('Revenue in rubles: kopeks / 100.'),
    avg_revenue_per_user_kopeks: z.int().default(0).describe('Revenue divided by the registrations, kopeks, rounded down.'),
    avg_revenue_per_user_rubles: z.number().default(0).describe('Revenue divided by the registrations, rubles.'),
    avg_first_payment_kopeks: z.int().default(0).describe('Mean of the first payments, kopeks, rounded down.'),
    avg_first_payment_rubles: z.number().default(0).describe('Mean of the first payments, rubles.'),
    trial_users_count: z.int().default(0).describe('Number of registrants with a trial.'),
    active_trials_count: z.int().default(0).describe('Number of trials that are active now.'),
    conversion_count: z.int().default(0).describe('Number of trials that became paid.'),
    paid_users_count: z.int().default(0).describe('Number of registrants who paid.'),
    conversion_rate: z.number().default(0).describe('Share of those who bought, in percent; 0 when there are none.'),
    trial_conversion_rate: z.number().default(0).describe('Trials that became paid in percent of all trials, one decimal.'),
    deep_link: z.string().nullish().describe('Link to the bot with the start parameter; null when it cannot be built.'),
    web_link: z.string().nullish().describe('Link to the cabinet with the start parameter; null when no address is configured.'),
  })
  .meta({ id: 'CampaignStatisticsResponse' });

const AdminDailyStatItem = z
  .object({
    date: z.string().describe('Calendar day in UTC, `YYYY-MM-DD`.'),
    referrals_count: z.int().default(0).describe('Number of registrations on that day.'),
    earnings_kopeks: z.int().default(0).describe('Payments of registrants through providers on that day, kopeks.'),
  })
  .meta({ id: 'AdminDailyStatItem' });

const AdminPeriodStats = z
  .object({
    days: z.int().describe('Length of the period in days.'),
    referrals_count: z.int().default(0).describe('Number of registrations.'),
    earnings_kopeks: z.int().default(0).describe('Payments of registrants through providers, kopeks.'),
  })
  .meta({ id: 'AdminPeriodStats' });

const AdminPeriodChange = z
  .object({
    absolute: z.int().default(0).describe('Difference of the two periods: current minus previous.'),
    percent: z.number().default(0).describe('Difference in percent of the previous period; 0 when the previous value is 0.'),
    trend: z.string().default('stable').describe('Direction of the difference: `up`, `down` or `stable`.'),
  })
  .meta({ id: 'AdminPeriodChange' });

const AdminPeriodComparison = z
  .object({
    current: AdminPeriodStats.describe('Value of the current period.'),
    previous: AdminPeriodStats.describe('Value of the period before it.'),
    referrals_change: AdminPeriodChange.describe('Change of the number.'),
    earnings_change: AdminPeriodChange.describe('Change of the amount.'),
  })
  .meta({ id: 'AdminPeriodComparison' });

const AdminTopRegistrationItem = z
  .object({
    id: z.int().describe('Identifier of the record.'),
    full_name: z.string().describe('First and last name, else the user name, else a text with the id.'),
    created_at: Timestamp.describe('When the record was created (UTC).'),
    has_paid: z.boolean().default(false).describe('Whether the user ever paid.'),
    is_active: z.boolean().default(false).describe('Whether the registrant has an active subscription now.'),
    total_earnings_kopeks: z.int().default(0).describe('All rewards in kopeks.'),
  })
  .meta({ id: 'AdminTopRegistrationItem' });

const AdminCampaignChartDataResponse = z
  .object({
    campaign_id: z.int().describe('Id of the campaign.'),
    total_deposits_kopeks: z.int().default(0).describe('Payments of the registrants through providers, kopeks.'),
    total_spending_kopeks: z.int().default(0).describe('Payments of the registrants for subscriptions, kopeks.'),
    daily_stats: AdminDailyStatItem.array()
      .default([])
      .describe('One entry a day, oldest first; days without anything are zero.'),
    period_comparison: AdminPeriodComparison.describe('The last 7 days beside the 7 days before.'),
    top_registrations: AdminTopRegistrationItem.array().default([]).describe('The five registrants with the highest payments.'),
  })
  .meta({ id: 'AdminCampaignChartDataResponse' });

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
