import type { AdminActor, UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { fullName } from '../../identity/rules.ts';
import { adminChat } from '../../messaging/admin-chat.ts';
import { notifyUser, recipientOf, sendMessage } from '../../messaging/send-message.ts';
import { htmlText, shorten, type TextKey, translatedRefusal } from '../../messaging/texts.ts';
import { putSettings } from '../../settings/change-setting.ts';
import type { SettingKey, SettingValue } from '../../settings/types.ts';
import { setPartnership } from '../../users/account/read-user.ts';
import { findReferralUser } from '../repo.ts';
import { readReferralTotals } from '../stats/read-stats.ts';
import {
  countPartners,
  countPendingApplications,
  findApplication,
  findLatestApplication,
  insertApplication,
  type ListedApplication,
  listApplications,
  listPartners,
  lockApplicant,
  settleApplication,
} from './repo.ts';
import type { ApplicationRequest, ApplicationStatus, ListedPartner, LockedApplicant, PartnerApplication } from './types.ts';

/** Locks a user in the caller's transaction, so that the partnership does not change until its end. Null for an unknown user. */
export function lockPartner(t: App, userId: number): Promise<LockedApplicant | null> {
  return lockApplicant(t.db, userId);
}

/**
 * Sets the commission of a partner, under the user's lock (spec 04 section 3.4).
 * @param percent 1..100, rounded to two decimals
 * @returns what is stored
 * @throws AppError 404 no such user | 400 no partner
 */
export async function changePartnerCommission(
  app: App,
  _actor: AdminActor,
  userId: number,
  percent: number,
): Promise<{ commissionPercent: number }> {
  const commissionPercent = Math.round(percent * 100) / 100;
  return inTransaction(app, async (t) => {
    const user = await lockPartner(t, userId);
    if (!user) throw partnerUserMissing(t.settings.get('DEFAULT_LANGUAGE'));
    if (user.partnerStatus !== 'approved') throw notPartner(t.settings.get('DEFAULT_LANGUAGE'));
    await setPartnership(t, userId, { partnerStatus: 'approved', referralCommissionPercent: commissionPercent });
    t.audit?.record({ before: { commissionPercent: user.commissionPercent }, after: { commissionPercent } });
    return { commissionPercent };
  });
}

/**
 * Makes a partner an ordinary user again, without personal commission, in the caller's transaction.
 * @returns the partner before the change
 * @throws AppError 400 no such user | no partner
 */
export async function endPartnership(t: App, userId: number): Promise<LockedApplicant> {
  const user = await lockPartner(t, userId);
  if (!user) throw userMissing(t.settings.get('DEFAULT_LANGUAGE'));
  if (user.partnerStatus !== 'approved') throw notPartner(t.settings.get('DEFAULT_LANGUAGE'));
  await setPartnership(t, userId, { partnerStatus: 'none', referralCommissionPercent: null });
  return user;
}

const DESCRIPTION_IN_NOTICE = 200;

/**
 * Asks to become a partner (spec 04 section 3.1): from `none` or `rejected` to `pending`, with a notice to the administrators' chat.
 * Under the user's lock, so that of several concurrent requests one is stored.
 * @throws AppError 400 already a partner | already pending | no such user, in the user's language
 */
export async function applyForPartnership(app: App, actor: UserActor, request: ApplicationRequest): Promise<PartnerApplication> {
  return inTransaction(app, async (t) => {
    const user = await lockApplicant(t.db, actor.userId);
    if (user?.status !== 'active') throw userMissing(user?.language ?? null);
    if (user.partnerStatus === 'approved') throw alreadyPartner(user.language);
    if (user.partnerStatus === 'pending') throw alreadyPending(user.language);
    const application = await insertApplication(t.db, user.id, request, t.clock.now());
    await setPartnership(t, user.id, { partnerStatus: 'pending' });
    await notifyAdmins(t, application);
    return application;
  });
}

/** Everything that the applicant wrote is escaped, and long texts are cut. */
async function notifyAdmins(t: App, application: PartnerApplication): Promise<void> {
  const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_PARTNERS_TOPIC_ID');
  const applicant = await findReferralUser(t.db, application.userId);
  if (chat === null || applicant === null) return;
  const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'partners.admin_application', {
    application_id: application.id,
    name: shorten(fullName(applicant), 100),
    contact: applicant.messengerId ?? applicant.email ?? `#${applicant.id}`,
    company_name: application.companyName ?? '—',
    website_url: application.websiteUrl ?? '—',
    messenger_channel: application.messengerChannel ?? '—',
    expected_monthly_referrals: application.expectedMonthlyReferrals ?? '—',
    desired_commission_percent: application.desiredCommissionPercent === null ? '—' : `${application.desiredCommissionPercent}%`,
    description: shorten(application.description ?? '—', DESCRIPTION_IN_NOTICE),
  });
  await sendMessage(t, { ...chat, html });
}

