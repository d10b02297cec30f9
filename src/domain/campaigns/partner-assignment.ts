import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { partnerRefusal } from '../referrals/partners/errors.ts';
import { endPartnership, holdPartner } from '../referrals/partners/hold-partner.ts';
import { assignCampaign, detachCampaigns, findCampaignPartner, unassignCampaign } from './partner-repo.ts';

/** What binds partners and campaigns; every change holds the partner's row first (spec 04 section 3.4). */

export interface Assignment {
  userId: number;
  campaignId: number;
}

/**
 * Gives a campaign to a partner; done again it changes nothing.
 * @throws AppError 404 no such campaign | 400 no partner | 400 the campaign is another partner's
 */
export async function assignCampaignToPartner(app: App, _actor: AdminActor, { userId, campaignId }: Assignment): Promise<void> {
  await inTransaction(app, async (t) => {
    const isPartner = (await holdPartner(t, userId))?.partnerStatus === 'approved';
    const before = await findCampaignPartner(t.db, campaignId);
    if (!before) throw partnerRefusal(t, 404, 'campaign_not_found');
    if (!isPartner) throw partnerRefusal(t, 400, 'not_partner');
    if (!(await assignCampaign(t.db, campaignId, userId, t.clock.now()))) throw partnerRefusal(t, 400, 'campaign_taken');
    t.audit?.note({ before: { campaignId, partnerUserId: before.partnerId }, after: { campaignId, partnerUserId: userId } });
  });
}

/** Takes a campaign from a partner. @throws AppError 404 no such campaign | 400 it is not this partner's */
export async function unassignCampaignFromPartner(
  app: App,
  _actor: AdminActor,
  { userId, campaignId }: Assignment,
): Promise<void> {
  await inTransaction(app, async (t) => {
    await holdPartner(t, userId);
    if (!(await findCampaignPartner(t.db, campaignId))) throw partnerRefusal(t, 404, 'campaign_not_found');
    if (!(await unassignCampaign(t.db, campaignId, userId, t.clock.now()))) {
      throw partnerRefusal(t, 400, 'campaign_not_assigned');
    }
    t.audit?.note({ before: { campaignId, partnerUserId: userId }, after: { campaignId, partnerUserId: null } });
  });
}

/**
 * Ends a partnership (spec 04 section 3.1): the personal commission goes, all campaigns are taken from him; applications and earnings
 * stay. An assignment at the same moment comes before, and is taken back, or after, and is refused.
 * @throws AppError 400 no such user | no partner
 */
export async function revokePartner(app: App, _actor: AdminActor, userId: number): Promise<void> {
  await inTransaction(app, async (t) => {
    const partner = await endPartnership(t, userId);
    const campaignIds = await detachCampaigns(t.db, userId, t.clock.now());
    t.audit?.note({
      before: { partnerStatus: partner.partnerStatus, commissionPercent: partner.commissionPercent, campaignIds },
      after: { partnerStatus: 'none', commissionPercent: null, campaignIds: [] },
    });
  });
}
