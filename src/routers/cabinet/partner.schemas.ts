import { z } from 'zod';
import { ApplicationFields } from '../admin/partners.schemas.ts';
import { Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Partner` (spec 04 section 3.2 and section 5, item 2). */

export const PartnerApplicationRequest = z
  .object({
    company_name: z.string().max(255).nullish(),
    website_url: z.string().max(500).nullish(),
    messenger_channel: z.string().max(255).nullish(),
    description: z.string().max(2_000).nullish(),
    expected_monthly_referrals: z.int().min(0).max(2_000_000_000).nullish(),
    desired_commission_percent: z.int().min(1).max(100).nullish(),
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

export const PartnerApplicationInfo = z.object({ id: z.int(), ...ApplicationFields }).meta({ id: 'PartnerApplicationInfo' });

const Sums = { registrations_count: z.int(), referrals_count: z.int(), earnings_kopeks: z.int() };

export const PartnerStatusResponse = z
  .object({
    partner_status: z.string(),
    commission_percent: z.number().nullish(),
    latest_application: PartnerApplicationInfo.nullish(),
    campaigns: z.array(
      z
        .object({
          id: z.int(),
          name: z.string(),
          start_parameter: z.string(),
          bonus_type: z.string(),
          balance_bonus_kopeks: z.int(),
          subscription_duration_days: z.int().nullish(),
          subscription_traffic_gb: z.int().nullish(),
          deep_link: z.string().nullish(),
          web_link: z.string().nullish(),
          ...Sums,
        })
        .meta({ id: 'PartnerCampaignInfo' }),
    ),
  })
  .meta({ id: 'PartnerStatusResponse' });

export const CampaignStatsPath = z.object({ campaign_id: z.int() });

const PeriodStats = z.object({ days: z.int(), referrals_count: z.int(), earnings_kopeks: z.int() }).meta({ id: 'PeriodStats' });

const PeriodChange = z
  .object({ absolute: z.int(), percent: z.number(), trend: z.string() })
  .meta({ id: 'CabinetPartnersPeriodChange' });

export const PartnerCampaignDetailedStats = z
  .object({
    campaign_id: z.int(),
    campaign_name: z.string(),
    ...Sums,
    conversion_rate: z.number(),
    earnings_today: z.int(),
    earnings_week: z.int(),
    earnings_month: z.int(),
    daily_stats: z.array(
      z.object({ date: z.string(), referrals_count: z.int(), earnings_kopeks: z.int() }).meta({ id: 'DailyStatItem' }),
    ),
    period_comparison: z
      .object({ current: PeriodStats, previous: PeriodStats, referrals_change: PeriodChange, earnings_change: PeriodChange })
      .meta({ id: 'PeriodComparison' }),
    top_referrals: z.array(
      z
        .object({
          id: z.int(),
          full_name: z.string(),
          created_at: Moment,
          has_paid: z.boolean(),
          is_active: z.boolean(),
          total_earnings_kopeks: z.int(),
        })
        .meta({ id: 'CampaignReferralItem' }),
    ),
  })
  .meta({ id: 'PartnerCampaignDetailedStats' });
