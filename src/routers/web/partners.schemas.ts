import { z } from 'zod';
import { Timestamp } from '../shared.schemas.ts';
import { UserPath } from './users.schemas.ts';

/** Contract group `partners`. */

const Limit = z.int().min(1).max(200).default(50);
const Offset = z.int().min(0).default(0);
const TopLimit = z.int().min(1).max(100).default(10);
const Days = z.int().min(1).max(365);

export const ReferrerListQuery = z.object({
  limit: Limit.describe('Greatest number of records in the answer.'),
  offset: Offset.describe('Number of records to skip.'),
  search: z
    .string()
    .nullish()
    .describe('Text in user name, first or last name or referral code; digits also match the messenger id or the id.'),
});
export const ReferrerDetailInput = UserPath.extend({
  limit: Limit.describe('Greatest number of records in the answer.'),
  offset: Offset.describe('Number of records to skip.'),
});
export const DaysQuery = z.object({ days: Days.default(30).describe('Number of days that are listed, today included.') });
export const GlobalStatsQuery = z.object({
  days: Days.default(30).describe('Accepted for compatibility; the periods of the answer are fixed.'),
});
export const ReferrerDaysInput = UserPath.extend(DaysQuery.shape);
export const TopReferrersQuery = z.object({
  limit: TopLimit.describe('Greatest number of records in the answer.'),
  days: Days.nullish().describe('Only rewards of the last days; absent for all time.'),
});
export const TopReferralsInput = UserPath.extend({ limit: TopLimit.describe('Greatest number of records in the answer.') });
export const CompareInput = UserPath.extend({
  current_days: Days.default(7).describe('Length of the current period in days.'),
  previous_days: Days.default(7).describe('Length of the period before in days.'),
});

export const PartnerReferralCommissionUpdate = z
  .object({
    referral_commission_percent: z
      .int()
      .min(0)
      .max(100)
      .nullish()
      .describe('Personal commission in percent; null or absent removes it, so that the general one applies.'),
  })
  .meta({ id: 'PartnerReferralCommissionUpdate' });

