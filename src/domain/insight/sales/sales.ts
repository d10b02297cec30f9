import type { App } from '../../../core/app.ts';
import { addMs } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isRealMethod } from '../rules.ts';
import {
  type Change,
  changeBetween,
  checkRange,
  conversionRate,
  oneDecimal,
  type PeriodRequest,
  percentOf,
  writtenPeriod,
} from './period.ts';
import {
  compactStatistics,
  countByTariff,
  countSalesStep,
  findPeriod,
  findWrittenPeriod,
  findZones,
  listTariffNames,
  type Period,
  type RenewalDay,
  recountStatistics,
  type SalesSum,
  sumAllRenewals,
  sumDays,
  sumRenewals,
  sumSales,
} from './repo.ts';

/**
 * Sales statistics: exact at any time, from counts by day and the few rows that are not in them. Money is in kopeks,
 * days are `YYYY-MM-DD` in the time zone of the service, lists by day leave out days without rows. All throw AppError 400 for dates that
 * cannot be read, are not in order or more than 730 days apart.
 */

type Counts = Pick<SalesSum, 'payments' | 'amountKopeks'>;

/** Name of the tariff of subscriptions that have none. */
const NO_TARIFF = 'Unknown';

async function periodOf(app: App, request: PeriodRequest): Promise<Period & { isEverything: boolean }> {
  const written = writtenPeriod(request);
  const period = await findWrittenPeriod(app.db, written, app.clock.now());
  if ('start' in written) checkRange(period.from, period.to);
  return { ...period, isEverything: 'days' in written && written.days === null };
}

const sum = <T>(rows: readonly T[], value: (row: T) => number): number => rows.reduce((total, row) => total + value(row), 0);

function totalOf(rows: readonly Counts[]): Counts {
  return { payments: sum(rows, (row) => row.payments), amountKopeks: sum(rows, (row) => row.amountKopeks) };
}

/** Money and trials of a period, and subscriptions of now. */
export async function readSalesSummary(app: App, request: PeriodRequest) {
  const period = await periodOf(app, request);
  const [sales, trials, tariffs, renewals] = await Promise.all([
    sumSales(app.db, period, ['type', 'paymentMethod', 'product']),
    readTrialCounts(app, period),
    countByTariff(app.db),
    readRenewalDays(app, period),
  ]);
  const manual = totalOf(sales.filter((row) => row.type === 'deposit' && row.paymentMethod === 'manual'));
  const revenue = totalOf(sales.filter((row) => isRealMethod(row.paymentMethod)));
  const activeTrials = sum(tariffs, (row) => row.activeTrials);
  return {
    totalRevenueKopeks: revenue.amountKopeks + manual.amountKopeks,
    manualTopupKopeks: manual.amountKopeks,
    activeSubscriptions: sum(tariffs, (row) => row.active) - activeTrials,
    activeTrials,
    newTrials: trials.newTrials,
    trialToPaidConversion: trials.rate,
    renewalsCount: totalOf(renewals).payments,
    addonRevenueKopeks: totalOf(sales.filter((row) => row.product === 'traffic')).amountKopeks,
  };
}

/** New trials, registrations and the conversion rate of a period. */
async function readTrialCounts(app: App, period: Period) {
  const [trials, registrations, conversions] = await Promise.all([
    sumDays(app.db, 'trials', period, ['key']),
    sumDays(app.db, 'registrations', period, ['key']),
    sumDays(app.db, 'conversions', period, ['key']),
  ]);
  const newTrials = sum(trials, (row) => row.total);
  const converted = Math.max(
    sum(conversions, (row) => row.total),
    sum(registrations, (row) => (row.key === 'paid' ? row.total : 0)),
  );
  return { trials, registrations, conversions, newTrials, rate: conversionRate(newTrials, converted) };
}

/** The order of equal counts. */
const PROVIDERS = ['vk', 'yandex', 'google', 'discord', 'email', 'messenger'];

