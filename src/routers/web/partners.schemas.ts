import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';
import { UserPath } from './users.schemas.ts';

/** Contract group `partners` (spec 04 sections 4 and 5). */

const Limit = z.int().min(1).max(200).default(50);
const Offset = z.int().min(0).default(0);
const TopLimit = z.int().min(1).max(100).default(10);
const Days = z.int().min(1).max(365);

export const ReferrerListQuery = z.object({ limit: Limit, offset: Offset, search: z.string().nullish() });
export const ReferrerDetailInput = UserPath.extend({ limit: Limit, offset: Offset });
export const DaysQuery = z.object({ days: Days.default(30) });
export const ReferrerDaysInput = UserPath.extend(DaysQuery.shape);
export const TopReferrersQuery = z.object({ limit: TopLimit, days: Days.nullish() });
export const TopReferralsInput = UserPath.extend({ limit: TopLimit });
export const CompareInput = UserPath.extend({ current_days: Days.default(7), previous_days: Days.default(7) });

export const PartnerReferralCommissionUpdate = z
  .object({ referral_commission_percent: z.int().min(0).max(100).nullish() })
  .meta({ id: 'PartnerReferralCommissionUpdate' });

export const PartnerReferrerItem = z
  .object({
    id: z.int(),
    messenger_id: z.int().nullish(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
    referral_code: z.string().nullish(),
    // Numbers, because an administrator may set a fraction.
    referral_commission_percent: z.number().nullish(),
    effective_referral_commission_percent: z.number(),
    invited_count: z.int(),
    active_referrals: z.int(),
    total_earned_kopeks: z.int(),
    total_earned_rubles: z.number(),
    month_earned_kopeks: z.int(),
    month_earned_rubles: z.number(),
    created_at: Moment,
    last_activity: Moment.nullish(),
  })
  .meta({ id: 'PartnerReferrerItem' });

export const PartnerReferrerListResponse = z
  .object({ items: z.array(PartnerReferrerItem), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'PartnerReferrerListResponse' });

export const PartnerReferralItem = z
  .object({
    id: z.int(),
    messenger_id: z.int().nullish(),
    full_name: z.string(),
    username: z.string().nullish(),
    created_at: Moment,
    last_activity: Moment.nullish(),
    has_made_first_topup: z.boolean(),
    balance_kopeks: z.int(),
    balance_rubles: z.number(),
    total_earned_kopeks: z.int(),
    total_earned_rubles: z.number(),
    topups_count: z.int(),
    days_since_registration: z.int(),
    days_since_activity: z.int().nullish(),
    status: z.string(),
  })
  .meta({ id: 'PartnerReferralItem' });

export const PartnerReferralList = z
  .object({
    items: z.array(PartnerReferralItem),
    total: z.int(),
    limit: z.int(),
    offset: z.int(),
    has_next: z.boolean(),
    has_prev: z.boolean(),
    current_page: z.int(),
    total_pages: z.int(),
  })
  .meta({ id: 'PartnerReferralList' });

export const PartnerReferrerDetail = z
  .object({ referrer: PartnerReferrerItem, referrals: PartnerReferralList })
  .meta({ id: 'PartnerReferrerDetail' });

const KopeksByPeriod = {
  all_time_kopeks: z.int(),
  year_kopeks: z.int(),
  month_kopeks: z.int(),
  week_kopeks: z.int(),
  today_kopeks: z.int(),
};

export const GlobalPartnerStats = z
  .object({
    summary: z
      .object({
        total_referrers: z.int(),
        total_referrals: z.int(),
        paid_referrals: z.int(),
        conversion_rate_percent: z.number(),
        avg_earnings_per_referral_kopeks: z.number(),
      })
      .meta({ id: 'GlobalPartnerSummary' }),
    payouts: z.object(KopeksByPeriod).meta({ id: 'PayoutsByPeriod' }),
    new_referrals: z.object({ today: z.int(), week: z.int(), month: z.int() }).meta({ id: 'NewReferralsByPeriod' }),
  })
  .meta({ id: 'GlobalPartnerStats' });

export const DailyStatsResponse = z
  .object({
    items: z.array(z.object({ date: z.string(), referrals_count: z.int(), earnings_kopeks: z.int() }).meta({ id: 'DailyStats' })),
    days: z.int(),
    user_id: z.int().nullish(),
  })
  .meta({ id: 'DailyStatsResponse' });

const TopName = {
  id: z.int(),
  messenger_id: z.int().nullish(),
  username: z.string().nullish(),
  first_name: z.string().nullish(),
  last_name: z.string().nullish(),
  full_name: z.string(),
};

export const TopReferrersResponse = z
  .object({
    items: z.array(
      z
        .object({ ...TopName, referral_code: z.string().nullish(), referrals_count: z.int(), total_earnings_kopeks: z.int() })
        .meta({ id: 'TopReferrerItem' }),
    ),
    days: z.int().nullish(),
  })
  .meta({ id: 'TopReferrersResponse' });

export const TopReferralsResponse = z
  .object({
    items: z.array(
      z
        .object({
          ...TopName,
          created_at: Moment,
          has_made_first_topup: z.boolean(),
          is_active: z.boolean(),
          total_earnings_kopeks: z.int(),
        })
        .meta({ id: 'TopReferralItem' }),
    ),
    user_id: z.int(),
  })
  .meta({ id: 'TopReferralsResponse' });

export const ReferrerDetailedStats = z
  .object({
    user_id: z.int(),
    summary: z
      .object({
        total_referrals: z.int(),
        paid_referrals: z.int(),
        active_referrals: z.int(),
        conversion_to_paid_percent: z.number(),
        conversion_to_active_percent: z.number(),
        avg_earnings_per_referral_kopeks: z.number(),
      })
      .meta({ id: 'ReferrerSummary' }),
    earnings: z.object(KopeksByPeriod).meta({ id: 'EarningsByPeriod' }),
    referrals_count: z
      .object({ all_time: z.int(), year: z.int(), month: z.int(), week: z.int(), today: z.int() })
      .meta({ id: 'ReferralsCountByPeriod' }),
  })
  .meta({ id: 'ReferrerDetailedStats' });

const PeriodData = z
  .object({ days: z.int(), start: z.string(), end: z.string(), referrals_count: z.int(), earnings_kopeks: z.int() })
  .meta({ id: 'PeriodData' });

const ChangeData = z.object({ absolute: z.int(), percent: z.number(), trend: z.string() }).meta({ id: 'ChangeData' });

export const PeriodComparisonResponse = z
  .object({
    current_period: PeriodData,
    previous_period: PeriodData,
    change: z.object({ referrals: ChangeData, earnings: ChangeData }).meta({ id: 'PeriodChange' }),
    user_id: z.int().nullish(),
  })
  .meta({ id: 'WebPartnersPeriodComparisonResponse' });
