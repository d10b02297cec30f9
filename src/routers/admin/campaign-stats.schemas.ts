import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';
import { campaignHead } from '../web/campaigns.schemas.ts';

/** Statistics of contract group `Cabinet Admin Campaigns` (spec 04 section 6.6). */

export const CampaignsOverviewResponse = z
  .object({
    total: z.int(),
    active: z.int(),
    inactive: z.int(),
    total_registrations: z.int(),
    total_balance_issued_kopeks: z.int(),
    total_balance_issued_rubles: z.number(),
    total_subscription_issued: z.int(),
    total_tariff_issued: z.int().default(0),
  })
  .meta({ id: 'CampaignsOverviewResponse' });

export const CampaignStatisticsResponse = z
  .object({
    ...campaignHead,
    registrations: z.int().default(0),
    balance_issued_kopeks: z.int().default(0),
    balance_issued_rubles: z.number().default(0),
    subscription_issued: z.int().default(0),
    last_registration: Moment.nullish(),
    total_revenue_kopeks: z.int().default(0),
    total_revenue_rubles: z.number().default(0),
    avg_revenue_per_user_kopeks: z.int().default(0),
    avg_revenue_per_user_rubles: z.number().default(0),
    avg_first_payment_kopeks: z.int().default(0),
    avg_first_payment_rubles: z.number().default(0),
    trial_users_count: z.int().default(0),
    active_trials_count: z.int().default(0),
    conversion_count: z.int().default(0),
    paid_users_count: z.int().default(0),
    conversion_rate: z.number().default(0),
    trial_conversion_rate: z.number().default(0),
    deep_link: z.string().nullish(),
    web_link: z.string().nullish(),
  })
  .meta({ id: 'CampaignStatisticsResponse' });

export const AdminDailyStatItem = z
  .object({ date: z.string(), referrals_count: z.int().default(0), earnings_kopeks: z.int().default(0) })
  .meta({ id: 'AdminDailyStatItem' });

export const AdminPeriodStats = z
  .object({ days: z.int(), referrals_count: z.int().default(0), earnings_kopeks: z.int().default(0) })
  .meta({ id: 'AdminPeriodStats' });

export const AdminPeriodChange = z
  .object({ absolute: z.int().default(0), percent: z.number().default(0), trend: z.string().default('stable') })
  .meta({ id: 'AdminPeriodChange' });

export const AdminPeriodComparison = z
  .object({
    current: AdminPeriodStats,
    previous: AdminPeriodStats,
    referrals_change: AdminPeriodChange,
    earnings_change: AdminPeriodChange,
  })
  .meta({ id: 'AdminPeriodComparison' });

export const AdminTopRegistrationItem = z
  .object({
    id: z.int(),
    full_name: z.string(),
    created_at: Moment,
    has_paid: z.boolean().default(false),
    is_active: z.boolean().default(false),
    total_earnings_kopeks: z.int().default(0),
  })
  .meta({ id: 'AdminTopRegistrationItem' });

export const AdminCampaignChartDataResponse = z
  .object({
    campaign_id: z.int(),
    total_deposits_kopeks: z.int().default(0),
    total_spending_kopeks: z.int().default(0),
    daily_stats: AdminDailyStatItem.array().default([]),
    period_comparison: AdminPeriodComparison,
    top_registrations: AdminTopRegistrationItem.array().default([]),
  })
  .meta({ id: 'AdminCampaignChartDataResponse' });
