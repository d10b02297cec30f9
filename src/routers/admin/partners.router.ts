import {
  assignCampaignToPartner,
  type PartnerDetail,
  readPartnerDetail,
  revokePartner,
  unassignCampaignFromPartner,
} from '../../domain/campaigns/partner-campaigns.ts';
import {
  applicationNotFound,
  applicationProcessed,
  campaignNotAssigned,
  campaignTaken,
  changePartnerCommission,
  changePartnerSettings,
  decideApplication,
  listApprovedPartners,
  listPartnerApplications,
  notPartner,
  partnerCampaignNotFound,
  partnerUserMissing,
  readPartnerSettings,
  readPartnerTotals,
  userMissing,
} from '../../domain/referrals/partners/partners.ts';
import { percentOfTotal } from '../../domain/referrals/stats/rules.ts';
import { settingWrongType } from '../../domain/settings/rules.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { adminProcedure, freshAdminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  AdminApproveRequest,
  AdminPartnerApplicationsResponse,
  AdminPartnerDetailResponse,
  AdminPartnerListResponse,
  AdminRejectRequest,
  AdminUpdateCommissionRequest,
  ApplicationListQuery,
  ApplicationPath,
  CommissionAnswer,
  PartnerCampaignPath,
  PartnerListQuery,
  PartnerPath,
  PartnerSettingsResponse,
  PartnerSettingsUpdateRequest,
  PartnerTotalsResponse,
} from './partners.schemas.ts';

const tags: [string] = ['Cabinet Admin Partners'];
const BASE = '/cabinet/admin/partners';
const done = { success: true as const };

function toDetail({ user, stats, debtKopeks: referralDebtKopeks, campaigns }: PartnerDetail) {
  return {
    ...user,
    ...stats,
    userId: user.id,
    commissionPercent: user.referralCommissionPercent,
    earningsAllTime: stats.allTime.earningsKopeks,
    earningsToday: stats.today.earningsKopeks,
    earningsWeek: stats.week.earningsKopeks,
    earningsMonth: stats.month.earningsKopeks,
    conversionToPaid: percentOfTotal(stats.paidReferrals, stats.totalReferrals),
    referralDebtKopeks,
    campaigns,
  };
}

