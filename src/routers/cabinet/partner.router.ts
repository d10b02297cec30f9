import { campaignLinks } from '../../domain/campaigns/campaigns.ts';
import {
  campaignNotFound,
  partnerRequired,
  readMyCampaignStats,
  readMyPartnership,
} from '../../domain/campaigns/partner-campaigns.ts';
import { registrantName } from '../../domain/campaigns/rules.ts';
import { alreadyPending, applyForPartnership } from '../../domain/referrals/partners/partners.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  CampaignStatsPath,
  PartnerApplicationInfo,
  PartnerApplicationRequest,
  PartnerCampaignDetailedStats,
  PartnerStatusResponse,
} from './partner.schemas.ts';

const tags: [string] = ['Cabinet Partner'];

export const partnerRouter = router({
  status: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/referral/partner/status', tags, summary: 'Own partner status' },
      description: 'Returns the state as a partner, the newest application, and the active campaigns with their numbers.',
    })
    .output(toWire(PartnerStatusResponse))
    .query(async ({ ctx }) => {
      const { campaigns, ...partnership } = await readMyPartnership(ctx.app, ctx.actor);
      return {
        ...partnership,
        campaigns: campaigns.map((campaign) => ({ ...campaign, ...campaignLinks(ctx.app, campaign.startParameter) })),
      };
    }),

  campaignStats: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/referral/partner/campaigns/{campaign_id}/stats',
        tags,
        summary: 'Statistics of an own campaign',
      },
      description: 'Returns registrations and revenue of one own campaign, also by day. For partners only.',
      refuses: [partnerRequired, campaignNotFound],
    })
    .input(fromWire(CampaignStatsPath))
    .output(toWire(PartnerCampaignDetailedStats))
    .query(async ({ ctx, input }) => {
      const stats = await readMyCampaignStats(ctx.app, ctx.actor, input.campaignId);
      return { ...stats, topReferrals: stats.topReferrals.map((top) => ({ ...top, fullName: registrantName(top) })) };
    }),

  sendApplication: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/referral/partner/apply', tags, summary: 'Apply to become a partner' },
      description:
        'Sends an application to become a partner. One application can be open at a time. Administrators are notified.',
      refuses: [alreadyPending],
    })
    .input(fromWire(PartnerApplicationRequest))
    .output(toWire(PartnerApplicationInfo))
    .mutation(({ ctx, input }) => applyForPartnership(ctx.app, ctx.actor, input)),
});
