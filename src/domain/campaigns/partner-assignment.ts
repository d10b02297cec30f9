import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { campaignNotAssigned, campaignTaken, notPartner, partnerCampaignNotFound } from '../referrals/partners/errors.ts';
import { endPartnership, lockPartner } from '../referrals/partners/partnership.ts';
import { assignCampaign, detachCampaigns, findCampaignPartner, unassignCampaign } from './partner-repo.ts';

/** The assignment of campaigns to partners; every change locks the partner's row first (spec 04 section 3.4). */

export interface Assignment {
  userId: number;
  campaignId: number;
}

/**
 * Assigns a campaign to a partner; a repeated call changes nothing.
 * @throws AppError 404 no such campaign | 400 no partner | 400 the campaign is another partner's
 */
export async function assignCampaignToPartner(app: App, _actor: AdminActor, { userId, campaignId }: Assignment): Promise<void> {
  await inTransaction(app, async (t) => {
    const isPartner = (await lockPartner(t, userId))?.partnerStatus === 'approved';
    const before = await findCampaignPartner(t.db, campaignId);
    if (!before) throw partnerCampaignNotFound(t.settings.get('DEFAULT_LANGUAGE'));
    if (!isPartner) throw notPartner(t.settings.get('DEFAULT_LANGUAGE'));
    if (!(await assignCampaign(t.db, campaignId, userId, t.clock.now()))) throw campaignTaken(t.settings.get('DEFAULT_LANGUAGE'));
    t.audit?.record({
      before: { campaignId, partnerUserId: before.partnerUserId },
      after: { campaignId, partnerUserId: userId },
    });
  });
}

/** Unassigns a campaign from a partner. @throws AppError 404 no such campaign | 400 it is not this partner's */
export async function unassignCampaignFromPartner(
  app: App,
  _actor: AdminActor,
  { userId, campaignId }: Assignment,
): Promise<void> {
  await inTransaction(app, async (t) => {
    await lockPartner(t, userId);
    if (!(await findCampaignPartner(t.db, campaignId))) throw partnerCampaignNotFound(t.settings.get('DEFAULT_LANGUAGE'));
    if (!(await unassignCampaign(t.db, campaignId, userId, t.clock.now()))) {
      throw campaignNotAssigned(t.settings.get('DEFAULT_LANGUAGE'));
    }
    t.audit?.record({ before: { campaignId, partnerUserId: userId }, after: { campaignId, partnerUserId: null } });
  });
}

/**
 * Ends a partnership (spec 04 section 3.1): the personal commission is removed and all campaigns are unassigned; applications and earnings
 * stay. A concurrent assignment is either committed before and removed here, or refused.
 * @throws AppError 400 no such user | no partner
 */
export async function revokePartner(app: App, _actor: AdminActor, userId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const partner = await endPartnership(t, userId);
    const campaignIds = await detachCampaigns(t.db, userId, t.clock.now());
    t.audit?.record({
      before: { partnerStatus: partner.partnerStatus, commissionPercent: partner.commissionPercent, campaignIds },
      after: { partnerStatus: 'none', commissionPercent: null, campaignIds: [] },
    });
  });
}
