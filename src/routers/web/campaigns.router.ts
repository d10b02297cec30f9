import { rublesOf } from '../../core/money.ts';
import { changeCampaign, createCampaign, deleteCampaign } from '../../domain/campaigns/campaigns.ts';
import { bonusTariffUnknown, campaignExists, campaignNotFound } from '../../domain/campaigns/errors.ts';
import { listCampaigns } from '../../domain/campaigns/read-campaigns.ts';
import type { CampaignCard } from '../../domain/campaigns/types.ts';
import { toCampaignChanges, toNewCampaign } from '../campaign-request.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  CampaignCreateRequest,
  CampaignListQuery,
  CampaignListResponse,
  CampaignPath,
  CampaignResponse,
  CampaignUpdateRequest,
} from './campaigns.schemas.ts';

const tags: [string] = ['campaigns'];

const toAnswer = (card: CampaignCard) => ({
  ...card,
  balanceBonusRubles: rublesOf(card.balanceBonusKopeks),
  registrationsCount: card.registrations,
});

export const campaignsRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/campaigns', tags, summary: 'List campaigns, newest first' },
      description: 'Lists advertising campaigns, newest first.',
    })
    .input(fromWire(CampaignListQuery))
    .output(toWire(CampaignListResponse))
    .query(async ({ ctx, input }) => {
      const { items, total } = await listCampaigns(ctx.app, input);
      return { items: items.map(toAnswer), total, limit: input.limit, offset: input.offset };
    }),

  create: auditedWebProcedure('campaigns:create')
    .meta({
      openapi: { method: 'POST', path: '/campaigns', tags, summary: 'Create a campaign' },
      description: 'Creates a campaign. Which fields of the bonus are required depends on `bonus_type`.',
      refuses: [campaignExists, bonusTariffUnknown],
    })
    .input(fromWire(CampaignCreateRequest))
    .output(toWire(CampaignResponse))
    .mutation(async ({ ctx, input }) => toAnswer(await createCampaign(ctx.app, ctx.actor, toNewCampaign(input)))),

  update: auditedWebProcedure('campaigns:edit')
    .meta({
      openapi: { method: 'PATCH', path: '/campaigns/{campaign_id}', tags, summary: 'Change a campaign' },
      description:
        'Changes a campaign; only fields that are sent change. Null clears partner, tariff and the values of the subscription bonus. Bonuses that were given remain.',
      refuses: [campaignExists, bonusTariffUnknown, campaignNotFound],
    })
    .input(fromWire(withBody(CampaignPath, CampaignUpdateRequest)))
    .output(toWire(CampaignResponse))
    .mutation(async ({ ctx, input: { campaignId, ...input } }) =>
      toAnswer(await changeCampaign(ctx.app, ctx.actor, campaignId, toCampaignChanges(input))),
    ),

  delete: auditedWebProcedure('campaigns:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/campaigns/{campaign_id}', tags, summary: 'Delete a campaign and its registrations' },
      description: 'Deletes a campaign with its registrations. Bonuses and referrers stay with the users.',
      refuses: [campaignNotFound],
    })
    .input(fromWire(CampaignPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteCampaign(ctx.app, ctx.actor, input.campaignId);
      return { success: true as const };
    }),
});
