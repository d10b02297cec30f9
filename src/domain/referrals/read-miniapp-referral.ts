import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addDays, DAY_MS } from '../../core/clock.ts';
import { fullName } from '../identity/rules.ts';
import { findRecentTotals, listNewestReferrals } from './miniapp-repo.ts';
import { listMyEarnings, readMyReferralInfo, readReferralTerms } from './my-referrals.ts';

const LISTED_REFERRALS = 50;
const LISTED_EARNINGS = 5;
const MONTH_DAYS = 30;

/**
 * The referral page of the mini-app (spec 02 section 12.3); kopeks. What a referral has on its balance belongs to someone else and is not
 * read. @throws AppError 404
 */
export async function readMiniappReferral(app: App, actor: UserActor) {
  const now = app.clock.now();
  const [info, totals, earnings, referrals] = await Promise.all([
    readMyReferralInfo(app, actor),
    findRecentTotals(app.db, actor.userId, addDays(now, -MONTH_DAYS)),
    listMyEarnings(app, actor, { page: 1, perPage: LISTED_EARNINGS }),
    listNewestReferrals(app.db, actor.userId, LISTED_REFERRALS),
  ]);
  const { totalReferrals } = info;
  const daysSince = (moment: Date | null) => moment && Math.max(0, Math.floor((now.getTime() - moment.getTime()) / DAY_MS));
  return {
    info,
    terms: { ...readReferralTerms(app), commissionPercent: info.commissionPercent },
    paidReferrals: totals.paid,
    monthEarnedKopeks: totals.earnedKopeks,
    conversionRate: totalReferrals === 0 ? 0 : Math.round((totals.paid / totalReferrals) * 1000) / 10,
    earnings: earnings.items,
    totalPages: Math.max(1, Math.ceil(totalReferrals / LISTED_REFERRALS)),
    referrals: referrals.map((referral) => {
      const sinceActivity = daysSince(referral.lastActivity);
      return {
        ...referral,
        fullName: fullName({ ...referral, email: null }),
        daysSinceRegistration: daysSince(referral.createdAt),
        daysSinceActivity: sinceActivity,
        isActive: sinceActivity !== null && sinceActivity <= MONTH_DAYS,
      };
    }),
  };
}
