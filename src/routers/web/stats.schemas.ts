import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `stats` (spec 06 sections 4.1 and 4.2). */

export const StatsOverviewResponse = z
  .object({
    users: z
      .object({ total: z.int(), active: z.int(), blocked: z.int(), balance_kopeks: z.int(), balance_rubles: z.number() })
      .meta({ id: 'StatsOverviewUsers' }),
    subscriptions: z.object({ active: z.int(), expired: z.int() }).meta({ id: 'StatsOverviewSubscriptions' }),
    support: z.object({ open_tickets: z.int() }).meta({ id: 'StatsOverviewSupport' }),
    payments: z
      .object({ today_kopeks: z.int(), today_rubles: z.number(), uncounted_since: Moment.optional() })
      .meta({ id: 'StatsOverviewPayments' }),
  })
  .meta({ id: 'StatsOverviewResponse' });

const UserStats = z
  .object({
    total_users: z.int(),
    active_users: z.int(),
    blocked_users: z.int(),
    new_today: z.int(),
    new_week: z.int(),
    new_month: z.int(),
  })
  .meta({ id: 'StatsUsers' });

const SubscriptionStats = z
  .object({
    total_subscriptions: z.int(),
    active_subscriptions: z.int(),
    trial_subscriptions: z.int(),
    paid_subscriptions: z.int(),
    purchased_today: z.int(),
    purchased_week: z.int(),
    purchased_month: z.int(),
    trial_to_paid_conversion: z.number(),
    renewals_count: z.int(),
    trial_statistics: z
      .object({ used_trials: z.int(), active_trials: z.int(), resettable_trials: z.int() })
      .meta({ id: 'StatsTrials' }),
  })
  .meta({ id: 'StatsSubscriptions' });

const CountAndAmount = z.object({ count: z.int(), amount: z.int() }).meta({ id: 'StatsCountAndAmount' });

const TransactionStats = z
  .object({
    period: z.object({ start_date: Moment, end_date: Moment }).meta({ id: 'StatsPeriod' }),
    totals: z
      .object({
        income_kopeks: z.int(),
        income_rubles: z.number(),
        expenses_kopeks: z.int(),
        expenses_rubles: z.number(),
        profit_kopeks: z.int(),
        profit_rubles: z.number(),
        subscription_income_kopeks: z.int(),
        subscription_income_rubles: z.number(),
      })
      .meta({ id: 'StatsTotals' }),
    today: z
      .object({ transactions_count: z.int(), income_kopeks: z.int(), income_rubles: z.number() })
      .meta({ id: 'StatsToday' }),
    by_type: z.record(z.string(), CountAndAmount),
    by_payment_method: z.record(z.string(), CountAndAmount),
  })
  .meta({ id: 'StatsTransactions' });

const TopReferrer = z
  .object({
    user_id: z.int(),
    display_name: z.string(),
    username: z.string().nullable(),
    messenger_id: z.int().nullable(),
    total_earned_kopeks: z.int(),
    referrals_count: z.int(),
  })
  .meta({ id: 'StatsTopReferrer' });

const ReferralStats = z
  .object({
    users_with_referrals: z.int(),
    active_referrers: z.int(),
    total_paid_kopeks: z.int(),
    total_paid_rubles: z.number(),
    today_earnings_kopeks: z.int(),
    today_earnings_rubles: z.number(),
    week_earnings_kopeks: z.int(),
    week_earnings_rubles: z.number(),
    month_earnings_kopeks: z.int(),
    month_earnings_rubles: z.number(),
    top_referrers: TopReferrer.array(),
  })
  .meta({ id: 'StatsReferrals' });

export const StatsFullResponse = z
  .object({
    overview: StatsOverviewResponse,
    users: UserStats,
    subscriptions: SubscriptionStats,
    transactions: TransactionStats,
    referrals: ReferralStats,
  })
  .meta({ id: 'StatsFullResponse' });
