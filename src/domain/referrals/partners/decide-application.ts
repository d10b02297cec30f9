import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { notifyUser, recipientOf } from '../../messaging/notify-user.ts';
import { htmlText, type TextKey } from '../../messaging/texts.ts';
import { setPartnership } from '../../users/account/referral-fields.ts';
import { findReferralUser } from '../repo.ts';
import { applicationNotFound, applicationProcessed, userMissing } from './errors.ts';
import { findApplication, lockApplicant, settleApplication } from './repo.ts';
import type { PartnerApplication } from './types.ts';

/** The two ways to decide; percent 1..100. */
export type Decision =
  | { status: 'approved'; percent: number; comment?: string | null | undefined }
  | { status: 'rejected'; comment?: string | null | undefined };

/**
 * Decides on a pending application (spec 04 section 3.1): an approved user is a partner with this commission, a rejected one may apply again
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