export const PartnerReferrerItem = z
  .object({
    id: z.int().describe('Internal id of the referrer.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    last_name: z.string().nullish().describe('Last name; null when unknown.'),
    referral_code: z.string().nullish().describe('Code of the account for invitations; null while it has none.'),
    // Numbers, because an administrator may set a fraction.
    referral_commission_percent: z.number().nullish().describe('Personal commission in percent; null for the general one.'),
    effective_referral_commission_percent: z
      .number()
      .describe('Commission that applies in percent: the personal one, else the general one.'),
    invited_count: z.int().describe('Number of referrals.'),
    active_referrals: z.int().describe('Number of referrals with an active subscription.'),
    total_earned_kopeks: z.int().describe('All rewards in kopeks.'),
    total_earned_rubles: z.number().describe('All rewards in rubles.'),
    month_earned_kopeks: z.int().describe('Rewards of the last 30 days in kopeks.'),
    month_earned_rubles: z.number().describe('Rewards of the last 30 days in rubles.'),
    created_at: Timestamp.describe('When the account of the referrer was created (UTC).'),
    last_activity: Timestamp.nullish().describe('When the user last used the service (UTC); null when never.'),
  })
  .meta({ id: 'PartnerReferrerItem' });

export const PartnerReferrerListResponse = z
  .object({
    items: z.array(PartnerReferrerItem).describe('A page of referrers, newest first.'),
    total: z.int().describe('Number of referrers that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'PartnerReferrerListResponse' });

const PartnerReferralItem = z
  .object({
    id: z.int().describe('Internal id of the referral.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    full_name: z.string().describe('First and last name, else the user name, else a text with the id.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    created_at: Timestamp.describe('When the invited user registered (UTC).'),
    last_activity: Timestamp.nullish().describe('When the user last used the service (UTC); null when never.'),
    has_made_first_topup: z.boolean().describe('Whether the user ever topped up the balance.'),
    balance_kopeks: z.int().describe('Balance of the referral in kopeks.'),
    balance_rubles: z.number().describe('Balance in rubles: kopeks / 100.'),
    total_earned_kopeks: z.int().describe('All rewards in kopeks.'),
    total_earned_rubles: z.number().describe('All rewards in rubles.'),
    topups_count: z.int().describe('Number of completed top-ups of the referral.'),
    days_since_registration: z.int().describe('Whole days since the registration.'),
    days_since_activity: z.int().nullish().describe('Whole days since the last activity; null when there was none.'),
    status: z.string().describe('`active` when the last activity of the referral is at most 30 days ago, else `inactive`.'),
  })
  .meta({ id: 'PartnerReferralItem' });

const PartnerReferralList = z
  .object({
    items: z.array(PartnerReferralItem).describe('A page of users whom the referrer invited, newest first.'),
    total: z.int().describe('Number of users whom the referrer invited, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
    has_next: z.boolean().describe('Whether there is a page after this one.'),
    has_prev: z.boolean().describe('Whether there is a page before this one.'),
    current_page: z.int().describe('Number of this page, from 1.'),
    total_pages: z.int().describe('Number of pages.'),
  })
  .meta({ id: 'PartnerReferralList' });

export const PartnerReferrerDetail = z
  .object({
    referrer: PartnerReferrerItem.describe('The referrer.'),
    referrals: PartnerReferralList.describe('The referrals, newest first.'),
  })
  .meta({ id: 'PartnerReferrerDetail' });

const KopeksByPeriod = {
  all_time_kopeks: z.int().describe('Of all time, kopeks.'),
  year_kopeks: z.int().describe('Of the last 365 days, kopeks.'),
  month_kopeks: z.int().describe('Of the last 30 days, kopeks.'),
  week_kopeks: z.int().describe('Of the last 7 days, kopeks.'),
  today_kopeks: z.int().describe('Since 00:00 UTC, kopeks.'),
};

export const GlobalPartnerStats = z
  .object({
    summary: z
      .object({
        total_referrers: z.int().describe('Number of users who have referrals.'),
        total_referrals: z.int().describe('Number of all referrals.'),
        paid_referrals: z.int().describe('Number of referrals who topped up.'),
        conversion_rate_percent: z.number().describe('Referrals who topped up in percent of all, two decimals.'),
        avg_earnings_per_referral_kopeks: z.number().describe('Rewards divided by the referrals who topped up, kopeks.'),
      })
      .meta({ id: 'GlobalPartnerSummary' })
      .describe('Totals.'),
    payouts: z.object(KopeksByPeriod).meta({ id: 'PayoutsByPeriod' }).describe('Rewards by period.'),
    new_referrals: z
      .object({
        today: z.int().describe('Since 00:00 UTC.'),
        week: z.int().describe('Of the last 7 days.'),
        month: z.int().describe('Of the last 30 days.'),
      })
      .meta({ id: 'NewReferralsByPeriod' })
      .describe('New referrals by period.'),
  })
  .meta({ id: 'GlobalPartnerStats' });

export const DailyStatsResponse = z
  .object({
    items: z
      .array(
        z
          .object({
            date: z.string().describe('Calendar day in UTC, `YYYY-MM-DD`.'),
            referrals_count: z.int().describe('Number of referrals.'),
            earnings_kopeks: z.int().describe('Rewards in kopeks.'),
          })
          .meta({ id: 'DailyStats' }),
      )
      .describe('Days with their new referrals and rewards, today included; days without any are zero.'),
    days: z.int().describe('Number of days that the answer covers, today included.'),
    user_id: z.int().nullish().describe('Internal id of the user; null where no user is known.'),
  })
  .meta({ id: 'DailyStatsResponse' });

const TopName = {
  id: z.int().describe('Internal id of the referrer or referral.'),
  messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
  username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
  first_name: z.string().nullish().describe('First name; null when unknown.'),
  last_name: z.string().nullish().describe('Last name; null when unknown.'),
  full_name: z.string().describe('First and last name, else the user name, else a text with the id.'),
};

export const TopReferrersResponse = z
  .object({
    items: z
      .array(
        z
          .object({
            ...TopName,
            referral_code: z.string().nullish().describe('Code of the account for invitations; null while it has none.'),
            referrals_count: z.int().describe('Number of referrals.'),
            total_earnings_kopeks: z.int().describe('All rewards in kopeks.'),
          })
          .meta({ id: 'TopReferrerItem' }),
      )
      .describe('Referrers with the greatest rewards, greatest first.'),
    days: z.int().nullish().describe('Number of days before now whose rewards are counted; null for all time.'),
  })
  .meta({ id: 'TopReferrersResponse' });

export const TopReferralsResponse = z
  .object({
    items: z
      .array(
        z
          .object({
            ...TopName,
            created_at: Timestamp.describe('When the invited user registered (UTC).'),
            has_made_first_topup: z.boolean().describe('Whether the user ever topped up the balance.'),
            is_active: z.boolean().describe('Whether the referral has an active subscription now.'),
            total_earnings_kopeks: z.int().describe('All rewards in kopeks.'),
          })
          .meta({ id: 'TopReferralItem' }),
      )
      .describe('Referrals from whom the referrer earned most, greatest rewards first.'),
    user_id: z.int().describe('Internal id of the user.'),
  })
  .meta({ id: 'TopReferralsResponse' });

export const ReferrerDetailedStats = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    summary: z
      .object({
        total_referrals: z.int().describe('Number of all referrals.'),
        paid_referrals: z.int().describe('Number of referrals who topped up.'),
        active_referrals: z.int().describe('Number of referrals with an active subscription.'),
        conversion_to_paid_percent: z.number().describe('Referrals who topped up in percent of all, two decimals.'),
        conversion_to_active_percent: z
          .number()
          .describe('Referrals with an active subscription in percent of all, two decimals.'),
        avg_earnings_per_referral_kopeks: z.number().describe('Rewards divided by the referrals who topped up, kopeks.'),
      })
      .meta({ id: 'ReferrerSummary' })
      .describe('Totals.'),
    earnings: z.object(KopeksByPeriod).meta({ id: 'EarningsByPeriod' }).describe('Rewards by period.'),
    referrals_count: z
      .object({
        all_time: z.int().describe('Of all time.'),
        year: z.int().describe('Of the last 365 days.'),
        month: z.int().describe('Of the last 30 days.'),
        week: z.int().describe('Of the last 7 days.'),
        today: z.int().describe('Since 00:00 UTC.'),
      })
      .meta({ id: 'ReferralsCountByPeriod' })
      .describe('New referrals by period.'),
  })
  .meta({ id: 'ReferrerDetailedStats' });

const PeriodData = z
  .object({
    days: z.int().describe('Number of days whose referrals and rewards are counted.'),
    start: z.string().describe('Start of the period (UTC, inclusive).'),
    end: z.string().describe('End of the period (UTC, exclusive).'),
    referrals_count: z.int().describe('Number of referrals.'),
    earnings_kopeks: z.int().describe('Rewards in kopeks.'),
  })
  .meta({ id: 'PeriodData' });

const ChangeData = z
  .object({
    absolute: z.int().describe('Difference of the two periods: current minus previous.'),
    percent: z.number().describe('Difference in percent of the previous period; 0 when the previous value is 0.'),
    trend: z.string().describe('Direction of the difference: `up`, `down` or `stable`.'),
  })
  .meta({ id: 'ChangeData' });

export const PeriodComparisonResponse = z
  .object({
    current_period: PeriodData.describe('The last `current_days` days.'),
    previous_period: PeriodData.describe('The `previous_days` days before them.'),
    change: z
      .object({
        referrals: ChangeData.describe('Change of the number of referrals.'),
        earnings: ChangeData.describe('Change of the rewards.'),
      })
      .meta({ id: 'PeriodChange' })
      .describe('Difference between the two periods.'),
    user_id: z.int().nullish().describe('Internal id of the user; null where no user is known.'),
  })
  .meta({ id: 'WebPartnersPeriodComparisonResponse' });