export const adminPartnersRouter = router({
  settings: adminProcedure('partners:settings')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/settings`, tags, summary: 'Settings of the partner page' },
      description: 'Returns the settings of the referral programme and of withdrawals.',
    })
    .output(toWire(PartnerSettingsResponse))
    .query(({ ctx }) => readPartnerSettings(ctx.app)),

  updateSettings: freshAdminProcedure('partners:settings')
    .meta({
      openapi: {
        method: 'PATCH',
        path: `${BASE}/settings`,
        tags,
        summary: 'Change settings; absent and null fields do not change',
      },
      description:
        'Changes settings of the referral programme; absent or null fields are not changed. The change applies immediately on every instance.',
      refuses: [settingWrongType],
    })
    .input(fromWire(PartnerSettingsUpdateRequest))
    .output(toWire(PartnerSettingsResponse))
    .mutation(({ ctx, input }) => changePartnerSettings(ctx.app, ctx.actor, input)),

  applications: adminProcedure('partners:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/applications`, tags, summary: 'List applications, newest first' },
      description: 'Lists applications, newest first.',
    })
    .input(fromWire(ApplicationListQuery))
    .output(toWire(AdminPartnerApplicationsResponse))
    .query(({ ctx, input }) => listPartnerApplications(ctx.app, input)),

  approve: adminProcedure('partners:approve')
    .meta({
      openapi: {
        method: 'POST',
        path: `${BASE}/applications/{application_id}/approve`,
        tags,
        summary: 'Make an applicant a partner',
      },
      description:
        'Makes the applicant a partner with a personal commission. The applicant is notified in the messenger, else by e-mail. An application is decided once.',
      refuses: [applicationNotFound, applicationProcessed],
    })
    .input(fromWire(withBody(ApplicationPath, AdminApproveRequest)))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input: { applicationId, commissionPercent: percent, comment } }) => {
      await decideApplication(ctx.app, ctx.actor, applicationId, { status: 'approved', percent, comment });
      return done;
    }),

  reject: adminProcedure('partners:approve')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/applications/{application_id}/reject`, tags, summary: 'Reject an application' },
      description: 'Declines an application. The applicant is notified in the messenger, else by e-mail, and may apply again.',
      refuses: [applicationNotFound, applicationProcessed],
    })
    .input(fromWire(withBody(ApplicationPath, AdminRejectRequest)))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input: { applicationId, comment } }) => {
      await decideApplication(ctx.app, ctx.actor, applicationId, { status: 'rejected', comment });
      return done;
    }),

  stats: adminProcedure('partners:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/stats`, tags, summary: 'Totals of partners, applications, referrals and rewards' },
      description: 'Counts partners, open applications, referrals and rewards.',
    })
    .output(toWire(PartnerTotalsResponse))
    .query(({ ctx }) => readPartnerTotals(ctx.app)),

  list: adminProcedure('partners:read')
    .meta({
      openapi: { method: 'GET', path: BASE, tags, summary: 'List partners, newest registration first' },
      description: 'Lists partners, newest registration first.',
    })
    .input(fromWire(PartnerListQuery))
    .output(toWire(AdminPartnerListResponse))
    .query(({ ctx, input }) => listApprovedPartners(ctx.app, input)),

  get: adminProcedure('partners:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/{user_id}`, tags, summary: 'A user as a partner, with the campaigns' },
      description:
        'Returns a user as a partner: referrals, rewards and campaigns with their numbers. Works for any user, also one who is not a partner.',
      refuses: [partnerUserMissing],
    })
    .input(fromWire(PartnerPath))
    .output(toWire(AdminPartnerDetailResponse))
    .query(async ({ ctx, input }) => toDetail(await readPartnerDetail(ctx.app, input.userId))),

  updateCommission: adminProcedure('partners:edit')
    .meta({
      openapi: { method: 'PATCH', path: `${BASE}/{user_id}/commission`, tags, summary: "Change a partner's commission" },
      description: 'Sets the commission of a partner, from the next top-up of a referral on.',
      refuses: [notPartner, partnerUserMissing],
    })
    .input(fromWire(withBody(PartnerPath, AdminUpdateCommissionRequest)))
    .output(toWire(CommissionAnswer))
    .mutation(async ({ ctx, input: { userId, commissionPercent } }) => {
      const saved = await changePartnerCommission(ctx.app, ctx.actor, userId, commissionPercent);
      return { ...done, ...saved };
    }),

  revoke: adminProcedure('partners:revoke')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/{user_id}/revoke`, tags, summary: 'End a partnership' },
      description: 'Ends a partnership: the personal commission is removed, and the campaigns are unassigned. Rewards remain.',
      refuses: [notPartner, userMissing],
    })
    .input(fromWire(PartnerPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await revokePartner(ctx.app, ctx.actor, input.userId);
      return done;
    }),

  assignCampaign: adminProcedure('partners:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: `${BASE}/{user_id}/campaigns/{campaign_id}/assign`,
        tags,
        summary: 'Assign a campaign to a partner',
      },
      description:
        'Gives a campaign to a partner. One that belongs to another partner is refused; repeating the call changes nothing.',
      refuses: [campaignTaken, notPartner, partnerCampaignNotFound],
    })
    .input(fromWire(PartnerCampaignPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await assignCampaignToPartner(ctx.app, ctx.actor, input);
      return done;
    }),

  unassignCampaign: adminProcedure('partners:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: `${BASE}/{user_id}/campaigns/{campaign_id}/unassign`,
        tags,
        summary: 'Unassign a campaign from a partner',
      },
      description: 'Takes a campaign from a partner.',
      refuses: [campaignNotAssigned, partnerCampaignNotFound],
    })
    .input(fromWire(PartnerCampaignPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await unassignCampaignFromPartner(ctx.app, ctx.actor, input);
      return done;
    }),
});
