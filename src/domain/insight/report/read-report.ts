import type { App } from '../../../core/app.ts';
import { addMs } from '../../../core/clock.ts';
import { countSubscriptions } from '../repo.ts';
import { displayName, isRealMethod } from '../rules.ts';
import { percentOf } from '../sales/period.ts';
import { findPeriod } from '../sales/period-repo.ts';
import { sumDays, sumSales } from '../sales/sums-repo.ts';
import type { ReportPeriod } from './report-period.ts';
import { countForReport, listTopInviting } from './report-repo.ts';

const TOP_REFERRERS = 5;

export type Report = Awaited<ReturnType<typeof readReport>>;

/**
 * The values of an administrators' report (spec 06 section 14): what happened in the period, and the state of now. They are those of the sales
 * statistics, so both agree. New paid subscriptions are those that began without a trial, and conversions. Money is in kopeks.
 */
export async function readReport(app: App, period: ReportPeriod) {
  const now = app.clock.now();
  // Both ends of a period of the statistics are part of it.
  const days = await findPeriod(app.db, period.from, addMs(period.until, -1));
  const [registrations, trials, conversions, sold, sales, counts, subscriptions, inviting] = await Promise.all([
    sumDays(app.db, 'registrations', days, ['key']),
    sumDays(app.db, 'trials', days, ['key']),
    sumDays(app.db, 'conversions', days, ['key']),
    sumDays(app.db, 'sold', days, ['key']),
    sumSales(app.db, days, ['type', 'paymentMethod']),
    countForReport(app.db, period.from, period.until, now),
    countSubscriptions(app.db, now),
    listTopInviting(app.db, period.from, period.until, TOP_REFERRERS),
  ]);
  const payments = sales.filter(({ type }) => type === 'subscription_payment');
  // Rewards for referrals are no deposits here, and have no method of a provider.
  const deposits = sales.filter(({ type, paymentMethod }) => type === 'deposit' && isRealMethod(paymentMethod));
  const [newTrials, converted] = [totalOf(trials), totalOf(conversions)];
  return {
    newUsers: totalOf(registrations),
    newTrials,
    conversions: converted,
    conversionPercent: percentOf(converted, newTrials),
    newPaid: totalOf(sold) + converted,
    payments: moneyOf(payments),
    deposits: moneyOf(deposits),
    ...counts,
    activeTrials: subscriptions.activeTrials,
    activePaid: subscriptions.active - subscriptions.activeAndTrial,
    topReferrers: inviting.map((user) => ({ name: displayName(user), invited: user.invited })),
  };
}

function totalOf(rows: readonly { total: number }[]): number {
  return rows.reduce((sum, { total }) => sum + total, 0);
}

function moneyOf(rows: readonly { payments: number; amountKopeks: number }[]): { count: number; kopeks: number } {
  return {
    count: rows.reduce((sum, { payments }) => sum + payments, 0),
    kopeks: rows.reduce((sum, { amountKopeks }) => sum + amountKopeks, 0),
  };
}