/** The two ways to decide; percent 1..100. */
type Decision =
  | { status: 'approved'; percent: number; comment?: string | null | undefined }
  | { status: 'rejected'; comment?: string | null | undefined };

/**
 * Decides on a pending application: an approved user is a partner with this commission, a rejected one may apply again
 * immediately. The applicant is notified by messenger or mail. Of several concurrent decisions one takes effect.
 * @throws AppError 400 application not found | already decided on | applicant deleted
 */
export async function decideApplication(app: App, actor: AdminActor, id: number, decision: Decision): Promise<void> {
  await inTransaction(app, async (t) => {
    const before = await findApplication(t.db, id);
    if (!before) throw applicationNotFound(t.settings.get('DEFAULT_LANGUAGE'));
    // The user's row is locked first (spec 00, lock order); the application follows with its conditional update.
    const user = await lockApplicant(t.db, before.userId);
    if (!user || user.status === 'deleted') throw userMissing(t.settings.get('DEFAULT_LANGUAGE'));
    const percent = decision.status === 'approved' ? decision.percent : null;
    const after = await settleApplication(t.db, id, {
      status: decision.status,
      comment: decision.comment ?? null,
      ...{ userId: user.id, percent, adminId: actor.userId, now: t.clock.now() },
    });
    if (!after) throw applicationProcessed(t.settings.get('DEFAULT_LANGUAGE'));
    await setPartnership(t, after.userId, { partnerStatus: decision.status, referralCommissionPercent: percent ?? undefined });
    t.audit?.record({
      before: { status: 'pending', partnerStatus: user.partnerStatus, commissionPercent: user.commissionPercent },
      after: { status: after.status, partnerStatus: after.status, commissionPercent: percent ?? user.commissionPercent },
    });
    await notifyApplicant(t, after);
  });
}

async function notifyApplicant(t: App, application: PartnerApplication): Promise<void> {
  const applicant = await findReferralUser(t.db, application.userId);
  if (!applicant) return;
  const { adminComment: comment, approvedCommissionPercent: percent } = application;
  const write = (key: TextKey, params = {}) =>
    htmlText(applicant.language, key, params) +
    (comment === null ? '' : htmlText(applicant.language, 'partners.message_comment', { comment }));
  if (percent !== null) {
    await notifyUser(t, recipientOf(applicant), {
      html: write('partners.message_approved', { commission_percent: percent }),
      mail: 'partner_application_approved',
      mailParams: { commission_percent: percent, comment: comment ?? '—' },
      event: 'notification.partner_application_approved',
      context: { commission_percent: percent, comment },
    });
    return;
  }
  await notifyUser(t, recipientOf(applicant), {
    html: write('partners.message_rejected'),
    mail: 'partner_application_rejected',
    mailParams: { comment: comment ?? '—' },
    event: 'notification.partner_application_rejected',
    context: { comment },
  });
}

/** The settings of the partner page; amount in kopeks. */
interface PartnerSettings {
  withdrawalEnabled: boolean;
  withdrawalMinAmountKopeks: number;
  withdrawalCooldownDays: number;
  withdrawalRequisitesText: string;
  partnerSectionVisible: boolean;
  referralProgramEnabled: boolean;
}

const KEYS = {
  withdrawalEnabled: 'REFERRAL_WITHDRAWAL_ENABLED',
  withdrawalMinAmountKopeks: 'REFERRAL_WITHDRAWAL_MIN_AMOUNT_KOPEKS',
  withdrawalCooldownDays: 'REFERRAL_WITHDRAWAL_COOLDOWN_DAYS',
  withdrawalRequisitesText: 'REFERRAL_WITHDRAWAL_REQUISITES_TEXT',
  partnerSectionVisible: 'REFERRAL_PARTNER_SECTION_VISIBLE',
  referralProgramEnabled: 'REFERRAL_PROGRAM_ENABLED',
} as const satisfies Record<keyof PartnerSettings, SettingKey>;

