import { toggleServer, toggleTrialServer } from '../../domain/catalog/servers/manage-servers.ts';
import {
  availabilityStatus,
  type DatedServer,
  listServers,
  readServerForm,
  type ServerForm,
  serverStats,
} from '../../domain/catalog/servers/read-servers.ts';
import { changeServer } from '../../domain/catalog/servers/save-server.ts';
import { syncServersOrRefuse } from '../../domain/catalog/sync-servers.ts';
import { adminProcedure, router } from '../trpc.ts';
import {
  AdminServerListQuery,
  AdminServerPath,
  CabinetServersServerListResponse,
  CabinetServersServerSyncResponse,
  CabinetServersServerUpdateRequest,
  ServerDetailResponse,
  ServerStatsResponse,
  ServerToggleResponse,
  ServerTrialToggleResponse,
} from './servers.schemas.ts';

const tags: [string] = ['Cabinet Admin Servers'];
const GROUP_TEXTS = { noGroups: 'Select at least one promo group', unknownGroups: 'Promo groups not found' };

function toListItem(server: DatedServer) {
  return {
    id: server.id,
    squad_uuid: server.squadUuid,
    display_name: server.displayName,
    original_name: server.originalName,
    country_code: server.countryCode,
    is_available: server.isAvailable,
    is_trial_eligible: server.isTrialEligible,
    price_kopeks: server.priceKopeks,
    price_rubles: server.priceKopeks / 100,
    max_users: server.maxUsers,
    current_users: server.currentUsers,
    sort_order: server.sortOrder,
    is_full: server.maxUsers !== null && server.currentUsers >= server.maxUsers,
    availability_status: availabilityStatus(server),
    created_at: server.createdAt,
  };
}

function toDetail({ server, promoGroups, activeSubscriptions, tariffsUsing }: ServerForm) {
  return {
    ...toListItem(server),
    description: server.description,
    promo_groups: promoGroups.map((group) => ({ ...group, is_selected: server.allowedPromoGroupIds.includes(group.id) })),
    active_subscriptions: activeSubscriptions,
    tariffs_using: tariffsUsing,
    updated_at: server.updatedAt,
  };
}

export const adminServersRouter = router({
  list: adminProcedure('servers:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/servers', tags, summary: 'List servers' } })
    .input(AdminServerListQuery)
    .output(CabinetServersServerListResponse)
    .query(async ({ ctx, input }) => {
      const servers = await listServers(ctx.app, { includeUnavailable: input.include_unavailable });
      return { servers: servers.map(toListItem), total: servers.length };
    }),

  get: adminProcedure('servers:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/servers/{server_id}', tags, summary: 'Read a server' } })
    .input(AdminServerPath)
    .output(ServerDetailResponse)
    .query(async ({ ctx, input }) => toDetail(await readServerForm(ctx.app, input.server_id))),

  update: adminProcedure('servers:edit')
    .meta({ openapi: { method: 'PUT', path: '/cabinet/admin/servers/{server_id}', tags, summary: 'Change a server' } })
    .input(AdminServerPath.extend(CabinetServersServerUpdateRequest.shape))
    .output(ServerDetailResponse)
    .mutation(async ({ ctx, input }) => {
      const changes = {
        displayName: input.display_name ?? undefined,
        description: input.description ?? undefined,
        countryCode: input.country_code ?? undefined,
        isAvailable: input.is_available ?? undefined,
        isTrialEligible: input.is_trial_eligible ?? undefined,
        priceKopeks: input.price_kopeks ?? undefined,
        maxUsers: input.max_users === 0 ? null : (input.max_users ?? undefined),
        sortOrder: input.sort_order ?? undefined,
        promoGroupIds: input.promo_group_ids ?? undefined,
      };
      await changeServer(ctx.app, ctx.actor, input.server_id, changes, GROUP_TEXTS);
      return toDetail(await readServerForm(ctx.app, input.server_id));
    }),

  toggle: adminProcedure('servers:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/servers/{server_id}/toggle',
        tags,
        summary: 'Put a server on or off sale',
      },
    })
    .input(AdminServerPath)
    .output(ServerToggleResponse)
    .mutation(async ({ ctx, input }) => {
      const isAvailable = await toggleServer(ctx.app, ctx.actor, input.server_id);
      return { id: input.server_id, is_available: isAvailable, message: isAvailable ? 'Server enabled' : 'Server disabled' };
    }),

  toggleTrial: adminProcedure('servers:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/servers/{server_id}/trial',
        tags,
        summary: 'Allow or forbid trials on a server',
      },
    })
    .input(AdminServerPath)
    .output(ServerTrialToggleResponse)
    .mutation(async ({ ctx, input }) => {
      const isEligible = await toggleTrialServer(ctx.app, ctx.actor, input.server_id);
      const message = isEligible ? 'Server may be used for trials' : 'Server is no longer used for trials';
      return { id: input.server_id, is_trial_eligible: isEligible, message };
    }),

  stats: adminProcedure('servers:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/servers/{server_id}/stats', tags, summary: 'Numbers of a server' } })
    .input(AdminServerPath)
    .output(ServerStatsResponse)
    .query(async ({ ctx, input }) => {
      const { server, active, trial, usagePercent } = await serverStats(ctx.app, input.server_id);
      return {
        id: server.id,
        display_name: server.displayName,
        squad_uuid: server.squadUuid,
        current_users: server.currentUsers,
        max_users: server.maxUsers,
        active_subscriptions: active,
        trial_subscriptions: trial,
        usage_percent: usagePercent,
      };
    }),

  sync: adminProcedure('servers:edit')
    .meta({ openapi: { method: 'POST', path: '/cabinet/admin/servers/sync', tags, summary: 'Read the servers from the panel' } })
    .output(CabinetServersServerSyncResponse)
    .mutation(async ({ ctx }) => {
      const { created, updated, removed } = await syncServersOrRefuse(ctx.app);
      return { created, updated, removed, message: `Created: ${created}, updated: ${updated}, removed: ${removed}` };
    }),
});
