import { rublesOf } from '../../core/money.ts';
import { pageCount } from '../../core/paging.ts';
import type { Referral, Referrer, ReferrerDetail } from '../../domain/referrals/referrers/read-referrers.ts';
import { changeOf, percentOfTotal, round2 } from '../../domain/referrals/stats/rules.ts';
import type {
  ComparedPeriod,
  DayFigures,
  GlobalStats,
  PeriodSums,
  ReferrerStats,
  TopReferral,
  TopReferrer,
} from '../../domain/referrals/stats/types.ts';

/** Wire forms of the group `partners` (spec 04 sections 0.3, 4 and 5). */

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

const perReferral = (kopeks: number, referrals: number) => (referrals === 0 ? 0 : round2(kopeks / referrals));

export function toReferrerItem({ user, ...figures }: Referrer) {
  return {
    id: user.id,
    messenger_id: user.messengerId,
    username: user.username,
    first_name: user.firstName,
    last_name: user.lastName,
    referral_code: user.referralCode,
    referral_commission_percent: figures.commissionPercent,
    effective_referral_commission_percent: figures.effectiveCommissionPercent,
    invited_count: figures.invitedCount,
    active_referrals: figures.activeReferrals,
    total_earned_kopeks: figures.earnedKopeks,
    total_earned_rubles: rublesOf(figures.earnedKopeks),
    month_earned_kopeks: figures.monthEarnedKopeks,
    month_earned_rubles: rublesOf(figures.monthEarnedKopeks),
    created_at: user.createdAt,
    last_activity: user.lastActivity,
  };
}

function toReferralItem(referral: Referral) {
  return {
    id: referral.id,
    messenger_id: referral.messengerId,
    full_name: nameOf(referral),
    username: referral.username,
    created_at: referral.createdAt,
    last_activity: referral.lastActivity,
    has_made_first_topup: referral.hasMadeFirstTopup,
    balance_kopeks: referral.balanceKopeks,
    balance_rubles: rublesOf(referral.balanceKopeks),
    total_earned_kopeks: referral.earnedKopeks,
    total_earned_rubles: rublesOf(referral.earnedKopeks),
    topups_count: referral.topupsCount,
    days_since_registration: referral.daysSinceRegistration,
    days_since_activity: referral.daysSinceActivity,
    status: referral.isActive ? 'active' : 'inactive',
  };
}

export function toReferrerDetail({ referrer, referrals, total, limit, offset }: ReferrerDetail) {
  return {
    referrer: toReferrerItem(referrer),
    referrals: {
      items: referrals.map(toReferralItem),
      total,
      limit,
      offset,
      has_next: offset + limit < total,
      has_prev: offset > 0,
      current_page: Math.floor(offset / limit) + 1,
      total_pages: pageCount(total, limit),
    },
  };
}

const toEarnings = ({ allTime, year, month, week, today }: PeriodSums) => ({
  all_time_kopeks: allTime.earnedKopeks,
  year_kopeks: year.earnedKopeks,
  month_kopeks: month.earnedKopeks,
  week_kopeks: week.earnedKopeks,
  today_kopeks: today.earnedKopeks,
});

export function toGlobalStats(stats: GlobalStats) {
  const { totalReferrers, totalReferrals, paidReferrals, allTime, today, week, month } = stats;
  return {
    summary: {
      total_referrers: totalReferrers,
      total_referrals: totalReferrals,
      paid_referrals: paidReferrals,
      conversion_rate_percent: percentOfTotal(paidReferrals, totalReferrals),
      avg_earnings_per_referral_kopeks: perReferral(allTime.earnedKopeks, paidReferrals),
    },
    payouts: toEarnings(stats),
    new_referrals: { today: today.referrals, week: week.referrals, month: month.referrals },
  };
}

export function toReferrerStats(userId: number, stats: ReferrerStats) {
  const { totalReferrals, paidReferrals, activeReferrals, allTime, year, month, week, today } = stats;
  return {
    user_id: userId,
    summary: {
      total_referrals: totalReferrals,
      paid_referrals: paidReferrals,
      active_referrals: activeReferrals,
      conversion_to_paid_percent: percentOfTotal(paidReferrals, totalReferrals),
      conversion_to_active_percent: percentOfTotal(activeReferrals, totalReferrals),
      avg_earnings_per_referral_kopeks: perReferral(allTime.earnedKopeks, paidReferrals),
    },
    earnings: toEarnings(stats),
    referrals_count: {
      all_time: totalReferrals,
      year: year.referrals,
      month: month.referrals,
      week: week.referrals,
      today: today.referrals,
    },
  };
}

export function toDailyItems(days: readonly DayFigures[]) {
  return days.map((day) => ({ date: day.date, referrals_count: day.referrals, earnings_kopeks: day.earnedKopeks }));
}

export function toTopReferrer(top: TopReferrer) {
  return {
    id: top.id,
    messenger_id: top.messengerId,
    username: top.username,
    first_name: top.firstName,
    last_name: top.lastName,
    full_name: nameOf(top),
    referral_code: top.referralCode,
    referrals_count: top.referrals,
    total_earnings_kopeks: top.earnedKopeks,
  };
}

export function toTopReferral(top: TopReferral) {
  return {
    id: top.id,
    messenger_id: top.messengerId,
    username: top.username,
    first_name: top.firstName,
    last_name: top.lastName,
    full_name: nameOf(top),
    created_at: top.createdAt,
    has_made_first_topup: top.hasMadeFirstTopup,
    is_active: top.isActive,
    total_earnings_kopeks: top.earnedKopeks,
  };
}

const toPeriod = (period: ComparedPeriod) => ({
  days: period.days,
  start: period.start.toISOString(),
  end: period.end.toISOString(),
  referrals_count: period.referrals,
  earnings_kopeks: period.earnedKopeks,
});

export function toComparison(userId: number, { current, previous }: { current: ComparedPeriod; previous: ComparedPeriod }) {
  return {
    current_period: toPeriod(current),
    previous_period: toPeriod(previous),
    change: {
      referrals: changeOf(current.referrals, previous.referrals, 0),
      earnings: changeOf(current.earnedKopeks, previous.earnedKopeks, 0),
    },
    user_id: userId,
  };
}
