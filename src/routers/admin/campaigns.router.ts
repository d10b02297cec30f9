import { z } from 'zod';
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
import { Timestamp } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { BonusTypeField, CAMPAIGN_EXAMPLE, CampaignPath, campaignGift, campaignHead } from '../web/campaigns.schemas.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import { toTariffListItem } from './tariffs.router.ts';
import { TariffListItem } from './tariffs.schemas.ts';

/** Contract group `Cabinet Admin Campaigns`. */

const StartParameter = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-zA-Z0-9_-]+$/);

const AdminCampaignListQuery = z.object({
  include_inactive: z.boolean().default(true).describe('Whether inactive records are listed too.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  limit: z.int().min(1).max(100).default(50).describe('Greatest number of records in the answer.'),
});

const CampaignListItem = z
  .object({
    ...campaignHead,
    registrations_count: z.int().describe('Number of users who registered through the campaign.'),
    total_revenue_kopeks: z.int().default(0).describe('Revenue of the whole period in kopeks.'),
    conversion_rate: z.number().default(0).describe('Share of those who bought, in percent; 0 when there are none.'),
    partner_user_id: z.int().nullish().describe('Internal id of the partner whom the campaign belongs to; null for none.'),
    partner_name: z.string().nullish().describe('Name of the partner; null for none.'),
    created_at: Timestamp.describe('When the campaign was created (UTC).'),
  })
  .meta({ id: 'CampaignListItem' });

const AdminCampaignListResponse = z
  .object({
    campaigns: CampaignListItem.array().describe('Campaigns of this page.'),
    total: z.int().describe('Number of advertising campaigns that match the filters, on all pages.'),
  })
  .meta({ id: 'CabinetCampaignsCampaignListResponse' });

const CampaignTariffInfo = z
  .object({ id: z.int().describe('Id of the tariff.'), name: z.string().describe('Name of the tariff of the bonus.') })
  .meta({ id: 'TariffInfo' });

const CampaignDetailResponse = z
  .object({
    ...campaignHead,
    balance_bonus_kopeks: z.int().default(0).describe('Kopeks added to the balance; for the bonus type `balance`.'),
    balance_bonus_rubles: z.number().default(0).describe('The same in rubles: kopeks / 100.'),
    ...campaignGift,
    tariff: CampaignTariffInfo.nullish().describe('Tariff of the bonus; null for none.'),
    partner_user_id: z.int().nullish().describe('Internal id of the partner whom the campaign belongs to; null for none.'),
    partner_name: z.string().nullish().describe('Name of the partner; null for none.'),
    created_by: z
      .int()
      .nullish()
      .describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
    created_at: Timestamp.describe('When the campaign was created (UTC).'),
    updated_at: Timestamp.nullish().describe(
      'When the campaign or its partner was last changed (UTC); registrations do not count.',
    ),
    deep_link: z.string().nullish().describe('Link to the bot with the start parameter; null when it cannot be built.'),
    web_link: z.string().nullish().describe('Link to the cabinet with the start parameter; null when no address is configured.'),
  })
  .meta({ id: 'CampaignDetailResponse' });

const AdminCampaignCreateRequest = z
  .object({
    name: z.string().min(1).max(255).describe('Name of the campaign, 1 to 255 characters, for administrators.'),
    start_parameter: StartParameter.describe('Part of the links that marks the campaign; unique, case-sensitive.'),
    bonus_type: BonusTypeField.describe('What a new registration gets: `balance`, `subscription`, `tariff` or `none`.'),
    is_active: z
      .boolean()
      .default(true)
      .describe('Whether the link of the campaign registers users from now on; otherwise it has no effect.'),
    balance_bonus_kopeks: z.int().min(0).default(0).describe('Kopeks added to the balance; for the bonus type `balance`.'),
    subscription_duration_days: z
      .int()
      .min(1)
      .nullish()
      .describe('Days of the given subscription; for the bonus type `subscription`. Null for none.'),
    subscription_traffic_gb: z
      .int()
      .min(0)
      .nullish()
      .describe('Traffic limit of the given subscription in GB; 0 or null = unlimited.'),
    subscription_device_limit: z.int().min(1).nullish().describe('Device limit of the given subscription; null for the default.'),
    subscription_squads: z
      .string()
      .array()
      .default([])
      .describe('UUIDs of the servers of the given subscription; empty for one chosen at random.'),
    tariff_id: z.int().nullish().describe('Id of the tariff; null for none.'),
    tariff_duration_days: z.int().min(1).nullish().describe('Days on the tariff; for the bonus type `tariff`. Null for none.'),
    partner_user_id: z.int().nullish().describe('Internal id of the partner whom the campaign belongs to; null for none.'),
  })
  .meta({ id: 'CabinetCampaignsCampaignCreateRequest', example: CAMPAIGN_EXAMPLE });

const AdminCampaignUpdateRequest = z
  .object({
    name: z
      .string()
      .min(1)
      .max(255)
      .nullish()
      .describe('New name of the campaign, 1 to 255 characters; null leaves it unchanged.'),
    start_parameter: StartParameter.nullish().describe(
      'Part of the links that marks the campaign; unique, case-sensitive. In an update null leaves it unchanged.',
    ),
    bonus_type: BonusTypeField.nullish().describe(
      'What a new registration gets: `balance`, `subscription`, `tariff` or `none`; null leaves it unchanged.',
    ),
    is_active: z.boolean().nullish().describe('Whether the link of the campaign registers users; null leaves it unchanged.'),
    balance_bonus_kopeks: z.int().min(0).nullish().describe('Kopeks added to the balance; null leaves it unchanged.'),
    subscription_duration_days: z
      .int()
      .min(1)
      .nullish()
      .describe(
        'Days of the given subscription; for the bonus type `subscription`. Null removes them, absent leaves them unchanged.',
      ),
    subscription_traffic_gb: z
      .int()
      .min(0)
      .nullish()
      .describe('Traffic limit of the given subscription in GB; 0 or null = unlimited, absent leaves it unchanged.'),
    subscription_device_limit: z
      .int()
      .min(1)
      .nullish()
      .describe('Device limit of the given subscription; null sets the default, absent leaves it unchanged.'),
    subscription_squads: z
      .string()
      .array()
      .nullish()
      .describe('UUIDs of the servers of the given subscription; empty for one chosen at random, null leaves them unchanged.'),
    tariff_id: z.int().nullish().describe('Tariff of the bonus type `tariff`; null removes it, absent leaves it unchanged.'),
    tariff_duration_days: z
      .int()
      .min(1)
      .nullish()
      .describe('Days on the tariff; for the bonus type `tariff`. Null removes them, absent leaves them unchanged.'),
    partner_user_id: z
      .int()
      .nullish()
      .describe('Internal id of the partner whom the campaign belongs to; null removes the partner, absent leaves it unchanged.'),
  })
  .meta({ id: 'CabinetCampaignsCampaignUpdateRequest', example: { name: 'Spring' } });

const CampaignDeleteAnswer = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
});

