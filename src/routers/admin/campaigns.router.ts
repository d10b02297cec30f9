import type { App } from '../../core/app.ts';
import { rublesOf } from '../../core/money.ts';
import {
  campaignLinks,
  changeCampaign,
  createCampaign,
  deleteCampaign,
  toggleCampaign,
} from '../../domain/campaigns/campaigns.ts';
import {
  bonusTariffMissing,
  bonusTariffUnknown,
  campaignExists,
  campaignInUseRefusal,
  campaignNotFound,
  partnerUnknown,
} from '../../domain/campaigns/errors.ts';
import { listAvailablePartners, listCampaigns, listRegistrations, readCampaign } from '../../domain/campaigns/read-campaigns.ts';
import { paidUsers, percentOfAll } from '../../domain/campaigns/rules.ts';
import type { CampaignCard } from '../../domain/campaigns/types.ts';
import { listSquads } from '../../domain/catalog/find-squads.ts';
import { listActiveTariffs } from '../../domain/catalog/find-tariff.ts';
import { toCampaignChanges, toNewCampaign } from '../campaign-request.ts';
import { adminProcedure, router } from '../trpc.ts';
import { CampaignPath } from '../web/campaigns.schemas.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  AdminCampaignCreateRequest,
  AdminCampaignListQuery,
  AdminCampaignListResponse,
  AdminCampaignUpdateRequest,
  AvailablePartnerItem,
  CampaignDeleteAnswer,
  CampaignDetailResponse,
  CampaignRegistrationsResponse,
  CampaignToggleResponse,
  RegistrationsQuery,
  ServerSquadInfo,
} from './campaigns.schemas.ts';
import { toTariffListItem } from './tariffs.router.ts';
import { TariffListItem } from './tariffs.schemas.ts';

const tags: [string] = ['Cabinet Admin Campaigns'];
const path = '/cabinet/admin/campaigns';
const one = `${path}/{campaign_id}` as const;

const toListItem = (card: CampaignCard) => ({
  ...card,
  registrationsCount: card.registrations,
  totalRevenueKopeks: card.depositsKopeks,
  conversionRate: percentOfAll(paidUsers(card), card.registrations),
});

const toDetail = (app: App, card: CampaignCard) => ({
  ...card,
  ...campaignLinks(app, card.startParameter),
  balanceBonusRubles: rublesOf(card.balanceBonusKopeks),
  tariff: card.tariffId === null || card.tariffName === null ? null : { id: card.tariffId, name: card.tariffName },
});