/** The values in effect. */
export function readPartnerSettings({ settings }: App): PartnerSettings {
  return {
    withdrawalEnabled: settings.get(KEYS.withdrawalEnabled),
    withdrawalMinAmountKopeks: settings.get(KEYS.withdrawalMinAmountKopeks),
    withdrawalCooldownDays: settings.get(KEYS.withdrawalCooldownDays),
    withdrawalRequisitesText: settings.get(KEYS.withdrawalRequisitesText),
    partnerSectionVisible: settings.get(KEYS.partnerSectionVisible),
    referralProgramEnabled: settings.get(KEYS.referralProgramEnabled),
  };
}

/**
 * Stores the given settings as overrides, all or none; every instance is notified (spec 04 section 3.3).
 * @param changes null or absent leaves a setting as it is
 * @returns the values in effect: one that the environment gives stays
 * @throws AppError 400 a value that the setting does not take
 */
export async function changePartnerSettings(
  app: App,
  actor: AdminActor,
  changes: { [K in keyof PartnerSettings]?: PartnerSettings[K] | null | undefined },
): Promise<PartnerSettings> {
  const before = readPartnerSettings(app);
  const values = (Object.keys(KEYS) as (keyof PartnerSettings)[])
    .filter((name) => changes[name] != null)
    .map((name): [SettingKey, SettingValue] => [KEYS[name], changes[name] ?? null]);
  await putSettings(app, { kind: actor.kind }, values);
  const after = readPartnerSettings(app);
  app.audit?.record({ before, after });
  return after;
}

interface Slice {
  limit: number;
  offset: number;
}

/** Applications, newest first. Status: `none` is a status that no application has. */
export function listPartnerApplications(
  app: App,
  { status = null, ...slice }: Slice & { status?: ApplicationStatus | 'none' | null | undefined },
): Promise<{ items: ListedApplication[]; total: number }> {
  return listApplications(app.db, status, slice);
}

/** The last application of a user; null without one. */
export function findLatestApplicationOf(app: App, userId: number): Promise<PartnerApplication | null> {
  return findLatestApplication(app.db, userId);
}

/** Approved partners, newest registration first. */
export function listApprovedPartners(app: App, slice: Slice): Promise<{ items: ListedPartner[]; total: number }> {
  return listPartners(app.db, slice);
}

/** Number of partners and pending applications, and all referrals and earnings of the service. */
export async function readPartnerTotals(app: App) {
  const [totalPartners, pendingApplications, { totalReferrals, earningsKopeks }] = await Promise.all([
    countPartners(app.db),
    countPendingApplications(app.db),
    readReferralTotals(app),
  ]);
  return { totalPartners, pendingApplications, totalReferrals, totalEarningsKopeks: earningsKopeks };
}

/** Refusals in the language of the user or, to an administrator, of the installation (spec 04 section 3.3, "RU"). */
export const alreadyPartner = translatedRefusal('already_partner', 400, 'partners.already_partner');
export const alreadyPending = translatedRefusal('already_pending', 400, 'partners.already_pending');
export const userMissing = translatedRefusal('user_missing', 400, 'partners.user_missing');
/** Where the user is the subject of the request. */
export const partnerUserMissing = translatedRefusal('user_missing', 404, 'partners.user_missing');
export const applicationNotFound = translatedRefusal('application_not_found', 400, 'partners.application_not_found');
export const applicationProcessed = translatedRefusal('application_processed', 400, 'partners.application_processed');
export const notPartner = translatedRefusal('not_partner', 400, 'partners.not_partner');
export const partnerCampaignNotFound = translatedRefusal('campaign_not_found', 404, 'partners.campaign_not_found');
export const campaignTaken = translatedRefusal('campaign_taken', 400, 'partners.campaign_taken');
export const campaignNotAssigned = translatedRefusal('campaign_not_assigned', 400, 'partners.campaign_not_assigned');
