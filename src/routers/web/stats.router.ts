import { z } from 'zod';
import { rublesOf } from '../../core/money.ts';
import { type FullStats, type Overview, readFullStats, readOverview } from '../../domain/insight/read-stats.ts';
import { Timestamp } from '../shared.schemas.ts';
import { router, webProcedure } from '../trpc.ts';
import { toWire } from '../wire.ts';

/** Contract group `stats`. */

const StatsOverviewResponse = z
  .object({
    users: z
      .object({
        total: z.int().describe('Number of users of any status.'),
        active: z.int().describe('Number of users with status `active`.'),
        blocked: z.int().describe('Number of users with status `blocked`; deleted users are not counted.'),
        balance_kopeks: z.int().describe('Sum of the balances of all users, kopeks.'),
        balance_rubles: z.number().describe('Sum of the balances of all users, rubles.'),
      })
      .meta({ id: 'StatsOverviewUsers' })
      .describe('Users and their money.'),
    subscriptions: z
      .object({
        active: z.int().describe('Number of subscriptions with status `active`; their end is not looked at.'),
        expired: z.int().describe('Number of subscriptions with status `expired`.'),
      })
      .meta({ id: 'StatsOverviewSubscriptions' })
      .describe('Subscriptions by their stored status.'),
    support: z
      .object({ open_tickets: z.int().describe('Number of tickets with status `open` or `answered`.') })
      .meta({ id: 'StatsOverviewSupport' })
      .describe('Open work of the support.'),
    payments: z
      .object({
        today_kopeks: z.int().describe('Completed top-ups through providers since 00:00 UTC, kopeks.'),
        today_rubles: z.number().describe('Completed top-ups through providers since 00:00 UTC, rubles.'),
        uncounted_since: Timestamp.optional().describe(
          'Only while so many transactions are not counted yet, as after a restore or an import, that the sums of this answer leave some out: when the first of those was made.',
        ),
      })
      .meta({ id: 'StatsOverviewPayments' })
      .describe('Top-ups of today.'),
  })
  .meta({ id: 'StatsOverviewResponse' });

const UserStats = z
  .object({
    total_users: z.int().describe('Number of users of any status.'),
    active_users: z.int().describe('Number of users with status `active`.'),
    blocked_users: z.int().describe('Number of users who are not `active`, deleted ones included.'),
    new_today: z.int().describe('Active users created since 00:00 UTC.'),
    new_week: z.int().describe('Active users created in the last 7 times 24 hours.'),
    new_month: z.int().describe('Active users created in the last 30 times 24 hours.'),
  })
  .meta({ id: 'StatsUsers' });

const SubscriptionStats = z
  .object({
    total_subscriptions: z.int().describe('Number of subscriptions of any status.'),
    active_subscriptions: z.int().describe('Number of subscriptions with status `active`; their end is not looked at.'),
    trial_subscriptions: z.int().describe('Those of them that are trials.'),
    paid_subscriptions: z.int().describe('Number of active subscriptions that are no trial.'),
    purchased_today: z.int().describe('Number of completed payments for subscriptions since 00:00 UTC.'),
    purchased_week: z.int().describe('Number of completed payments for subscriptions since 00:00 UTC 7 days ago.'),
    purchased_month: z.int().describe('Number of completed payments for subscriptions since 00:00 UTC 30 days ago.'),
    trial_to_paid_conversion: z
      .number()
      .describe(
        'Users who ever paid for a subscription in percent of the users with a subscription, one decimal; 0 when no user has one.',
      ),
    renewals_count: z.int().describe('Number of changes from trial to paid in the last 30 times 24 hours.'),
    trial_statistics: z
      .object({
        used_trials: z.int().describe('Number of trial subscriptions of any status.'),
        active_trials: z.int().describe('Number of trials with status `trial` or `active` that have not ended.'),
        resettable_trials: z.int().describe('Number of trials that have ended and whose user never paid for a subscription.'),
      })
      .meta({ id: 'StatsTrials' })
      .describe('Trials by their state.'),
  })
  .meta({ id: 'StatsSubscriptions' });

const CountAndAmount = z
  .object({
    count: z.int().describe('Number of completed movements of this type or payment method.'),
    amount: z.int().describe('Sum of their absolute amounts, kopeks.'),
  })
  .meta({ id: 'StatsCountAndAmount' });

const TransactionStats = z
  .object({
    period: z
      .object({
        start_date: Timestamp.describe('Start of the period (UTC): 2020-01-01.'),
        end_date: Timestamp.describe('End of the period (UTC): the moment of the request.'),
      })
      .meta({ id: 'StatsPeriod' })
      .describe('Period of `totals`, `by_type` and `by_payment_method`.'),
    totals: z
      .object({
        income_kopeks: z.int().describe('Money from outside: top-ups and payments for subscriptions through providers, kopeks.'),
        income_rubles: z
          .number()
          .describe('Money from outside: top-ups and payments for subscriptions through providers, rubles.'),
        expenses_kopeks: z.int().describe('Amount of movements of type `withdrawal`, kopeks.'),
        expenses_rubles: z.number().describe('Amount of movements of type `withdrawal`, rubles.'),
        profit_kopeks: z.int().describe('Income minus expenses, kopeks; can be negative.'),
        profit_rubles: z.number().describe('Income minus expenses, rubles; can be negative.'),
        subscription_income_kopeks: z.int().describe('Payments for subscriptions with any method, the balance included, kopeks.'),
        subscription_income_rubles: z
          .number()
          .describe('Payments for subscriptions with any method, the balance included, rubles.'),
      })
      .meta({ id: 'StatsTotals' })
      .describe('Sums over the whole period.'),
    today: z
      .object({
        transactions_count: z.int().describe('Number of completed movements of any type.'),
        income_kopeks: z.int().describe('Money from outside since 00:00 UTC, kopeks.'),
        income_rubles: z.number().describe('Money from outside since 00:00 UTC, rubles.'),
      })
      .meta({ id: 'StatsToday' })
      .describe('Sums since 00:00 UTC.'),
    by_type: z.record(z.string(), CountAndAmount).describe('Completed movements by type; types without any are absent.'),
    by_payment_method: z
      .record(z.string(), CountAndAmount)
      .describe(
        'Completed top-ups and payments for subscriptions by payment method, `None` for those without one; methods without any are absent.',
      ),
  })
  .meta({ id: 'StatsTransactions' });

