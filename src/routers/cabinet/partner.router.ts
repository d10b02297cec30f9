import type { App } from '../../core/app.ts';
import { campaignLinks } from '../../domain/campaigns/campaign-links.ts';
import { readOwnCampaignStats, readOwnPartnership } from '../../domain/campaigns/partner-stats.ts';
import type { PartnerCampaign, PartnerCampaignReferral, PartnerCampaignStats } from '../../domain/campaigns/partner-types.ts';
import { applyForPartnership } from '../../domain/referrals/partners/apply.ts';
import type { WindowSums } from '../../domain/referrals/stats/types.ts';
import { toApplication, toCampaignSums } from '../partner-wire.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { toDailyItems } from '../web/partner-answers.ts';
import {
  CampaignStatsPath,
  PartnerApplicationInfo,
  PartnerApplicationRequest,
  PartnerCampaignDetailedStats,
  PartnerStatusResponse,
} from './partner.schemas.ts';

const tags: [string] = ['Cabinet Partner'];

function toCampaign(app: App, campaign: PartnerCampaign) {
  const { deepLink, webLink } = campaignLinks(app, campaign.startParameter);
  return {
    id: campaign.id,
    name: campaign.name,
    start_parameter: campaign.startParameter,
    bonus_type: campaign.bonusType,
    balance_bonus_kopeks: campaign.balanceBonusKopeks,
    subscription_duration_days: campaign.subscriptionDurationDays,
    subscription_traffic_gb: campaign.subscriptionTrafficGb,
    deep_link: deepLink,
    web_link: webLink,
    ...toCampaignSums(campaign),
  };
}

/** First and last name, else username, else `User #{id}` (spec 04 section 0.3). */
const nameOf = ({ id, firstName, lastName, username }: PartnerCampaignReferral) =>
  [firstName, lastName].filter(Boolean).join(' ') || username || `User #${id}`;

function toDetailedStats(stats: PartnerCampaignStats) {
  const { days, current, previous, referralsChange, earningsChange } = stats.comparison;
  const period = (sums: WindowSums) => ({ days, referrals_count: sums.referrals, earnings_kopeks: sums.earnedKopeks });
  return {
    campaign_id: stats.campaignId,
    campaign_name: stats.campaignName,
    ...toCampaignSums(stats),
    conversion_rate: stats.conversionRate,
    earnings_today: stats.earnedToday,
    earnings_week: stats.earnedWeek,
    earnings_month: stats.earnedMonth,
    daily_stats: toDailyItems(stats.days),
    period_comparison: {
      current: period(current),
      previous: period(previous),
      referrals_change: referralsChange,
      earnings_change: earningsChange,
    },
    top_referrals: stats.topReferrals.map((top) => ({
      id: top.id,
      full_name: nameOf(top),
      created_at: top.createdAt,
      has_paid: top.hasPaid,
      is_active: top.isActive,
      total_earnings_kopeks: top.earnedKopeks,
    })),
  };
}

export const partnerRouter = router({
  status: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/referral/partner/status', tags, summary: 'Where I stand as a partner' } })
    .output(PartnerStatusResponse)
    .query(async ({ ctx }) => {
      const { partnerStatus, commissionPercent, latestApplication, campaigns } = await readOwnPartnership(ctx.app, ctx.actor);
      return {
        partner_status: partnerStatus,
        commission_percent: commissionPercent,
        latest_application: latestApplication && toApplication(latestApplication),
        campaigns: campaigns.map((campaign) => toCampaign(ctx.app, campaign)),
      };
    }),

  campaignStats: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/referral/partner/campaigns/{campaign_id}/stats',
        tags,
        summary: 'What one of my campaigns brought',
      },
    })
    .input(CampaignStatsPath)
    .output(PartnerCampaignDetailedStats)
    .query(async ({ ctx, input }) => toDetailedStats(await readOwnCampaignStats(ctx.app, ctx.actor, input.campaign_id))),

  sendApplication: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: '/cabinet/referral/partner/apply', tags, summary: 'Ask to become a partner' } })
    .input(PartnerApplicationRequest)
    .output(PartnerApplicationInfo)
    .mutation(async ({ ctx, input }) =>
      toApplication(
        await applyForPartnership(ctx.app, ctx.actor, {
          companyName: input.company_name ?? null,
          websiteUrl: input.website_url ?? null,
          messengerChannel: input.messenger_channel ?? null,
          description: input.description ?? null,
          expectedMonthlyReferrals: input.expected_monthly_referrals ?? null,
          desiredCommissionPercent: input.desired_commission_percent ?? null,
        }),
      ),
    ),
});
