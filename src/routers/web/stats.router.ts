import { rublesOf } from '../../core/money.ts';
import { type FullStats, type Overview, readFullStats, readOverview } from '../../domain/insight/read-stats.ts';
import { router, webProcedure } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { StatsFullResponse, StatsOverviewResponse } from './stats.schemas.ts';

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
