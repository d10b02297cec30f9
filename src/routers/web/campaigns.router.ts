import { listCampaigns } from '../../domain/campaigns/read-campaigns.ts';
import { changeCampaign, createCampaign, deleteCampaign } from '../../domain/campaigns/save-campaign.ts';
import type { CampaignCard } from '../../domain/campaigns/types.ts';
import { toCampaignChanges, toCampaignFields, toNewCampaign } from '../campaign-wire.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import {
  CampaignCreateRequest,
  CampaignListQuery,
  CampaignListResponse,
  CampaignPath,
  CampaignResponse,
  CampaignUpdateRequest,
} from './campaigns.schemas.ts';

const tags: [string] = ['campaigns'];

function toAnswer(card: CampaignCard) {
  return { ...toCampaignFields(card), tariff_name: card.tariffName, registrations_count: card.figures.registrations };
}

export const campaignsRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/campaigns', tags, summary: 'List campaigns, newest first' } })
    .input(CampaignListQuery)
    .output(CampaignListResponse)
    .query(async ({ ctx, input: { include_inactive: includeInactive, limit, offset } }) => {
      const { items, total } = await listCampaigns(ctx.app, { includeInactive, limit, offset });
      return { items: items.map(toAnswer), total, limit, offset };
    }),

  create: auditedWebProcedure('campaigns:create')
    .meta({ openapi: { method: 'POST', path: '/campaigns', tags, summary: 'Create a campaign' } })
    .input(CampaignCreateRequest)
    .output(CampaignResponse)
    .mutation(async ({ ctx, input }) => toAnswer(await createCampaign(ctx.app, ctx.actor, toNewCampaign(input)))),

  update: auditedWebProcedure('campaigns:edit')
    .meta({ openapi: { method: 'PATCH', path: '/campaigns/{campaign_id}', tags, summary: 'Change a campaign' } })
    .input(CampaignPath.extend(CampaignUpdateRequest.shape))
    .output(CampaignResponse)
    .mutation(async ({ ctx, input: { campaign_id: id, ...input } }) =>
      toAnswer(await changeCampaign(ctx.app, ctx.actor, id, toCampaignChanges(input))),
    ),

  delete: auditedWebProcedure('campaigns:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/campaigns/{campaign_id}', tags, summary: 'Delete a campaign and its registrations' },
    })
    .input(CampaignPath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteCampaign(ctx.app, ctx.actor, input.campaign_id);
      return { success: true as const };
    }),
});
