import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { isAppError, refusal } from '../../../core/errors.ts';
import { listTransactions } from '../../ledger/transactions.ts';
import {
  countNodes,
  listNodes,
  type NodesOverview,
  nodeNotFound,
  nodesOverview,
  runNodeAction,
} from '../../provisioning/nodes.ts';
import { readReferralTotals } from '../../referrals/stats/read-stats.ts';
import { countSubscriptions, countUsers } from '../repo.ts';
import { conversionPercent, isRealMethod } from '../rules.ts';
import { FIRST_DAY, percentOf } from '../sales/period.ts';
import { countByTariff, findPeriod, listTariffNames, type SalesSum, sumDays, sumSales } from '../sales/repo.ts';
import {
  countReferrers,
  findStarts,
  listPeople,
  listTopCampaigns,
  listTopReferrers,
  type Person,
  readServerTotals,
  type Starts,
  sumCampaigns,
  sumEarningsWithoutReferrals,
} from './repo.ts';

/** Nodes of the panel; none where it is not configured or does not answer (spec 06 section 4.3). */
export async function readNodes(app: App): Promise<NodesOverview> {
  try {
    return await nodesOverview(app);
  } catch (error) {
    if (!isAppError(error)) throw error;
    app.log.warn({ err: error }, 'statistics: the panel gives no nodes');
    return countNodes([]);
  }
}

/** The service at a glance. Kopeks; days are those of the time zone of the service. */
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

/** What was paid from outside between two times, by day; both ends are included. */
async function revenueByDay(app: App, from: Date, to: Date): Promise<{ date: string; amountKopeks: number }[]> {
  const rows = await sumSales(app.db, await findPeriod(app.db, from, to), ['day', 'paymentMethod']);
  const days = new Map<string, number>();
  for (const { day, paymentMethod, amountKopeks } of rows) {
    if (isRealMethod(paymentMethod)) days.set(day, (days.get(day) ?? 0) + amountKopeks);
  }
  return [...days].map(([date, amountKopeks]) => ({ date, amountKopeks }));
}

/** The same as one sum. */
async function revenueOf(app: App, from: Date, to: Date): Promise<number> {
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

// Tops and the latest payments. Kopeks.

/** First name with the last name, else `@username`, else `ID{messenger id}`, else the e-mail's part before `@`, else `User#{id}`. */
function shownName(user: Person): string {
  if (user.firstName) return user.lastName ? `${user.firstName} ${user.lastName}` : user.firstName;
  if (user.username) return `@${user.username}`;
  if (user.messengerId !== null) return `ID${user.messengerId}`;
  return user.email?.split('@')[0] || `User#${user.id}`;
}

const named = <U extends Person>(user: U) => ({ ...user, userId: user.id, displayName: shownName(user) });

/** Users with referrals by what they earned and by how many they invited: today, in 7 and 30 times 24 hours, ever. @param limit 1..100 */
export async function readTopReferrers(app: App, limit: number) {
  const now = app.clock.now();
  const { today } = await findStarts(app.db, now, FIRST_DAY);
  const since = { today, week: addDays(now, -7), month: addDays(now, -30) };
  const [byEarnings, byInvited, totalReferrers, totals, others] = await Promise.all([
    listTopReferrers(app.db, 'earnings', limit, since),
    listTopReferrers(app.db, 'invited', limit, since),
    countReferrers(app.db),
    readReferralTotals(app),
    sumEarningsWithoutReferrals(app.db),
  ]);
  return {
    byEarnings: byEarnings.map(named),
    byInvited: byInvited.map(named),
    totalReferrers,
    totalReferrals: totals.totalReferrals,
    totalEarningsKopeks: totals.earningsKopeks - others,
  };
}

/** Campaigns by what their registrants paid in; the totals are those of all campaigns. @param limit 1..100 */
export async function readTopCampaigns(app: App, limit: number) {
  const [rows, all] = await Promise.all([listTopCampaigns(app.db, limit), sumCampaigns(app.db)]);
  return {
    campaigns: rows.map(({ payers, hadPaid, depositsKopeks, ...campaign }) => ({
      ...campaign,
      conversions: payers,
      conversionRate: percentOf(Math.max(payers, hadPaid), campaign.registrations),
      totalRevenueKopeks: depositsKopeks,
      avgRevenuePerUserKopeks: campaign.registrations === 0 ? 0 : Math.floor(depositsKopeks / campaign.registrations),
    })),
    totalCampaigns: all.campaigns,
    totalRegistrations: all.registrations,
    totalRevenueKopeks: all.depositsKopeks,
  };
}

const PAYMENT_TYPES = ['deposit', 'subscription_payment'] as const;

/** The newest top-ups and subscription payments, completed or not; what was paid from outside today and in 7 times 24 hours. */
export async function readRecentPayments(app: App, limit: number) {
  const now = app.clock.now();
  const { today } = await findStarts(app.db, now, FIRST_DAY);
  const [pages, totalTodayKopeks, totalWeekKopeks] = await Promise.all([
    Promise.all(PAYMENT_TYPES.map((type) => listTransactions(app, { type }, { limit, offset: 0 }))),
    revenueOf(app, today, now),
    revenueOf(app, addDays(now, -7), now),
  ]);
  const newest = pages
    .flatMap((page) => page.items)
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || b.id - a.id)
    .slice(0, limit);
  const people = new Map(
    (await listPeople(app.db, [...new Set(newest.map((row) => row.userId))])).map((user) => [user.id, user]),
  );
  return {
    payments: newest.flatMap((row) => {
      const user = people.get(row.userId);
      return user ? [{ ...named(user), ...row, amountKopeks: Math.abs(row.amountKopeks) }] : [];
    }),
    totalCount: pages.reduce((total, page) => total + page.total, 0),
    totalTodayKopeks,
    totalWeekKopeks,
  };
}

export const panelRefused = refusal('panel_refused', 400, 'Failed to delete squad');
export const panelFailed = refusal('panel_failed', 400, 'Failed to restart node');

/** Restarts a node; the panel executes it later. @throws AppError 400 'Failed to restart node' */
export async function restartNode(app: App, actor: Actor, uuid: string): Promise<void> {
  await refuseFailure(
    'Failed to restart node',
    async () => (await runNodeAction(app, actor, uuid, 'restart')).outcome === 'done',
  );
}

/**
 * Enables a node that is disabled, disables any other.
 * @returns whether the node is disabled now
 * @throws AppError 404 'Node not found', 400 'Failed to enable node' | 'Failed to disable node' | 'Failed to toggle node' (no list of nodes)
 */
export async function toggleNode(app: App, actor: Actor, uuid: string): Promise<boolean> {
  const nodes = await asRefusal('Failed to toggle node', () => listNodes(app));
  const node = nodes.find((candidate) => candidate.uuid === uuid);
  if (!node) throw nodeNotFound();
  const action = node.isDisabled ? 'enable' : 'disable';
  await refuseFailure(`Failed to ${action} node`, async () => (await runNodeAction(app, actor, uuid, action)).outcome === 'done');
  return !node.isDisabled;
}

async function refuseFailure(failure: string, act: () => Promise<boolean>): Promise<void> {
  if (!(await asRefusal(failure, act))) throw panelRefused({ detail: failure });
}

/** A panel that is not configured or does not answer is 400 with the text of this group. */
async function asRefusal<T>(failure: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw isAppError(error) ? panelFailed({ detail: failure, cause: error }) : error;
  }
}
