import { z } from 'zod';
import { campaignLinks } from '../../domain/campaigns/campaigns.ts';
import {
  campaignNotFound,
  partnerRequired,
  readMyCampaignStats,
  readMyPartnership,
} from '../../domain/campaigns/partner-campaigns.ts';
import { registrantName } from '../../domain/campaigns/rules.ts';
import { alreadyPartner, alreadyPending, applyForPartnership } from '../../domain/referrals/partners/partners.ts';
import { ApplicationFields } from '../admin/partners.schemas.ts';
import { Timestamp } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Partner` (spec 04 section 3.2 and section 5, item 2). */

const PartnerApplicationRequest = z
  .object({
    company_name: z.string().max(255).nullish().describe('Name of the company; null for none.'),
    website_url: z.string().max(500).nullish().describe('Address of the web site; null for none.'),
    messenger_channel: z.string().max(255).nullish().describe('Channel in the messenger; null for none.'),
    description: z.string().max(2_000).nullish().describe('What the applicant plans to do; null for none.'),
    expected_monthly_referrals: z
      .int()
      .min(0)
      .max(2_000_000_000)
      .nullish()
      .describe('Referrals a month that the applicant expects; null when not given.'),
    desired_commission_percent: z
      .int()
      .min(1)
      .max(100)
      .nullish()
      .describe('Commission that the applicant asks for, percent; null when not given.'),
  })
  .meta({
    id: 'PartnerApplicationRequest',
    example: {
      company_name: 'Example Media',
      website_url: 'https://example.com',
      messenger_channel: '@example',
      expected_monthly_referrals: 50,
      desired_commission_percent: 20,
    },
  });

const PartnerApplicationInfo = z
  .object({ id: z.int().describe('Id of the application.'), ...ApplicationFields })
  .meta({ id: 'PartnerApplicationInfo' });

const Sums = {
  registrations_count: z.int().describe('Number of users who registered through the campaign.'),
  referrals_count: z.int().describe('Number of referrals.'),
  earnings_kopeks: z.int().describe('Rewards in kopeks.'),
};

const PartnerStatusResponse = z
  .object({
    partner_status: z.string().describe('`none`, `pending`, `approved` or `rejected`.'),
    commission_percent: z
      .number()
      .nullish()
      .describe('Commission in percent; null for a user who is no partner and has no personal one.'),
    latest_application: PartnerApplicationInfo.nullish().describe('Newest application of the user; null for none.'),
    campaigns: z
      .array(
        z
          .object({
            id: z.int().describe('Id of the campaign.'),
            name: z.string().describe('Name of the campaign that belongs to the partner.'),
            start_parameter: z.string().describe('Part of the links that marks the campaign; unique, case-sensitive.'),
            bonus_type: z.string().describe('What a new registration gets: `balance`, `subscription`, `tariff` or `none`.'),
            balance_bonus_kopeks: z.int().describe('Kopeks added to the balance; for the bonus type `balance`.'),
            subscription_duration_days: z
              .int()
              .nullish()
              .describe('Days of the given subscription; for the bonus type `subscription`. Null for none.'),
            subscription_traffic_gb: z
              .int()
              .nullish()
              .describe('Traffic limit of the given subscription in GB; 0 or null = unlimited.'),
            deep_link: z.string().nullish().describe('Link to the bot with the start parameter; null when it cannot be built.'),
            web_link: z
              .string()
              .nullish()
              .describe('Link to the cabinet with the start parameter; null when no address is configured.'),
            ...Sums,
          })
          .meta({ id: 'PartnerCampaignInfo' }),
      )
      .describe('Campaigns of the partner.'),
  })
  .meta({ id: 'PartnerStatusResponse' });

const CampaignStatsPath = z.object({ campaign_id: z.int().describe('Id of the campaign.') });

const PeriodStats = z
  .object({
    days: z.int().describe('Length in days of the period whose referrals are counted.'),
    referrals_count: z.int().describe('Number of referrals.'),
    earnings_kopeks: z.int().describe('Rewards in kopeks.'),
  })
  .meta({ id: 'PeriodStats' });

const PeriodChange = z
  .object({
    absolute: z.int().describe('Difference of the two periods: current minus previous.'),
    percent: z.number().describe('Difference in percent of the previous period; 0 when the previous value is 0.'),
    trend: z.string().describe('Direction of the difference: `up`, `down` or `stable`.'),
  })
  .meta({ id: 'CabinetPartnersPeriodChange' });

const PartnerCampaignDetailedStats = z
  .object({
    campaign_id: z.int().describe('Id of the campaign.'),
    campaign_name: z.string().describe('Name of the campaign.'),
    ...Sums,
    conversion_rate: z.number().describe('Share of those who bought, in percent; 0 when there are none.'),
    earnings_today: z.int().describe('Rewards since 00:00 UTC, kopeks.'),
    earnings_week: z.int().describe('Rewards of the last 7 days, kopeks.'),
    earnings_month: z.int().describe('Rewards of the last 30 days, kopeks.'),
    daily_stats: z
      .array(
        z
          .object({
            date: z.string().describe('Calendar day in UTC, `YYYY-MM-DD`.'),
            referrals_count: z.int().describe('Number of referrals.'),
            earnings_kopeks: z.int().describe('Rewards in kopeks.'),
          })
          .meta({ id: 'DailyStatItem' }),
      )
      .describe('One entry a day, oldest first; days without anything are zero.'),
    period_comparison: z
      .object({
        current: PeriodStats.describe('Value of the current period.'),
        previous: PeriodStats.describe('Value of the period before it.'),
        referrals_change: PeriodChange.describe('Change of the number.'),
        earnings_change: PeriodChange.describe('Change of the amount.'),
      })
      .meta({ id: 'PeriodComparison' })
      .describe('The last 7 days beside the 7 days before.'),
    top_referrals: z
      .array(
        z
          .object({
            id: z.int().describe('Internal id of the referral.'),
            full_name: z.string().describe('First and last name, else the user name, else a text with the id.'),
            created_at: Timestamp.describe('When the referral registered (UTC).'),
            has_paid: z.boolean().describe('Whether the user ever paid.'),
            is_active: z.boolean().describe('Whether the referral has an active subscription now.'),
            total_earnings_kopeks: z.int().describe('All rewards in kopeks.'),
          })
          .meta({ id: 'CampaignReferralItem' }),
      )
      .describe('The five referrals who gave the highest rewards.'),
  })
  .meta({ id: 'PartnerCampaignDetailedStats' });

const tags: [string] = ['Cabinet Partner'];

export const partnerRouter = router({
  status: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/referral/partner/status', tags, summary: 'Own partner status' },
      description: 'Returns the state as a partner, the newest application, and the active campaigns with their numbers.',
    })
    .output(toWire(PartnerStatusResponse))
    .query(async ({ ctx }) => {
      const { campaigns, ...partnership } = await readMyPartnership(ctx.app, ctx.actor);
      return {
        ...partnership,
        campaigns: campaigns.map((campaign) => ({ ...campaign, ...campaignLinks(ctx.app, campaign.startParameter) })),
      };
    }),

  campaignStats: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/referral/partner/campaigns/{campaign_id}/stats',
        tags,
        summary: 'Statistics of an own campaign',
      },
      description: 'Returns registrations and revenue of one own campaign, also by day. For partners only.',
      refuses: [partnerRequired, campaignNotFound],
    })
    .input(fromWire(CampaignStatsPath))
    .output(toWire(PartnerCampaignDetailedStats))
    .query(async ({ ctx, input }) => {
      const stats = await readMyCampaignStats(ctx.app, ctx.actor, input.campaignId);
      return { ...stats, topReferrals: stats.topReferrals.map((top) => ({ ...top, fullName: registrantName(top) })) };
    }),

  sendApplication: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/referral/partner/apply', tags, summary: 'Apply to become a partner' },
      description:
        'Sends an application to become a partner. One application can be open at a time. Administrators are notified.',
      refuses: [alreadyPartner, alreadyPending],
    })
    .input(fromWire(PartnerApplicationRequest))
    .output(toWire(PartnerApplicationInfo))
    .mutation(({ ctx, input }) => applyForPartnership(ctx.app, ctx.actor, input)),
});
