import type { App } from '../../core/app.ts';
import { addDays } from '../../core/clock.ts';
import { readTotalBalance, readUncountedSince, sumTransactions } from '../ledger/transactions.ts';
import { readGlobalStats } from '../referrals/stats/read-stats.ts';
import { countConversions, countOpenTickets, countSubscriptions, countUsers, listTopReferrers } from './repo.ts';
import { conversionPercent, displayName, summarise } from './rules.ts';

/** Statistics of the whole service, at any size from counters. Days are UTC; money is in kopeks. */

/** No data of the service is older. */
const FIRST_DAY = new Date('2020-01-01T00:00:00Z');
const TOP_REFERRERS = 5;

export type Overview = Awaited<ReturnType<typeof readOverview>>;
export type FullStats = Awaited<ReturnType<typeof readFullStats>>;

/** The state of the service now, and what was paid in today. */
export async function readOverview(app: App) {
  return overviewOf(await readSources(app));
}

/** The overview with detailed statistics. Both are computed from the same numbers, so that they agree. */
export async function readFullStats(app: App) {
  const now = app.clock.now();
  const [sources, conversions, referrals, topReferrers] = await Promise.all([
    readSources(app),
    countConversions(app.db, addDays(now, -30), now),
    readGlobalStats(app),
    listTopReferrers(app.db, TOP_REFERRERS),
  ]);
  const { users, subscriptions, payments } = sources;
  const { usedTrials, activeTrials, resettableTrials } = subscriptions;
  return {
    overview: overviewOf(sources),
    // Deleted users count as blocked here, in the overview they do not.
    users: { ...users, blockedUsers: users.totalUsers - users.activeUsers },
    subscriptions: {
      totalSubscriptions: subscriptions.total,
      activeSubscriptions: subscriptions.active,
      trialSubscriptions: subscriptions.activeAndTrial,
      paidSubscriptions: subscriptions.active - subscriptions.activeAndTrial,
      purchasedToday: payments.purchases.today,
      purchasedWeek: payments.purchases.week,
      purchasedMonth: payments.purchases.month,
      trialToPaidConversion: conversionPercent(users.payers, subscriptions.total),
      renewalsCount: conversions,
      trialStatistics: { usedTrials, activeTrials, resettableTrials },
    },
    transactions: { period: { startDate: FIRST_DAY, endDate: now }, ...payments },
    referrals: {
      usersWithReferrals: referrals.totalReferrals,
      activeReferrers: referrals.totalReferrers,
      totalPaidKopeks: referrals.allTime.earningsKopeks,
      todayEarningsKopeks: referrals.today.earningsKopeks,
      weekEarningsKopeks: referrals.week.earningsKopeks,
      monthEarningsKopeks: referrals.month.earningsKopeks,
      topReferrers: topReferrers.map((user) => ({ ...user, userId: user.id, displayName: displayName(user) })),
    },
  };
}

type Sources = Awaited<ReturnType<typeof readSources>>;

async function readSources(app: App) {
  const now = app.clock.now();
  const [users, subscriptions, openTickets, balanceKopeks, sums, uncountedSince] = await Promise.all([
    countUsers(app.db, now),
    countSubscriptions(app.db, now),
    countOpenTickets(app.db),
    readTotalBalance(app),
    sumTransactions(app, FIRST_DAY),
    readUncountedSince(app),
  ]);
  return {
    uncountedSince,
    users,
    subscriptions,
    openTickets,
    balanceKopeks,
    payments: summarise(sums),
  };
}

function overviewOf({ users, subscriptions, openTickets, balanceKopeks, payments, uncountedSince }: Sources) {
  return {
    users: { total: users.totalUsers, active: users.activeUsers, blocked: users.blocked, balanceKopeks },
    subscriptions: { active: subscriptions.active, expired: subscriptions.expired },
    support: { openTickets },
    payments: { todayKopeks: payments.today.depositKopeks, ...(uncountedSince ? { uncountedSince } : {}) },
  };
}
