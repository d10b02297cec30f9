import { z } from 'zod';
import { givenFields } from '../../core/changes.ts';
import { rublesOf } from '../../core/money.ts';
import { isFull } from '../../domain/catalog/find-tariff.ts';
import { panelNotConfiguredRefusal, syncServersOrRefuse } from '../../domain/catalog/server-sync.ts';
import {
  availabilityStatus,
  type DatedServer,
  listServers,
  readServerForm,
  type ServerForm,
  serverStats,
} from '../../domain/catalog/servers/read-servers.ts';
import {
  changeServer,
  promoGroupRequired,
  promoGroupsNotFound,
  serverNotFound,
  toggleServer,
  toggleTrialServer,
} from '../../domain/catalog/servers.ts';
import { Timestamp } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Cabinet Admin Servers`. */

const AdminServerPath = z.object({ server_id: z.int().describe('Id of the server.') });

const AdminServerListQuery = z.object({
  include_unavailable: z.boolean().default(true).describe('Whether servers that are not on sale are listed too.'),
});

const ServerListItem = z
  .object({
    id: z.int().describe('Id of the server.'),
    squad_uuid: z.string().describe('UUID of the server (internal squad of the panel).'),
    display_name: z.string().describe('Name shown to users.'),
    original_name: z.string().nullish().describe('Name of the squad in the panel; null when unknown.'),
    country_code: z.string().nullish().describe('Country code of two letters; null or empty for none.'),
    is_available: z.boolean().describe('Whether the server is on sale.'),
    is_trial_eligible: z.boolean().describe('Whether trials may use the server.'),
    price_kopeks: z.int().describe('Price of 30 days in kopeks.'),
    price_rubles: z.number().describe('Price in rubles: kopeks / 100.'),
    max_users: z.int().nullish().describe('Greatest number of users; null for no cap. In an update 0 removes the cap.'),
    current_users: z.int().describe('Number of users of the server.'),
    sort_order: z.int().describe('Place in the list; smaller numbers come first.'),
    is_full: z.boolean().describe('Whether the number of users has reached the cap.'),
    availability_status: z.string().describe('Availability for display: unavailable, full or available.'),
    created_at: Timestamp.describe('When the server was created (UTC).'),
  })
  .meta({ id: 'ServerListItem' });

const CabinetServersServerListResponse = z
  .object({
    servers: ServerListItem.array().describe('Servers.'),
    total: z.int().describe('Number of servers that match the filters.'),
  })
  .meta({ id: 'CabinetServersServerListResponse' });

const CabinetServersPromoGroupInfo = z
  .object({
    id: z.int().describe('Id of the promo group.'),
    name: z.string().describe('Name of the promo group.'),
    is_selected: z.boolean().describe('Whether the group is selected.'),
  })
  .meta({ id: 'CabinetServersPromoGroupInfo' });

const ServerDetailResponse = z
  .object({
    id: z.int().describe('Id of the server.'),
    squad_uuid: z.string().describe('UUID of the server (internal squad of the panel).'),
    display_name: z.string().describe('Name shown to users.'),
    original_name: z.string().nullish().describe('Name of the squad in the panel; null when unknown.'),
    country_code: z.string().nullish().describe('Country code of two letters; null or empty for none.'),
    description: z.string().nullish().describe('Text about the server; null for none.'),
    is_available: z.boolean().describe('Whether the server is on sale.'),
    is_trial_eligible: z.boolean().describe('Whether trials may use the server.'),
    price_kopeks: z.int().describe('Price of 30 days in kopeks.'),
    price_rubles: z.number().describe('Price in rubles: kopeks / 100.'),
    max_users: z.int().nullish().describe('Greatest number of users; null for no cap. In an update 0 removes the cap.'),
    current_users: z.int().describe('Number of users of the server.'),
    sort_order: z.int().describe('Place in the list; smaller numbers come first.'),
    is_full: z.boolean().describe('Whether the number of users has reached the cap.'),
    availability_status: z.string().describe('Availability for display: unavailable, full or available.'),
    promo_groups: CabinetServersPromoGroupInfo.array().describe('All promo groups; the selected ones are marked.'),
    active_subscriptions: z.int().describe('Number of subscriptions with access.'),
    tariffs_using: z.string().array().describe('Names of the tariffs that contain the server.'),
    created_at: Timestamp.describe('When the server was created (UTC).'),
    updated_at: Timestamp.nullish().describe('When the server was last changed (UTC).'),
  })
  .meta({ id: 'ServerDetailResponse' });

const CabinetServersServerUpdateRequest = z
  .object({
    display_name: z.string().min(1).max(255).nullish().describe('Name shown to users; null leaves it unchanged.'),
    description: z.string().nullish().describe('New text about the server; null leaves it unchanged.'),
    country_code: z.string().max(5).nullish().describe('Country code of two letters; empty for none, null leaves it unchanged.'),
    is_available: z.boolean().nullish().describe('Whether the server is on sale; null leaves it unchanged.'),
    is_trial_eligible: z.boolean().nullish().describe('Whether trials may use the server; null leaves it unchanged.'),
    price_kopeks: z.int().min(0).nullish().describe('Price in kopeks, before discounts; null leaves it unchanged.'),
    max_users: z.int().min(0).nullish().describe('Greatest number of users; 0 removes the cap, null leaves it unchanged.'),
    sort_order: z.int().min(0).nullish().describe('Place in the list; smaller numbers come first. Null leaves it unchanged.'),
    promo_group_ids: z
      .int()
      .array()
      .nullish()
      .describe('Promo groups whose members may use the server; at least one, null unchanged.'),
  })
  .meta({
    id: 'CabinetServersServerUpdateRequest',
    example: { display_name: 'Netherlands', country_code: 'NL', price_kopeks: 9900, is_available: true },
  });

const ServerToggleResponse = z
  .object({
    id: z.int().describe('Id of the server.'),
    is_available: z.boolean().describe('Whether the server is on sale now.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'ServerToggleResponse' });

const ServerTrialToggleResponse = z
  .object({
    id: z.int().describe('Id of the server.'),
    is_trial_eligible: z.boolean().describe('Whether trials may use the server.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'ServerTrialToggleResponse' });

const ServerStatsResponse = z
  .object({
    id: z.int().describe('Id of the server.'),
    display_name: z.string().describe('Name shown to users.'),
    squad_uuid: z.string().describe('UUID of the server (internal squad of the panel).'),
    current_users: z.int().describe('Number of users of the server.'),
    max_users: z.int().nullable().describe('Greatest number of users; null for no cap. In an update 0 removes the cap.'),
    active_subscriptions: z.int().describe('Number of subscriptions with access.'),
    trial_subscriptions: z.int().describe('Number of trial subscriptions.'),
    usage_percent: z.number().nullish().describe('Users in percent of the cap, one decimal; null without a cap.'),
  })
  .meta({ id: 'ServerStatsResponse' });

const CabinetServersServerSyncResponse = z
  .object({
    created: z.int().describe('Number of records created.'),
    updated: z.int().describe('Number of records changed.'),
    removed: z.int().describe('Number of records removed.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'CabinetServersServerSyncResponse' });

const tags: [string] = ['Cabinet Admin Servers'];
const GROUP_TEXTS = { noGroups: 'Select at least one promo group', unknownGroups: 'Promo groups not found' };

function listItem(server: DatedServer) {
  return {
    ...server,
    priceRubles: rublesOf(server.priceKopeks),
    isFull: isFull(server),
    availabilityStatus: availabilityStatus(server),
  };
}

function serverDetail({ server, promoGroups, ...usage }: ServerForm) {
  const groups = promoGroups.map((group) => ({ ...group, isSelected: server.allowedPromoGroupIds.includes(group.id) }));
  return { ...listItem(server), ...usage, promoGroups: groups };
}

export const adminServersRouter = router({
  list: adminProcedure('servers:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/servers', tags, summary: 'List servers' },
      description: 'Lists servers with users and prices.',
    })
    .input(fromWire(AdminServerListQuery))
    .output(toWire(CabinetServersServerListResponse))
    .query(async ({ ctx, input }) => {
      const servers = await listServers(ctx.app, { includeUnavailable: input.includeUnavailable });
      return { servers: servers.map(listItem), total: servers.length };
    }),

  get: adminProcedure('servers:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/servers/{server_id}', tags, summary: 'Read a server' },
      description: 'Returns a server with its promo groups and the tariffs that contain it.',
      refuses: [serverNotFound],
    })
    .input(fromWire(AdminServerPath))
    .output(toWire(ServerDetailResponse))
    .query(async ({ ctx, input }) => serverDetail(await readServerForm(ctx.app, input.serverId))),

  update: adminProcedure('servers:edit')
    .meta({
      openapi: { method: 'PUT', path: '/cabinet/admin/servers/{server_id}', tags, summary: 'Change a server' },
      description: 'Changes a server; absent or null fields are not changed. The panel is not changed.',
      refuses: [promoGroupRequired, promoGroupsNotFound, serverNotFound],
    })
    .input(fromWire(withBody(AdminServerPath, CabinetServersServerUpdateRequest)))
    .output(toWire(ServerDetailResponse))
    .mutation(async ({ ctx, input: { serverId, ...input } }) => {
      const changes = { ...givenFields(input), ...(input.maxUsers === 0 && { maxUsers: null }) };
      await changeServer(ctx.app, ctx.actor, serverId, changes, GROUP_TEXTS);
      return serverDetail(await readServerForm(ctx.app, serverId));
    }),

  toggle: adminProcedure('servers:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/servers/{server_id}/toggle',
        tags,
        summary: 'Put a server on or off sale',
      },
      description: 'Puts a server on sale or removes it from sale. Each call reverses the state.',
      refuses: [serverNotFound],
    })
    .input(fromWire(AdminServerPath))
    .output(toWire(ServerToggleResponse))
    .mutation(async ({ ctx, input }) => {
      const isAvailable = await toggleServer(ctx.app, ctx.actor, input.serverId);
      return { id: input.serverId, isAvailable, message: isAvailable ? 'Server enabled' : 'Server disabled' };
    }),

  toggleTrial: adminProcedure('servers:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/servers/{server_id}/trial',
        tags,
        summary: 'Allow or forbid trials on a server',
      },
      description: 'Allows or forbids trials on a server. Each call reverses the state.',
      refuses: [serverNotFound],
    })
    .input(fromWire(AdminServerPath))
    .output(toWire(ServerTrialToggleResponse))
    .mutation(async ({ ctx, input }) => {
      const isEligible = await toggleTrialServer(ctx.app, ctx.actor, input.serverId);
      const message = isEligible ? 'Server may be used for trials' : 'Server is no longer used for trials';
      return { id: input.serverId, isTrialEligible: isEligible, message };
    }),

  stats: adminProcedure('servers:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/servers/{server_id}/stats', tags, summary: 'Statistics of a server' },
      description: 'Counts users and subscriptions of a server.',
      refuses: [serverNotFound],
    })
    .input(fromWire(AdminServerPath))
    .output(toWire(ServerStatsResponse))
    .query(({ ctx, input }) => serverStats(ctx.app, input.serverId)),

  sync: adminProcedure('servers:edit')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/servers/sync', tags, summary: 'Synchronise the servers with the panel' },
      description:
        'Reads the internal squads of the panel: those of the first call become servers on sale, later ones servers that are not on sale, names are refreshed, servers without squad are deleted. An empty answer of the panel is refused.',
      refuses: [panelNotConfiguredRefusal],
    })
    .output(toWire(CabinetServersServerSyncResponse))
    .mutation(async ({ ctx }) => {
      const { created, updated, removed } = await syncServersOrRefuse(ctx.app);
      return { created, updated, removed, message: `Created: ${created}, updated: ${updated}, removed: ${removed}` };
    }),
});