/** Trials of a period by the way in which their users sign in, and registrations. */
export async function readTrialStats(app: App, request: PeriodRequest) {
  const period = await periodOf(app, request);
  const [counts, trialDays, registrationDays] = await Promise.all([
    readTrialCounts(app, period),
    sumDays(app.db, 'trials', period, ['day']),
    sumDays(app.db, 'registrations', period, ['day']),
  ]);
  const timed = counts.conversions.find((row) => row.key === 'timed');
  const days = [...new Set([...trialDays, ...registrationDays].map((row) => row.day))].sort();
  const [trialsOn, registrationsOn] = [trialDays, registrationDays].map(
    (rows) => new Map(rows.map((row) => [row.day, row.total])),
  );
  return {
    totalTrials: counts.newTrials,
    totalRegistrations: sum(counts.registrations, (row) => row.total),
    conversionRate: counts.rate,
    avgTrialDurationDays: timed ? oneDecimal(timed.amount / timed.total) : 0,
    byProvider: counts.trials
      .map(({ key, total }) => ({ provider: key, count: total }))
      .sort((a, b) => b.count - a.count || PROVIDERS.indexOf(a.provider) - PROVIDERS.indexOf(b.provider)),
    daily: days.map((date) => ({ date, registrations: registrationsOn!.get(date) ?? 0, trials: trialsOn!.get(date) ?? 0 })),
  };
}

/** Subscriptions that began in a period and are no trials, and what was paid for subscriptions in it. */
export async function readSubscriptionSales(app: App, request: PeriodRequest) {
  const period = await periodOf(app, request);
  const [sold, periods, days, tariffs] = await Promise.all([
    sumDays(app.db, 'sold', period, ['day', 'key']),
    sumDays(app.db, 'sold_periods', period, ['key']),
    sumSales(app.db, period, ['day'], 'subscription_payment'),
    listTariffNames(app.db),
  ]);
  const names = new Map(tariffs.map(({ id, name }) => [String(id), name]));
  const nameOf = (key: string) => names.get(key) ?? NO_TARIFF;
  const revenue = totalOf(days);
  const totalSales = sum(sold, (row) => row.total);
  const byTariff = [...totals(sold, (row) => row.key)]
    .map(([key, count]) => ({ tariffId: names.has(key) ? Number(key) : 0, tariffName: nameOf(key), count }))
    .sort((a, b) => b.count - a.count || compare(a.tariffName, b.tariffName) || a.tariffId - b.tariffId);
  return {
    totalSales,
    totalRevenueKopeks: revenue.amountKopeks,
    avgOrderKopeks: average(revenue.amountKopeks, totalSales),
    topTariffName: byTariff[0]?.tariffName ?? '-',
    byTariff,
    byPeriod: periods
      .map(({ key, total }) => ({ periodDays: Number(key), count: total }))
      .sort((a, b) => a.periodDays - b.periodDays),
    daily: days.map(({ day, payments, amountKopeks }) => ({ date: day, count: payments, revenueKopeks: amountKopeks })),
    dailyByTariff: [...totals(sold, (row) => `${row.day}${nameOf(row.key)}`)]
      .map(([key, count]) => ({ date: key.slice(0, 10), tariffName: key.slice(10), count }))
      .sort((a, b) => compare(a.date, b.date) || compare(a.tariffName, b.tariffName)),
  };
}

