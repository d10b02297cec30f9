import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addDays, DAY_MS } from '../../core/clock.ts';
import { columns, type RowOf } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { offsetOf, pageCount } from '../../core/paging.ts';
import { userNotFound } from '../identity/errors.ts';
import { fullName } from '../identity/rules.ts';
import { definitionOf } from '../settings/catalogue/catalogue.ts';
import { findMyCounters, listEarnings, listReferrals, type MyEarning, type MyReferral } from './repo.ts';
import { maturedBefore } from './withdrawals/my-withdrawals.ts';
import { availableAmounts } from './withdrawals/rules.ts';

/** The referral page of a user (spec 04 section 2); kopeks. */
export interface MyReferralInfo {
  referralCode: string;
  /** To the cabinet; '' while no cabinet is set. */
  referralLink: string;
  /** To the bot. */
  botReferralLink: string;
  totalReferrals: number;
  activeReferrals: number;
  totalEarningsKopeks: number;
  /** The personal percentage as it is, else the service-wide one. */
  commissionPercent: number;
  /** The amount that may be requested as a withdrawal. */
  availableBalanceKopeks: number;
  withdrawnKopeks: number;
}

/** Links and counters of the user's referral page. @throws AppError 404 when the account has been deleted */
export async function readMyReferralInfo(app: App, actor: UserActor): Promise<MyReferralInfo> {
  const found = await findMyCounters(app.db, actor.userId, app.clock.now(), maturedBefore(app));
  if (!found) throw userNotFound();
  const { pendingKopeks, balanceKopeks, maturingKopeks, ...counters } = found;
  const { withdrawnKopeks, totalEarningsKopeks: earnedKopeks } = counters;
  const sums = { balanceKopeks, earnedKopeks, maturingKopeks, withdrawnKopeks, pendingKopeks };
  const { availableReferralKopeks } = availableAmounts(sums, true);
  return {
    ...counters,
    ...referralLinks(app, counters.referralCode),
    commissionPercent: counters.commissionPercent ?? app.settings.get('REFERRAL_COMMISSION_PERCENT'),
    availableBalanceKopeks: availableReferralKopeks,
  };
}

/** The links of an invitation: to the cabinet, and to the bot. */
function referralLinks(app: App, code: string): { referralLink: string; botReferralLink: string } {
  const cabinet = app.settings.get('CABINET_URL').trim();
  const isSet = cabinet !== '' && cabinet !== definitionOf('CABINET_URL').default;
  const { messengerIdentity } = app.ports;
  return {
    referralLink: isSet ? `${cabinet}${cabinet.includes('?') ? '&' : '?'}ref=${encodeURIComponent(code)}` : '',
    botReferralLink: `${messengerIdentity.linkBase()}/${messengerIdentity.botUsername() ?? 'bot'}?start=${code}`,
  };
}

interface PageRequest {
  page: number;
  perPage: number;
}

interface Page<Item> extends PageRequest {
  items: Item[];
  total: number;
  pages: number;
}

/** The referrals of the user, newest first. */
export async function listMyReferrals(app: App, actor: UserActor, { page, perPage }: PageRequest): Promise<Page<MyReferral>> {
  const found = await listReferrals(app.db, actor.userId, { limit: perPage, offset: offsetOf(page, perPage) });
  return { ...found, page, perPage, pages: pageCount(found.total, perPage) };
}

/** The user's rewards, newest first; the total amount is that of all pages. */
export async function listMyEarnings(
  app: App,
  actor: UserActor,
  { page, perPage }: PageRequest,
): Promise<Page<MyEarning> & { totalAmountKopeks: number }> {
  const found = await listEarnings(app.db, actor.userId, { limit: perPage, offset: offsetOf(page, perPage) });
  return { ...found, page, perPage, pages: pageCount(found.total, perPage) };
}

/** The terms of the programme as they are set; kopeks. */
export function readReferralTerms({ settings }: App) {
  return {
    isEnabled: settings.get('REFERRAL_PROGRAM_ENABLED'),
    commissionPercent: settings.get('REFERRAL_COMMISSION_PERCENT'),
    minimumTopupKopeks: settings.get('REFERRAL_MINIMUM_TOPUP_KOPEKS'),
    firstTopupBonusKopeks: settings.get('REFERRAL_FIRST_TOPUP_BONUS_KOPEKS'),
    inviterBonusKopeks: settings.get('REFERRAL_INVITER_BONUS_KOPEKS'),
    maxCommissionPayments: settings.get('REFERRAL_MAX_COMMISSION_PAYMENTS'),
    partnerSectionVisible: settings.get('REFERRAL_PARTNER_SECTION_VISIBLE'),
  };
}

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
  const daysSince = (timestamp: Date | null) =>
    timestamp && Math.max(0, Math.floor((now.getTime() - timestamp.getTime()) / DAY_MS));
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

const REFERRAL = columns('User', [
  ...(['id', 'messengerId', 'username', 'firstName', 'lastName', 'createdAt', 'lastActivity', 'hasMadeFirstTopup'] as const),
]);

/** A referral as its referrer sees it in the mini-app; kopeks that the referrer earned by it. */
type MiniappReferral = RowOf<typeof REFERRAL> & { earnedKopeks: number; topups: number };

/** The newest referrals of a user. */
function listNewestReferrals(db: Db, userId: number, limit: number): Promise<MiniappReferral[]> {
  return db.sql<MiniappReferral>(
    `WITH page AS MATERIALIZED (
       SELECT * FROM users WHERE referred_by_id = $1::int ORDER BY created_at DESC, id DESC LIMIT $2::int)
     SELECT ${REFERRAL.of('r')},
       (SELECT coalesce(sum(e.amount_kopeks), 0)::bigint FROM referral_earnings e
         WHERE e.user_id = $1::int AND e.referral_id = r.id) AS earned_kopeks,
       (SELECT count(*)::int FROM transactions x
         WHERE x.user_id = r.id AND x.type = 'deposit' AND x.is_completed AND NOT x.is_internal) AS topups
     FROM page r ORDER BY r.created_at DESC, r.id DESC`,
    [userId, limit],
  );
}

/** Referrals with a first top-up, and kopeks earned since a given time. */
async function findRecentTotals(db: Db, userId: number, since: Date): Promise<{ paid: number; earnedKopeks: number }> {
  const [row] = await db.sql<{ paid: number; earnedKopeks: number }>(
    `SELECT coalesce((SELECT paid_referrals FROM referrer_stats WHERE user_id = $1::int), 0) AS paid,
       (SELECT coalesce(sum(amount_kopeks), 0)::bigint FROM referral_earnings
         WHERE user_id = $1::int AND created_at >= $2::timestamptz) AS earned_kopeks`,
    [userId, since],
  );
  return row!;
}
