import type { App } from '../../core/app.ts';
import { campaignLinks } from '../../domain/campaigns/campaign-links.ts';
import {
  listAvailablePartners,
  listCampaigns,
  listRegistrations,
  type RegistrationItem,
  readCampaign,
} from '../../domain/campaigns/read-campaigns.ts';
import { paidUsers, percentOfAll } from '../../domain/campaigns/rules.ts';
import { changeCampaign, createCampaign, deleteCampaign, toggleCampaign } from '../../domain/campaigns/save-campaign.ts';
import type { CampaignCard } from '../../domain/campaigns/types.ts';
import { listSquads } from '../../domain/catalog/find-squads.ts';
import { listActiveTariffs } from '../../domain/catalog/list-visible-tariffs.ts';
import { toCampaignChanges, toCampaignFields, toCampaignHead, toNewCampaign } from '../campaign-wire.ts';
import { adminProcedure, router } from '../trpc.ts';
import { CampaignPath } from '../web/campaigns.schemas.ts';
import { toWire } from '../wire.ts';
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

function toListItem({ campaign, figures, partnerName }: CampaignCard) {
  return {
    ...toCampaignHead(campaign),
    registrations_count: figures.registrations,
    total_revenue_kopeks: figures.depositsKopeks,
    conversion_rate: percentOfAll(paidUsers(figures), figures.registrations),
    partner_user_id: campaign.partnerUserId,
    partner_name: partnerName,
    created_at: campaign.createdAt,
  };
}

function toDetail(app: App, card: CampaignCard) {
  const { campaign, partnerName, tariffName } = card;
  const { deepLink, webLink } = campaignLinks(app, campaign.startParameter);
  return {
    ...toCampaignFields(card),
    tariff: campaign.tariffId === null || tariffName === null ? null : { id: campaign.tariffId, name: tariffName },
    partner_user_id: campaign.partnerUserId,
    partner_name: partnerName,
    deep_link: deepLink,
    web_link: webLink,
  };
}

function toRegistration(item: RegistrationItem) {
  return {
    id: item.id,
    user_id: item.userId,
    messenger_id: item.messengerId,
    username: item.username,
    first_name: item.firstName,
    bonus_type: item.bonusType,
    balance_bonus_kopeks: item.balanceBonusKopeks,
    subscription_duration_days: item.subscriptionDurationDays,
    tariff_id: item.tariffId,
    tariff_duration_days: item.tariffDurationDays,
    created_at: item.createdAt,
    user_balance_kopeks: item.userBalanceKopeks,
    has_subscription: item.hasSubscription,
    has_paid: item.hasPaid,
  };
}

export const adminCampaignsRouter = router({
  availableServers: adminProcedure('campaigns:read')
    .meta({ openapi: { method: 'GET', path: `${path}/available-servers`, tags, summary: 'Servers to choose from' } })
    .output(ServerSquadInfo.array())
    .query(async ({ ctx }) => {
      const squads = await listSquads(ctx.app);
      return squads.map((squad) => ({
        id: squad.id,
        squad_uuid: squad.squadUuid,
        display_name: squad.displayName,
        country_code: squad.countryCode,
      }));
    }),

  availableTariffs: adminProcedure('campaigns:read')
    .meta({ openapi: { method: 'GET', path: `${path}/available-tariffs`, tags, summary: 'Active tariffs to choose from' } })
    .output(toWire(TariffListItem.array()))
    .query(async ({ ctx }) => {
      const tariffs = await listActiveTariffs(ctx.app);
      // The form of a campaign does not count subscriptions (spec 04 section 6.5).
      return tariffs.map((tariff) => toTariffListItem({ tariff, subscriptionsCount: 0 }));
    }),

  availablePartners: adminProcedure('campaigns:read')
    .meta({ openapi: { method: 'GET', path: `${path}/available-partners`, tags, summary: 'Partners to choose from' } })
    .output(AvailablePartnerItem.array())
    .query(async ({ ctx }) => {
      const partners = await listAvailablePartners(ctx.app);
      return partners.map(({ userId, username, firstName }) => ({ user_id: userId, username, first_name: firstName }));
    }),

  list: adminProcedure('campaigns:read')
    .meta({ openapi: { method: 'GET', path, tags, summary: 'List campaigns with their numbers, newest first' } })
    .input(AdminCampaignListQuery)
    .output(AdminCampaignListResponse)
    .query(async ({ ctx, input: { include_inactive: includeInactive, limit, offset } }) => {
      const { items, total } = await listCampaigns(ctx.app, { includeInactive, limit, offset });
      return { campaigns: items.map(toListItem), total };
    }),

  create: adminProcedure('campaigns:create')
    .meta({ openapi: { method: 'POST', path, tags, summary: 'Create a campaign' } })
    .input(AdminCampaignCreateRequest)
    .output(CampaignDetailResponse)
    .mutation(async ({ ctx, input }) => toDetail(ctx.app, await createCampaign(ctx.app, ctx.actor, toNewCampaign(input)))),

  get: adminProcedure('campaigns:read')
    .meta({ openapi: { method: 'GET', path: one, tags, summary: 'Read a campaign' } })
    .input(CampaignPath)
    .output(CampaignDetailResponse)
    .query(async ({ ctx, input }) => toDetail(ctx.app, await readCampaign(ctx.app, input.campaign_id))),

  update: adminProcedure('campaigns:edit')
    .meta({ openapi: { method: 'PUT', path: one, tags, summary: 'Change a campaign' } })
    .input(CampaignPath.extend(AdminCampaignUpdateRequest.shape))
    .output(CampaignDetailResponse)
    .mutation(async ({ ctx, input: { campaign_id: id, ...input } }) =>
      toDetail(ctx.app, await changeCampaign(ctx.app, ctx.actor, id, toCampaignChanges(input))),
    ),

  delete: adminProcedure('campaigns:delete')
    .meta({ openapi: { method: 'DELETE', path: one, tags, summary: 'Delete a campaign without registrations' } })
    .input(CampaignPath)
    .output(CampaignDeleteAnswer)
    .mutation(async ({ ctx, input }) => {
      await deleteCampaign(ctx.app, ctx.actor, input.campaign_id);
      return { message: 'Campaign deleted successfully' };
    }),

  toggle: adminProcedure('campaigns:edit')
    .meta({ openapi: { method: 'POST', path: `${one}/toggle`, tags, summary: 'Switch a campaign on or off' } })
    .input(CampaignPath)
    .output(CampaignToggleResponse)
    .mutation(async ({ ctx, input }) => {
      const isActive = await toggleCampaign(ctx.app, ctx.actor, input.campaign_id);
      return { id: input.campaign_id, is_active: isActive, message: isActive ? 'Campaign activated' : 'Campaign deactivated' };
    }),

  registrations: adminProcedure('campaigns:read')
    .meta({ openapi: { method: 'GET', path: `${one}/registrations`, tags, summary: 'Who came through a campaign' } })
    .input(RegistrationsQuery)
    .output(CampaignRegistrationsResponse)
    .query(async ({ ctx, input: { campaign_id: id, page, per_page: perPage } }) => {
      const { items, total } = await listRegistrations(ctx.app, id, { page, perPage });
      return { registrations: items.map(toRegistration), total, page, per_page: perPage };
    }),
});