function totals<T extends { total: number }>(rows: readonly T[], keyOf: (row: T) => string): Map<string, number> {
  const found = new Map<string, number>();
  for (const row of rows) found.set(keyOf(row), (found.get(keyOf(row)) ?? 0) + row.total);
  return found;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const average = (kopeks: number, count: number): number => (count === 0 ? 0 : Math.floor(kopeks / count));

function readRenewalDays(app: App, period: Period & { isEverything: boolean }): Promise<RenewalDay[]> {
  return period.isEverything ? sumAllRenewals(app.db, period) : sumRenewals(app.db, period);
}

/** Payments of users who had paid before the period, compared with the equally long window before it; both half-open. */
export async function readRenewalStats(app: App, request: PeriodRequest) {
  const period = await periodOf(app, request);
  const [days, payments, before] = await Promise.all([
    readRenewalDays(app, period),
    sumSales(app.db, period, [], 'subscription_payment'),
    period.isEverything ? [] : readRenewalsBefore(app, period),
  ]);
  const [current, previous] = [totalOf(days), totalOf(before)];
  const change: Change = changeBetween(current.payments, previous.payments);
  const asPeriod = ({ payments: count, amountKopeks }: Counts) => ({ count, revenueKopeks: amountKopeks });
  return {
    totalRenewals: current.payments,
    totalRevenueKopeks: current.amountKopeks,
    renewalRate: percentOf(current.payments, totalOf(payments).payments),
    currentPeriod: asPeriod(current),
    previousPeriod: asPeriod(previous),
    change,
    daily: days.map(({ day, payments: count }) => ({ date: day, count })),
  };
}

async function readRenewalsBefore(app: App, { from, to }: Period): Promise<RenewalDay[]> {
  const lengthMs = to.getTime() + 1 - from.getTime();
  return sumRenewals(app.db, await findPeriod(app.db, addMs(from, -lengthMs), addMs(from, -1)));
}

/** Traffic packages and devices that were bought in a period. */
export async function readAddonStats(app: App, request: PeriodRequest) {
  const period = await periodOf(app, request);
  const [packages, days, sales] = await Promise.all([
    sumDays(app.db, 'traffic', period, ['key']),
    sumDays(app.db, 'traffic', period, ['day']),
    sumSales(app.db, period, ['day', 'product'], 'subscription_payment'),
  ]);
  const ofDevices = sales.filter((row) => row.product === 'devices');
  const devices = totalOf(ofDevices);
  return {
    totalPurchases: sum(packages, (row) => row.total),
    totalGbPurchased: sum(packages, (row) => row.amount),
    addonRevenueKopeks: totalOf(sales.filter((row) => row.product === 'traffic')).amountKopeks,
    devicePurchases: devices.payments,
    deviceRevenueKopeks: devices.amountKopeks,
    byPackage: packages
      .map(({ key, total }) => ({ trafficGb: Number(key), count: total }))
      .sort((a, b) => a.trafficGb - b.trafficGb),
    daily: days.map(({ day, total, amount }) => ({ date: day, count: total, totalGb: amount })),
    dailyDevices: ofDevices.map(({ day, payments }) => ({ date: day, count: payments })),
  };
}

/** Money from outside in a period, manual top-ups included. */
export async function readDepositStats(app: App, request: PeriodRequest) {
  const period = await periodOf(app, request);
  const sales = await sumSales(app.db, period, ['day', 'paymentMethod']);
  const counted = sales.filter(({ paymentMethod }) => isRealMethod(paymentMethod) || paymentMethod === 'manual');
  const total = totalOf(counted);
  // Years of days have tens of thousands of rows: each is added once.
  const grouped = (keyOf: (row: (typeof counted)[number]) => string) => {
    const groups = new Map<string, (typeof counted)[number]>();
    for (const row of counted) {
      const group = groups.get(keyOf(row));
      if (group === undefined) groups.set(keyOf(row), { ...row });
      else {
        group.payments += row.payments;
        group.amountKopeks += row.amountKopeks;
      }
    }
    return [...groups.values()];
  };
  return {
    totalDeposits: total.payments,
    totalAmountKopeks: total.amountKopeks,
    avgDepositKopeks: average(total.amountKopeks, total.payments),
    byMethod: grouped((row) => row.paymentMethod)
      .map(({ paymentMethod, payments, amountKopeks }) => ({ method: paymentMethod, count: payments, amountKopeks }))
      .sort((a, b) => b.amountKopeks - a.amountKopeks || compare(a.method, b.method)),
    daily: grouped((row) => row.day).map(({ day, payments, amountKopeks }) => ({ date: day, count: payments, amountKopeks })),
    dailyByMethod: grouped((row) => row.day + row.paymentMethod)
      .map(({ day, paymentMethod, amountKopeks }) => ({ date: day, method: paymentMethod, amountKopeks }))
      .sort((a, b) => compare(a.date, b.date) || compare(a.method, b.method)),
  };
}

/** Ids counted in one transaction. */
const STEP = 50_000;

/**
 * Counts payments for the statistics (job `insight.count-sales`) as far as `ledger.count` has counted transactions, and after a change of the
 * setting `TIMEZONE` everything again in days of the new zone. Nothing depends on when it runs: statistics add the rows that it has not
 * counted, and show the days of the zone that was counted last.
 */
export async function countSales(app: App): Promise<void> {
  await followZone(app);
  await inTransaction(app, (t) => compactStatistics(t.db));
  while (await inTransaction(app, (t) => countSalesStep(t.db, STEP)));
}

/** A zone that the database does not know is left out, with an error in the log. */
async function followZone(app: App): Promise<void> {
  const wanted = app.settings.get('TIMEZONE');
  const { current, isKnown } = await findZones(app.db, wanted);
  if (current === wanted) return;
  if (!isKnown) {
    app.log.error({ zone: wanted, current }, 'statistics: the database does not know the time zone');
    return;
  }
  await inTransaction(app, (t) => recountStatistics(t.db, wanted));
  app.log.info({ zone: wanted, before: current }, 'statistics: days are counted in another time zone');
}