export const adminCampaignsRouter = router({
  availableServers: adminProcedure('campaigns:read')
    .meta({
      openapi: { method: 'GET', path: `${path}/available-servers`, tags, summary: 'List servers that can be selected' },
      description: 'Lists servers that a campaign can give.',
    })
    .output(toWire(ServerSquadInfo.array()))
    .query(({ ctx }) => listSquads(ctx.app)),

  availableTariffs: adminProcedure('campaigns:read')
    .meta({
      openapi: { method: 'GET', path: `${path}/available-tariffs`, tags, summary: 'List active tariffs that can be selected' },
      description: 'Lists active tariffs that a campaign can give.',
    })
    .output(toWire(TariffListItem.array()))
    .query(async ({ ctx }) => {
      const tariffs = await listActiveTariffs(ctx.app);
      // The form of a campaign does not count subscriptions (spec 04 section 6.5).
      return tariffs.map((tariff) =>
        toTariffListItem({ tariff, serversCount: tariff.allowedSquads.length, subscriptionsCount: 0 }),
      );
    }),

  availablePartners: adminProcedure('campaigns:read')
    .meta({
      openapi: { method: 'GET', path: `${path}/available-partners`, tags, summary: 'List partners that can be selected' },
      description: 'Lists partners to whom a campaign can belong.',
    })
    .output(toWire(AvailablePartnerItem.array()))
    .query(({ ctx }) => listAvailablePartners(ctx.app)),

  list: adminProcedure('campaigns:read')
    .meta({
      openapi: { method: 'GET', path, tags, summary: 'List campaigns with their statistics, newest first' },
      description: 'Lists advertising campaigns with registrations, conversion and revenue, newest first.',
    })
    .input(fromWire(AdminCampaignListQuery))
    .output(toWire(AdminCampaignListResponse))
    .query(async ({ ctx, input }) => {
      const { items, total } = await listCampaigns(ctx.app, input);
      return { campaigns: items.map(toListItem), total };
    }),

  create: adminProcedure('campaigns:create')
    .meta({
      openapi: { method: 'POST', path, tags, summary: 'Create a campaign' },
      description:
        'Creates a campaign. Which fields of the bonus are required depends on `bonus_type`. The administrator is recorded as creator.',
      refuses: [campaignExists, bonusTariffMissing, partnerUnknown, bonusTariffUnknown],
    })
    .input(fromWire(AdminCampaignCreateRequest))
    .output(toWire(CampaignDetailResponse))
    .mutation(async ({ ctx, input }) => toDetail(ctx.app, await createCampaign(ctx.app, ctx.actor, toNewCampaign(input)))),

  get: adminProcedure('campaigns:read')
    .meta({
      openapi: { method: 'GET', path: one, tags, summary: 'Read a campaign' },
      description: 'Returns a campaign with its links, servers and tariff.',
      refuses: [campaignNotFound],
    })
    .input(fromWire(CampaignPath))
    .output(toWire(CampaignDetailResponse))
    .query(async ({ ctx, input }) => toDetail(ctx.app, await readCampaign(ctx.app, input.campaignId))),

  update: adminProcedure('campaigns:edit')
    .meta({
      openapi: { method: 'PUT', path: one, tags, summary: 'Change a campaign' },
      description:
        'Changes a campaign; only fields that are sent change. Null clears partner, tariff and the values of the subscription bonus. Bonuses that were given remain.',
      refuses: [campaignExists, bonusTariffMissing, partnerUnknown, bonusTariffUnknown, campaignNotFound],
    })
    .input(fromWire(withBody(CampaignPath, AdminCampaignUpdateRequest)))
    .output(toWire(CampaignDetailResponse))
    .mutation(async ({ ctx, input: { campaignId, ...input } }) =>
      toDetail(ctx.app, await changeCampaign(ctx.app, ctx.actor, campaignId, toCampaignChanges(input))),
    ),

  delete: adminProcedure('campaigns:delete')
    .meta({
      openapi: { method: 'DELETE', path: one, tags, summary: 'Delete a campaign without registrations' },
      description: 'Deletes a campaign without registrations. Switch one with registrations off instead.',
      refuses: [campaignInUseRefusal, campaignNotFound],
    })
    .input(fromWire(CampaignPath))
    .output(toWire(CampaignDeleteAnswer))
    .mutation(async ({ ctx, input }) => {
      await deleteCampaign(ctx.app, ctx.actor, input.campaignId);
      return { message: 'Campaign deleted successfully' };
    }),

  toggle: adminProcedure('campaigns:edit')
    .meta({
      openapi: { method: 'POST', path: `${one}/toggle`, tags, summary: 'Switch a campaign on or off' },
      description: 'Switches a campaign on or off. Each call reverses the state. A campaign that is off gives no bonus.',
      refuses: [campaignNotFound],
    })
    .input(fromWire(CampaignPath))
    .output(toWire(CampaignToggleResponse))
    .mutation(async ({ ctx, input }) => {
      const isActive = await toggleCampaign(ctx.app, ctx.actor, input.campaignId);
      return { id: input.campaignId, isActive, message: isActive ? 'Campaign activated' : 'Campaign deactivated' };
    }),

  registrations: adminProcedure('campaigns:read')
    .meta({
      openapi: { method: 'GET', path: `${one}/registrations`, tags, summary: 'List registrations of a campaign' },
      description: 'Lists users who registered through a campaign, newest first.',
      refuses: [campaignNotFound],
    })
    .input(fromWire(RegistrationsQuery))
    .output(toWire(CampaignRegistrationsResponse))
    .query(({ ctx, input: { campaignId, ...page } }) => listRegistrations(ctx.app, campaignId, page)),
});