const TopReferrer = z
  .object({
    user_id: z.int().describe('Internal id of the referrer.'),
    display_name: z
      .string()
      .describe(
        'First and last name, else `@username`, else `ID` and the messenger id, else the e-mail, else `#` and the user id.',
      ),
    username: z.string().nullable().describe('User name in the messenger, without `@`; null when the user has none.'),
    messenger_id: z.int().nullable().describe('Id of the user in the messenger; null for an account without messenger.'),
    total_earned_kopeks: z.int().describe('Rewards of the referrer in all, kopeks.'),
    referrals_count: z.int().describe('Number of referrals.'),
  })
  .meta({ id: 'StatsTopReferrer' });

const ReferralStats = z
  .object({
    users_with_referrals: z.int().describe('Number of users with a referrer.'),
    active_referrers: z.int().describe('Number of users with at least one referral.'),
    total_paid_kopeks: z.int().describe('All rewards of referrers, kopeks.'),
    total_paid_rubles: z.number().describe('All rewards of referrers, rubles.'),
    today_earnings_kopeks: z.int().describe('Rewards since 00:00 UTC, kopeks.'),
    today_earnings_rubles: z.number().describe('Rewards since 00:00 UTC, rubles.'),
    week_earnings_kopeks: z.int().describe('Rewards of the last 7 times 24 hours, kopeks.'),
    week_earnings_rubles: z.number().describe('Rewards of the last 7 times 24 hours, rubles.'),
    month_earnings_kopeks: z.int().describe('Rewards of the last 30 times 24 hours, kopeks.'),
    month_earnings_rubles: z.number().describe('Rewards of the last 30 times 24 hours, rubles.'),
    top_referrers: TopReferrer.array().describe(
      'The five referrers with the highest rewards; among equals more referrals, then the smaller id come first.',
    ),
  })
  .meta({ id: 'StatsReferrals' });

const StatsFullResponse = z
  .object({
    overview: StatsOverviewResponse.describe('What `GET /stats/overview` returns.'),
    users: UserStats.describe('Users by status and age.'),
    subscriptions: SubscriptionStats.describe('Subscriptions, purchases and trials.'),
    transactions: TransactionStats.describe('Completed movements of money.'),
    referrals: ReferralStats.describe('The referral programme.'),
  })
  .meta({ id: 'StatsFullResponse' });

const tags: [string] = ['stats'];

export const statsRouter = router({
  overview: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/stats/overview', tags, summary: 'The service at a glance' },
      description:
        'Counts users, subscriptions and open tickets and sums up balances and the top-ups of today. The numbers are exact; days begin at 00:00 UTC.',
    })
    .output(toWire(StatsOverviewResponse))
    .query(async ({ ctx }) => overviewInRubles(await readOverview(ctx.app))),

  full: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/stats/full', tags, summary: 'All statistics of the service' },
      description:
        'Returns the overview together with statistics of users, subscriptions, trials, movements of money and referrals. The numbers are exact; days begin at 00:00 UTC.',
    })
    .output(toWire(StatsFullResponse))
    .query(async ({ ctx }) => fullInRubles(await readFullStats(ctx.app))),
});

function overviewInRubles({ users, payments, ...rest }: Overview) {
  return {
    ...rest,
    users: { ...users, balanceRubles: rublesOf(users.balanceKopeks) },
    payments: { ...payments, todayRubles: rublesOf(payments.todayKopeks) },
  };
}

function fullInRubles({ overview, transactions, referrals, ...rest }: FullStats) {
  const { totals, today } = transactions;
  return {
    ...rest,
    overview: overviewInRubles(overview),
    transactions: {
      ...transactions,
      totals: {
        ...totals,
        incomeRubles: rublesOf(totals.incomeKopeks),
        expensesRubles: rublesOf(totals.expensesKopeks),
        profitRubles: rublesOf(totals.profitKopeks),
        subscriptionIncomeRubles: rublesOf(totals.subscriptionIncomeKopeks),
      },
      today: { ...today, incomeRubles: rublesOf(today.incomeKopeks) },
    },
    referrals: {
      ...referrals,
      totalPaidRubles: rublesOf(referrals.totalPaidKopeks),
      todayEarningsRubles: rublesOf(referrals.todayEarningsKopeks),
      weekEarningsRubles: rublesOf(referrals.weekEarningsKopeks),
      monthEarningsRubles: rublesOf(referrals.monthEarningsKopeks),
    },
  };
}
