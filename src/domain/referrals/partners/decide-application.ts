import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { htmlText, type TextKey } from '../../messaging/texts.ts';
import { findParty } from '../repo.ts';
import { tellParty } from '../tell-party.ts';
import { partnerRefusal } from './errors.ts';
import { findApplication, lockApplicant, setPartnerStatus, settleApplication } from './repo.ts';
import type { PartnerApplication } from './types.ts';

/** The two ways to decide; percent 1..100. */
export type Decision =
  | { status: 'approved'; percent: number; comment: string | null }
  | { status: 'rejected'; comment: string | null };

/**
 * Decides on a pending application (spec 04 section 3.1): approved, the user is a partner with this commission; rejected, he may apply
 * again at once. The applicant hears of it by messenger or mail. Of many decisions at once one counts.
 * @throws AppError 400 application not found | already decided on | applicant gone
 */
export async function decideApplication(app: App, actor: AdminActor, id: number, decision: Decision): Promise<void> {
  await inTransaction(app, async (t) => {
    const before = await findApplication(t.db, id);
    if (!before) throw partnerRefusal(t, 400, 'application_not_found');
    // The user's row first (spec 00, lock order); the application's own follows with its conditional change.
    const user = await lockApplicant(t.db, before.userId);
    if (!user || user.status === 'deleted') throw partnerRefusal(t, 400, 'user_missing');
    const percent = decision.status === 'approved' ? decision.percent : null;
    const now = t.clock.now();
    const after = await settleApplication(t.db, id, { ...decision, userId: user.id, percent, adminId: actor.userId, now });
    if (!after) throw partnerRefusal(t, 400, 'application_processed');
    await setPartnerStatus(t.db, after.userId, decision.status, percent ?? undefined, now);
    t.audit?.note({
      before: { status: 'pending', partnerStatus: user.partnerStatus, commissionPercent: user.commissionPercent },
      after: { status: after.status, partnerStatus: after.status, commissionPercent: percent ?? user.commissionPercent },
    });
    await tellApplicant(t, after);
  });
}

async function tellApplicant(t: App, application: PartnerApplication): Promise<void> {
  const party = await findParty(t.db, application.userId);
  if (!party) return;
  const { adminComment: comment, approvedCommissionPercent: percent } = application;
  const write = (key: TextKey, params = {}) =>
    htmlText(party.language, key, params) +
    (comment === null ? '' : htmlText(party.language, 'partners.message_comment', { comment }));
  if (percent !== null) {
    await tellParty(t, party, {
      html: write('partners.message_approved', { commission_percent: percent }),
      mail: 'partner_application_approved',
      mailParams: { commission_percent: percent, comment: comment ?? '—' },
      event: 'notification.partner_application_approved',
      context: { commission_percent: percent, comment },
    });
    return;
  }
  await tellParty(t, party, {
    html: write('partners.message_rejected'),
    mail: 'partner_application_rejected',
    mailParams: { comment: comment ?? '—' },
    event: 'notification.partner_application_rejected',
    context: { comment },
  });
}