const CampaignToggleResponse = z
  .object({
    id: z.int().describe('Id of the campaign.'),
    is_active: z.boolean().describe('Whether the link of the campaign registers users after the call.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'CampaignToggleResponse' });

const ServerSquadInfo = z
  .object({
    id: z.int().describe('Id of the server.'),
    squad_uuid: z.string().describe('UUID of the server (internal squad of the panel).'),
    display_name: z.string().describe('Name shown to users.'),
    country_code: z.string().nullish().describe('Country code of two letters; null or empty for none.'),
  })
  .meta({ id: 'ServerSquadInfo' });

const AvailablePartnerItem = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
  })
  .meta({ id: 'AvailablePartnerItem' });

const RegistrationsQuery = z.object({
  campaign_id: z.int().describe('Id of the campaign.'),
  page: z.int().min(1).default(1).describe('Number of the page, from 1.'),
  per_page: z.int().min(1).max(100).default(50).describe('Number of records per page.'),
});

const CampaignRegistrationItem = z
  .object({
    id: z.int().describe('Id of the registration.'),
    user_id: z.int().describe('Internal id of the user.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    bonus_type: z.string().describe('What a new registration gets: `balance`, `subscription`, `tariff` or `none`.'),
    balance_bonus_kopeks: z.int().default(0).describe('Kopeks that the registration added to the balance.'),
    subscription_duration_days: z
      .int()
      .nullish()
      .describe('Days of the given subscription; for the bonus type `subscription`. Null for none.'),
    tariff_id: z.int().nullish().describe('Id of the tariff; null for none.'),
    tariff_duration_days: z.int().nullish().describe('Days on the tariff; for the bonus type `tariff`. Null for none.'),
    created_at: Timestamp.describe('When the user registered through the campaign (UTC).'),
    user_balance_kopeks: z.int().default(0).describe('Balance of the user in kopeks.'),
    has_subscription: z.boolean().default(false).describe('Whether the user has a subscription.'),
    has_paid: z.boolean().default(false).describe('Whether the user ever paid.'),
  })
  .meta({ id: 'CampaignRegistrationItem' });

const CampaignRegistrationsResponse = z
  .object({
    registrations: CampaignRegistrationItem.array().describe('Users who registered through the campaign, newest first.'),
    total: z.int().describe('Number of users who registered through the campaign, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
  })
  .meta({ id: 'CampaignRegistrationsResponse' });

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
