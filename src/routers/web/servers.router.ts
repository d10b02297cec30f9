import { offsetOf } from '../../core/paging.ts';
import { deleteServer, recountServerUsers } from '../../domain/catalog/servers/manage-servers.ts';
import {
  listServerPage,
  listUsersOfServer,
  readServer,
  type ServerUser,
  type ServerWithGroups,
  serverTotals,
} from '../../domain/catalog/servers/read-servers.ts';
import { changeServer, createServer } from '../../domain/catalog/servers/save-server.ts';
import { syncServersOrKeep } from '../../domain/catalog/sync-servers.ts';
import { text } from '../../domain/messaging/texts.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import {
  ServerConnectedUsersResponse,
  ServerCountsSyncResponse,
  ServerCreateRequest,
  ServerDeleteResponse,
  ServerListQuery,
  ServerListResponse,
  ServerPath,
  ServerResponse,
  ServerStatisticsResponse,
  ServerSyncResponse,
  ServerUpdateRequest,
  ServerUsersQuery,
} from './servers.schemas.ts';

const tags: [string] = ['servers'];

function toServerResponse(server: ServerWithGroups) {
  return {
    id: server.id,
    squadUuid: server.squadUuid,
    displayName: server.displayName,
    originalName: server.originalName,
    countryCode: server.countryCode,
    isAvailable: server.isAvailable,
    isTrialEligible: server.isTrialEligible,
    priceKopeks: server.priceKopeks,
    priceRubles: server.priceKopeks / 100,
    description: server.description,
    sortOrder: server.sortOrder,
    maxUsers: server.maxUsers,
    currentUsers: server.currentUsers,
    createdAt: server.createdAt,
    updatedAt: server.updatedAt,
    promoGroups: server.promoGroups.map((group) => ({
      id: group.id,
      name: group.name,
      server_discount_percent: group.serverDiscountPercent,
      traffic_discount_percent: group.trafficDiscountPercent,
      device_discount_percent: group.deviceDiscountPercent,
      apply_discounts_to_addons: group.applyDiscountsToAddons,
    })),
  };
}

function toConnectedUser(user: ServerUser) {
  return { ...user, balanceRubles: user.balanceKopeks / 100 };
}

export const serversRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/servers', tags, summary: 'List servers' } })
    .input(ServerListQuery)
    .output(ServerListResponse)
    .query(async ({ ctx, input }) => {
      const { servers, total } = await listServerPage(
        ctx.app,
        { availableOnly: input.available, search: input.search?.trim() || null },
        { offset: offsetOf(input.page, input.limit), limit: input.limit },
      );
      return { items: servers.map(toServerResponse), total, page: input.page, limit: input.limit };
    }),

  create: auditedWebProcedure('servers:edit')
    .meta({ openapi: { method: 'POST', path: '/servers', tags, summary: 'Create a server' } })
    .input(ServerCreateRequest)
    .output(ServerResponse)
    .mutation(async ({ ctx, input }) => {
      const server = await createServer(ctx.app, ctx.actor, {
        ...input,
        originalName: input.originalName ?? null,
        countryCode: input.countryCode ?? null,
        description: input.description ?? null,
        maxUsers: input.maxUsers ?? null,
        promoGroupIds: input.promoGroupIds ?? null,
      });
      return toServerResponse(await readServer(ctx.app, server.id));
    }),

  stats: webProcedure
    .meta({ openapi: { method: 'GET', path: '/servers/stats', tags, summary: 'Numbers over all servers' } })
    .output(ServerStatisticsResponse)
    .query(async ({ ctx }) => {
      const totals = await serverTotals(ctx.app);
      return {
        totalServers: totals.total,
        availableServers: totals.available,
        unavailableServers: totals.total - totals.available,
        serversWithConnections: totals.withConnections,
        totalRevenueKopeks: totals.revenueKopeks,
        totalRevenueRubles: totals.revenueKopeks / 100,
      };
    }),

  get: webProcedure
    .meta({ openapi: { method: 'GET', path: '/servers/{server_id}', tags, summary: 'Read a server' } })
    .input(ServerPath)
    .output(ServerResponse)
    .query(async ({ ctx, input }) => toServerResponse(await readServer(ctx.app, input.server_id))),

  update: auditedWebProcedure('servers:edit')
    .meta({ openapi: { method: 'PATCH', path: '/servers/{server_id}', tags, summary: 'Change a server' } })
    .input(ServerPath.extend(ServerUpdateRequest.shape))
    .output(ServerResponse)
    .mutation(async ({ ctx, input: { server_id, ...input } }) => {
      const texts = {
        noGroups: text('ru', 'errors.promo_groups_required'),
        unknownGroups: text('ru', 'errors.promo_groups_not_found'),
      };
      const changes = {
        ...input,
        displayName: input.displayName ?? undefined,
        priceKopeks: input.priceKopeks ?? undefined,
        isAvailable: input.isAvailable ?? undefined,
        isTrialEligible: input.isTrialEligible ?? undefined,
        sortOrder: input.sortOrder ?? undefined,
        promoGroupIds: input.promoGroupIds ?? undefined,
      };
      await changeServer(ctx.app, ctx.actor, server_id, changes, texts);
      return toServerResponse(await readServer(ctx.app, server_id));
    }),

  delete: auditedWebProcedure('servers:edit')
    .meta({ openapi: { method: 'DELETE', path: '/servers/{server_id}', tags, summary: 'Delete a server without connections' } })
    .input(ServerPath)
    .output(ServerDeleteResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteServer(ctx.app, ctx.actor, input.server_id);
      return { success: true, message: 'Server deleted' };
    }),

  users: webProcedure
    .meta({ openapi: { method: 'GET', path: '/servers/{server_id}/users', tags, summary: 'Users of a server' } })
    .input(ServerUsersQuery)
    .output(ServerConnectedUsersResponse)
    .query(async ({ ctx, input: { server_id, limit, offset } }) => {
      const { users, total } = await listUsersOfServer(ctx.app, server_id, { limit, offset });
      return { items: users.map(toConnectedUser), total, limit, offset };
    }),

  sync: auditedWebProcedure('servers:edit')
    .meta({ openapi: { method: 'POST', path: '/servers/sync', tags, summary: 'Read the servers from the panel' } })
    .output(ServerSyncResponse)
    .mutation(({ ctx }) => syncServersOrKeep(ctx.app)),

  syncCounts: auditedWebProcedure('servers:edit')
    .meta({ openapi: { method: 'POST', path: '/servers/sync-counts', tags, summary: 'Count the users of every server anew' } })
    .output(ServerCountsSyncResponse)
    .mutation(async ({ ctx }) => ({ updated: await recountServerUsers(ctx.app) })),
});
