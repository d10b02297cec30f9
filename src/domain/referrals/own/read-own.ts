import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { offsetOf } from '../../../core/paging.ts';
import { userNotFound } from '../../identity/errors.ts';
import { definitionOf } from '../../settings/catalogue/catalogue.ts';
import { findOwnFigures, listOwnEarnings, listOwnReferrals, type OwnEarning, type OwnReferral } from './repo.ts';

/** A user's own referral page (spec 04 section 2); kopeks. */
export interface OwnReferralInfo {
  referralCode: string;
  /** To the cabinet; '' while no cabinet is set. */
  referralLink: string;
  /** To the bot. */
  botReferralLink: string;
  totalReferrals: number;
  activeReferrals: number;
  earnedKopeks: number;
  /** The personal percentage as it is, else the service-wide one. */
  commissionPercent: number;
  /** What may be asked to be paid out. */
  availableKopeks: number;
  withdrawnKopeks: number;
}

/** Links and figures of a user's own page (spec 04 section 2). @throws AppError 404 when the account is gone meanwhile */
export async function readOwnReferralInfo(app: App, actor: UserActor): Promise<OwnReferralInfo> {
  const figures = await findOwnFigures(app.db, actor.userId, app.clock.now());
  if (!figures) throw userNotFound();
  const { referralCode, earnedKopeks, withdrawnKopeks, pendingKopeks, balanceKopeks } = figures;
  return {
    referralCode,
    ...referralLinks(app, referralCode),
    totalReferrals: figures.totalReferrals,
    activeReferrals: figures.activeReferrals,
    earnedKopeks,
    commissionPercent: figures.commissionPercent ?? app.settings.get('REFERRAL_COMMISSION_PERCENT'),
    availableKopeks: Math.min(balanceKopeks, Math.max(0, earnedKopeks - withdrawnKopeks - pendingKopeks)),
    withdrawnKopeks,
  };
}

/** Where an invitation leads: into the cabinet, and into the bot. */
function referralLinks(app: App, code: string): { referralLink: string; botReferralLink: string } {
  const cabinet = app.settings.get('CABINET_URL').trim();
  const isSet = cabinet !== '' && cabinet !== definitionOf('CABINET_URL').default;
  const { messengerIdentity } = app.ports;
  return {
    referralLink: isSet ? `${cabinet}${cabinet.includes('?') ? '&' : '?'}ref=${encodeURIComponent(code)}` : '',
    botReferralLink: `${messengerIdentity.linkBase()}/${messengerIdentity.botUsername() ?? 'bot'}?start=${code}`,
  };
}

interface Page {
  page: number;
  perPage: number;
}

const sliceOf = ({ page, perPage }: Page) => ({ limit: perPage, offset: offsetOf(page, perPage) });

/** Whom the user invited, newest first. */
export function listReferralsOf(app: App, actor: UserActor, page: Page): Promise<{ items: OwnReferral[]; total: number }> {
  return listOwnReferrals(app.db, actor.userId, sliceOf(page));
}

/** The user's rewards, newest first. */
export function listEarningsOf(
  app: App,
  actor: UserActor,
  page: Page,
): Promise<{ items: OwnEarning[]; total: number; totalKopeks: number }> {
  return listOwnEarnings(app.db, actor.userId, sliceOf(page));
}

/** The terms of the programme as they are set (spec 04 section 2); kopeks. */
export function readReferralTerms({ settings }: App) {
  return {
    isEnabled: settings.get('REFERRAL_PROGRAM_ENABLED'),
    commissionPercent: settings.get('REFERRAL_COMMISSION_PERCENT'),
    minimumTopupKopeks: settings.get('REFERRAL_MINIMUM_TOPUP_KOPEKS'),
    firstTopupBonusKopeks: settings.get('REFERRAL_FIRST_TOPUP_BONUS_KOPEKS'),
    inviterBonusKopeks: settings.get('REFERRAL_INVITER_BONUS_KOPEKS'),
    maxCommissionPayments: settings.get('REFERRAL_MAX_COMMISSION_PAYMENTS'),
    isPartnerSectionVisible: settings.get('REFERRAL_PARTNER_SECTION_VISIBLE'),
  };
}
