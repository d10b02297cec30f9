import {
  assignCampaignToPartner,
  revokePartner,
  unassignCampaignFromPartner,
} from '../../domain/campaigns/partner-assignment.ts';
import { readPartnerDetail } from '../../domain/campaigns/partner-stats.ts';
import { changePartnerCommission } from '../../domain/referrals/partners/change-commission.ts';
import { decideApplication } from '../../domain/referrals/partners/decide-application.ts';
import { changePartnerSettings, readPartnerSettings } from '../../domain/referrals/partners/partner-settings.ts';
import {
  listApprovedPartners,
  listPartnerApplications,
  readPartnerTotals,
} from '../../domain/referrals/partners/read-partners.ts';
import { toAdminApplication, toAdminPartner, toAdminPartnerDetail, toPartnerSettings } from '../partner-wire.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
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

export const adminPartnersRouter = router({
  settings: adminProcedure('partners:settings')
    .meta({ openapi: { method: 'GET', path: `${BASE}/settings`, tags, summary: 'Settings of the partner page' } })
    .output(PartnerSettingsResponse)
    .query(({ ctx }) => toPartnerSettings(readPartnerSettings(ctx.app))),

  updateSettings: adminProcedure('partners:settings')
    .meta({
      openapi: { method: 'PATCH', path: `${BASE}/settings`, tags, summary: 'Change settings; what is absent or null stays' },
    })
    .input(PartnerSettingsUpdateRequest)
    .output(PartnerSettingsResponse)
    .mutation(async ({ ctx, input }) =>
      toPartnerSettings(
        await changePartnerSettings(ctx.app, ctx.actor, {
          withdrawalEnabled: input.withdrawal_enabled ?? null,
          withdrawalMinAmountKopeks: input.withdrawal_min_amount_kopeks ?? null,
          withdrawalCooldownDays: input.withdrawal_cooldown_days ?? null,
          withdrawalRequisitesText: input.withdrawal_requisites_text ?? null,
          partnerSectionVisible: input.partner_section_visible ?? null,
          referralProgramEnabled: input.referral_program_enabled ?? null,
        }),
      ),
    ),

  applications: adminProcedure('partners:read')
    .meta({ openapi: { method: 'GET', path: `${BASE}/applications`, tags, summary: 'List applications, newest first' } })
    .input(ApplicationListQuery)
    .output(AdminPartnerApplicationsResponse)
    .query(async ({ ctx, input: { status = null, limit, offset } }) => {
      const { items, total } = await listPartnerApplications(ctx.app, status, { limit, offset });
      return { items: items.map(toAdminApplication), total };
    }),

  approve: adminProcedure('partners:approve')
    .meta({
      openapi: {
        method: 'POST',
        path: `${BASE}/applications/{application_id}/approve`,
        tags,
        summary: 'Make an applicant a partner',
      },
    })
    .input(ApplicationPath.extend(AdminApproveRequest.shape))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input: { application_id: id, commission_percent: percent, comment = null } }) => {
      await decideApplication(ctx.app, ctx.actor, id, { status: 'approved', percent, comment });
      return done;
    }),

  reject: adminProcedure('partners:approve')
    .meta({
      openapi: { method: 'POST', path: `${BASE}/applications/{application_id}/reject`, tags, summary: 'Decline an application' },
    })
    .input(ApplicationPath.extend(AdminRejectRequest.shape))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input: { application_id: id, comment = null } }) => {
      await decideApplication(ctx.app, ctx.actor, id, { status: 'rejected', comment });
      return done;
    }),

  stats: adminProcedure('partners:read')
    .meta({
      openapi: { method: 'GET', path: `${BASE}/stats`, tags, summary: 'Partners, applications, referrals and rewards in all' },
    })
    .output(PartnerTotalsResponse)
    .query(async ({ ctx }) => {
      const totals = await readPartnerTotals(ctx.app);
      return {
        total_partners: totals.partners,
        pending_applications: totals.pendingApplications,
        total_referrals: totals.totalReferrals,
        total_earnings_kopeks: totals.totalEarningsKopeks,
      };
    }),

  list: adminProcedure('partners:read')
    .meta({ openapi: { method: 'GET', path: BASE, tags, summary: 'List partners, newest registration first' } })
    .input(PartnerListQuery)
    .output(AdminPartnerListResponse)
    .query(async ({ ctx, input }) => {
      const { items, total } = await listApprovedPartners(ctx.app, input);
      return { items: items.map(toAdminPartner), total };
    }),

  get: adminProcedure('partners:read')
    .meta({ openapi: { method: 'GET', path: `${BASE}/{user_id}`, tags, summary: 'A user as a partner, with the campaigns' } })
    .input(PartnerPath)
    .output(AdminPartnerDetailResponse)
    .query(async ({ ctx, input }) => toAdminPartnerDetail(await readPartnerDetail(ctx.app, input.user_id))),

  updateCommission: adminProcedure('partners:edit')
    .meta({
      openapi: { method: 'PATCH', path: `${BASE}/{user_id}/commission`, tags, summary: "Change a partner's commission" },
    })
    .input(PartnerPath.extend(AdminUpdateCommissionRequest.shape))
    .output(CommissionAnswer)
    .mutation(async ({ ctx, input: { user_id: userId, commission_percent: percent } }) => {
      const { commissionPercent } = await changePartnerCommission(ctx.app, ctx.actor, userId, percent);
      return { ...done, commission_percent: commissionPercent };
    }),

  revoke: adminProcedure('partners:revoke')
    .meta({ openapi: { method: 'POST', path: `${BASE}/{user_id}/revoke`, tags, summary: 'End a partnership' } })
    .input(PartnerPath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await revokePartner(ctx.app, ctx.actor, input.user_id);
      return done;
    }),

  assignCampaign: adminProcedure('partners:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: `${BASE}/{user_id}/campaigns/{campaign_id}/assign`,
        tags,
        summary: 'Give a campaign to a partner',
      },
    })
    .input(PartnerCampaignPath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input: { user_id: userId, campaign_id: campaignId } }) => {
      await assignCampaignToPartner(ctx.app, ctx.actor, { userId, campaignId });
      return done;
    }),

  unassignCampaign: adminProcedure('partners:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: `${BASE}/{user_id}/campaigns/{campaign_id}/unassign`,
        tags,
        summary: 'Take a campaign from a partner',
      },
    })
    .input(PartnerCampaignPath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input: { user_id: userId, campaign_id: campaignId } }) => {
      await unassignCampaignFromPartner(ctx.app, ctx.actor, { userId, campaignId });
      return done;
    }),
});
