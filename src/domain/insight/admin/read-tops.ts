import type { App } from '../../../core/app.ts';
import { addDays } from '../../../core/clock.ts';
import { listTransactions } from '../../ledger/list-transactions.ts';
import { readReferralTotals } from '../../referrals/stats/read-stats.ts';
import { FIRST_DAY, percentOf } from '../sales/period.ts';
import { revenueOf } from './read-dashboard.ts';
import {
  countReferrers,
  findStarts,
  listPeople,
  listTopCampaigns,
  listTopReferrers,
  type Person,
  sumCampaigns,
  sumEarningsWithoutReferrals,
} from './repo.ts';

/** Tops and the latest payments (spec 06 section 4.3). Kopeks. */

/** First name with the last name, else `@username`, else `ID{messenger id}`, else the e-mail's part before `@`, else `User#{id}`. */
export function shownName(user: Person): string {
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
