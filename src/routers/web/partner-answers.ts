import { rublesOf } from '../../core/money.ts';
import { pageCount } from '../../core/paging.ts';
import type { Referral, Referrer, ReferrerDetail } from '../../domain/referrals/referrers/referrers.ts';
import { changeOf, percentOfTotal, round2 } from '../../domain/referrals/stats/rules.ts';
import type { ComparedPeriod, GlobalStats, PeriodSums, ReferrerStats } from '../../domain/referrals/stats/types.ts';

/** Computed fields of the group `partners`. */

interface Named {
  id: number;
  messengerId: number | null;
  firstName: string | null;
  lastName: string | null;
  email?: string | null;
}

/** First and last name, else `User {messenger_id}`, else the e-mail where it is given, else `User #{id}`. */
function nameOf({ id, messengerId, firstName, lastName, email }: Named): string {
  const name = [firstName, lastName].filter(Boolean).join(' ');
  return name || (messengerId !== null ? `User ${messengerId}` : email || `User #${id}`);
}

export const withFullName = <T extends Named>(user: T) => ({ ...user, fullName: nameOf(user) });

const perReferral = (kopeks: number, referrals: number) => (referrals === 0 ? 0 : round2(kopeks / referrals));

export const toReferrerItem = (referrer: Referrer) => ({
  ...referrer,
  totalEarnedRubles: rublesOf(referrer.totalEarnedKopeks),
  monthEarnedRubles: rublesOf(referrer.monthEarnedKopeks),
});

const toReferralItem = (referral: Referral) => ({
  ...withFullName(referral),
  balanceRubles: rublesOf(referral.balanceKopeks),
  totalEarnedRubles: rublesOf(referral.totalEarnedKopeks),
  status: referral.isActive ? 'active' : 'inactive',
});

export function toReferrerDetail({ referrer, referrals, total, limit, offset }: ReferrerDetail) {
  return {
    referrer: toReferrerItem(referrer),
    referrals: {
      items: referrals.map(toReferralItem),
      ...{ total, limit, offset },
      hasNext: offset + limit < total,
      hasPrev: offset > 0,
      currentPage: Math.floor(offset / limit) + 1,
      totalPages: pageCount(total, limit),
    },
  };
}

const toEarnings = ({ allTime, year, month, week, today }: PeriodSums) => ({
  allTimeKopeks: allTime.earningsKopeks,
  yearKopeks: year.earningsKopeks,
  monthKopeks: month.earningsKopeks,
  weekKopeks: week.earningsKopeks,
  todayKopeks: today.earningsKopeks,
});

export function toGlobalStats(stats: GlobalStats) {
  const { totalReferrers, totalReferrals, paidReferrals, allTime, today, week, month } = stats;
  return {
    summary: {
      ...{ totalReferrers, totalReferrals, paidReferrals },
      conversionRatePercent: percentOfTotal(paidReferrals, totalReferrals),
      avgEarningsPerReferralKopeks: perReferral(allTime.earningsKopeks, paidReferrals),
    },
    payouts: toEarnings(stats),
    newReferrals: { today: today.referralsCount, week: week.referralsCount, month: month.referralsCount },
  };
}

export function toReferrerStats(userId: number, stats: ReferrerStats) {
  const { totalReferrals, paidReferrals, activeReferrals, allTime, year, month, week, today } = stats;
  return {
    userId,
    summary: {
      ...{ totalReferrals, paidReferrals, activeReferrals },
      conversionToPaidPercent: percentOfTotal(paidReferrals, totalReferrals),
      conversionToActivePercent: percentOfTotal(activeReferrals, totalReferrals),
      avgEarningsPerReferralKopeks: perReferral(allTime.earningsKopeks, paidReferrals),
    },
    earnings: toEarnings(stats),
    referralsCount: {
      allTime: totalReferrals,
      year: year.referralsCount,
      month: month.referralsCount,
      week: week.referralsCount,
      today: today.referralsCount,
    },
  };
}

const toPeriod = (period: ComparedPeriod) => ({
  ...period,
  start: period.start.toISOString(),
  end: period.end.toISOString(),
});

export function toComparison(userId: number, { current, previous }: { current: ComparedPeriod; previous: ComparedPeriod }) {
  return {
    currentPeriod: toPeriod(current),
    previousPeriod: toPeriod(previous),
    change: {
      referrals: changeOf(current.referralsCount, previous.referralsCount, 0),
      earnings: changeOf(current.earningsKopeks, previous.earningsKopeks, 0),
    },
    userId,
  };
}
