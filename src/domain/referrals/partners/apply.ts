import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { fullName } from '../../identity/rules.ts';
import { adminChat } from '../../messaging/admin-chat.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, shorten } from '../../messaging/texts.ts';
import { setPartnership } from '../../users/account/referral-fields.ts';
import { findReferralUser } from '../repo.ts';
import { alreadyPartner, alreadyPending, userMissing } from './errors.ts';
import { insertApplication, lockApplicant } from './repo.ts';
import type { ApplicationRequest, PartnerApplication } from './types.ts';

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
