import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { isAppError } from '../../../core/errors.ts';
import { countNodes, type NodesOverview, nodesOverview } from '../../provisioning/nodes/read-nodes.ts';
import { countSubscriptions, countUsers } from '../repo.ts';
import { conversionPercent, isRealMethod } from '../rules.ts';
import { FIRST_DAY } from '../sales/period.ts';
import { findPeriod } from '../sales/period-repo.ts';
import { type SalesSum, sumDays, sumSales } from '../sales/sums-repo.ts';
import { countByTariff, listTariffNames } from '../sales/tariff-repo.ts';
import { findStarts, readServerTotals, type Starts } from './repo.ts';

/** Nodes of the panel; none where it is not configured or gives no answer (spec 06 section 4.3). */
export async function readNodes(app: App): Promise<NodesOverview> {
  try {
    return await nodesOverview(app);
  } catch (error) {
    if (!isAppError(error)) throw error;
    app.log.warn({ err: error }, 'statistics: the panel gives no nodes');
    return countNodes([]);
  }
}

/** The service at a glance (spec 06 section 4.3). Kopeks; days are those of the time zone of the service. */
export async function readDashboard(app: App) {
  const now = app.clock.now();
  const starts = await findStarts(app.db, now, FIRST_DAY);
  const [nodes, users, subscriptions, purchases, money, servers, tariffStats] = await Promise.all([
    readNodes(app),
    countUsers(app.db, now),
    countSubscriptions(app.db, now),
    countPurchases(app, starts, now),
    readMoney(app, starts, now),
    readServerTotals(app.db),
    readTariffStats(app, starts, now),
  ]);
  return {
    nodes,
    subscriptions: {
      total: subscriptions.total,
      active: subscriptions.active,
      trial: subscriptions.activeAndTrial,
      paid: subscriptions.active - subscriptions.activeAndTrial,
      expired: subscriptions.total - subscriptions.active,
      ...purchases,
      trialToPaidConversion: conversionPercent(users.payers, subscriptions.total),
    },
    ...money,
    servers,
    tariffStats,
  };
}

const kopeksOf = (rows: readonly Pick<SalesSum, 'amountKopeks'>[]) => rows.reduce((total, row) => total + row.amountKopeks, 0);

/** What was paid from outside between two moments, by day; both ends are included. */
export async function revenueByDay(app: App, from: Date, to: Date): Promise<{ date: string; amountKopeks: number }[]> {
  const rows = await sumSales(app.db, await findPeriod(app.db, from, to), ['day', 'paymentMethod']);
  const days = new Map<string, number>();
  for (const { day, paymentMethod, amountKopeks } of rows) {
    if (isRealMethod(paymentMethod)) days.set(day, (days.get(day) ?? 0) + amountKopeks);
  }
  return [...days].map(([date, amountKopeks]) => ({ date, amountKopeks }));
}

/** The same as one sum. */
export async function revenueOf(app: App, from: Date, to: Date): Promise<number> {
  const rows = await sumSales(app.db, await findPeriod(app.db, from, to), ['paymentMethod']);
  return kopeksOf(rows.filter((row) => isRealMethod(row.paymentMethod)));
}

async function readMoney(app: App, starts: Starts, now: Date) {
  const ever = await findPeriod(app.db, starts.first, now);
  const [all, month, chart] = await Promise.all([
    sumSales(app.db, ever, ['type', 'paymentMethod']),
    revenueOf(app, starts.month, now),
    revenueByDay(app, addDays(now, -30), now),
  ]);
  return {
    financial: {
      incomeTodayKopeks: chart.find(({ date }) => date === starts.day)?.amountKopeks ?? 0,
      incomeMonthKopeks: month,
      incomeTotalKopeks: kopeksOf(all.filter((row) => isRealMethod(row.paymentMethod))),
      subscriptionIncomeKopeks: kopeksOf(all.filter((row) => row.type === 'subscription_payment')),
    },
    revenueChart: chart,
  };
}

/** Completed subscription payments since the midnights of today and of the days 7 and 30 days ago. */
async function countPurchases(app: App, starts: Starts, now: Date) {
  const days = await sumSales(app.db, await findPeriod(app.db, starts.thirtyDays, now), ['day'], 'subscription_payment');
  const since = (first: string) => days.reduce((total, { day, payments }) => (day >= first ? total + payments : total), 0);
  return { purchasedToday: since(starts.day), purchasedWeek: since(starts.weekDay), purchasedMonth: since(starts.monthDay) };
}

/** Subscriptions by tariff; null when there are no tariffs. */
async function readTariffStats(app: App, starts: Starts, now: Date) {
  const sold = async (from: Date) => {
    const rows = await sumDays(app.db, 'sold', await findPeriod(app.db, from, now), ['key']);
    return new Map(rows.map(({ key, total }) => [Number(key), total]));
  };
  const [tariffs, counts, today, week, month] = await Promise.all([
    listTariffNames(app.db),
    countByTariff(app.db),
    sold(starts.today),
    sold(addDays(now, -7)),
    sold(addDays(now, -30)),
  ]);
  if (tariffs.length === 0) return null;
  const countOf = new Map(counts.map((count) => [count.tariffId, count]));
  const items = tariffs.map(({ id, name }) => ({
    tariffId: id,
    tariffName: name,
    activeSubscriptions: countOf.get(id)?.active ?? 0,
    trialSubscriptions: countOf.get(id)?.activeTrials ?? 0,
    purchasedToday: today.get(id) ?? 0,
    purchasedWeek: week.get(id) ?? 0,
    purchasedMonth: month.get(id) ?? 0,
  }));
  return { tariffs: items, totalTariffSubscriptions: items.reduce((total, item) => total + item.activeSubscriptions, 0) };
}

/** The running process, and users and active subscriptions. Seconds. */
export async function readSystemInfo(app: App) {
  const now = app.clock.now();
  const [users, subscriptions] = await Promise.all([countUsers(app.db, now), countSubscriptions(app.db, now)]);
  return {
    runtimeVersion: process.versions.node,
    uptimeSeconds: Math.floor(process.uptime()),
    usersTotal: users.totalUsers,
    subscriptionsActive: subscriptions.active,
  };
}
