import { givenFields } from '../../core/changes.ts';
import { rublesOf } from '../../core/money.ts';
import { offsetOf } from '../../core/paging.ts';
import { panelUnavailable, syncServersOrFail } from '../../domain/catalog/server-sync.ts';
import {
  listServerPage,
  listUsersOfServer,
  readServer,
  type ServerWithGroups,
  serverTotals,
} from '../../domain/catalog/servers/read-servers.ts';
import {
  changeServer,
  createServer,
  deleteServer,
  promoGroupRequired,
  promoGroupsNotFound,
  recountServerUsers,
  serverExists,
  serverInUse,
  serverNotFound,
} from '../../domain/catalog/servers.ts';
import { text } from '../../domain/messaging/texts.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
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

function withPriceInRubles(server: ServerWithGroups) {
  return { ...server, priceRubles: rublesOf(server.priceKopeks) };
}

export const serversRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/servers', tags, summary: 'List servers' },
      description: 'Lists servers by their place and name, page by page.',
    })
    .input(fromWire(ServerListQuery))
    .output(toWire(ServerListResponse))
    .query(async ({ ctx, input }) => {
      const { servers, total } = await listServerPage(
        ctx.app,
        { availableOnly: input.available, search: input.search?.trim() || null },
        { offset: offsetOf(input.page, input.limit), limit: input.limit },
      );
      return { items: servers.map(withPriceInRubles), total, page: input.page, limit: input.limit };
    }),

  create: auditedWebProcedure('servers:edit')
    .meta({
      openapi: { method: 'POST', path: '/servers', tags, summary: 'Create a server' },
      description:
        'Creates a server for an internal squad of the panel. Each squad has one server; it needs at least one promo group.',
      refuses: [promoGroupRequired, serverExists],
    })
    .input(fromWire(ServerCreateRequest))
    .output(toWire(ServerResponse))
    .mutation(async ({ ctx, input }) => {
      const server = await createServer(ctx.app, ctx.actor, input);
      return withPriceInRubles(await readServer(ctx.app, server.id));
    }),

  stats: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/servers/stats', tags, summary: 'Totals of all servers' },
      description: 'Counts servers, those on sale and those in use, and sums up what was paid for servers.',
    })
    .output(toWire(ServerStatisticsResponse))
    .query(async ({ ctx }) => {
      const totals = await serverTotals(ctx.app);
      return { ...totals, totalRevenueRubles: rublesOf(totals.totalRevenueKopeks) };
    }),

  get: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/servers/{server_id}', tags, summary: 'Read a server' },
      description: 'Returns a server with its promo groups.',
      refuses: [serverNotFound],
    })
    .input(fromWire(ServerPath))
    .output(toWire(ServerResponse))
    .query(async ({ ctx, input }) => withPriceInRubles(await readServer(ctx.app, input.serverId))),

  update: auditedWebProcedure('servers:edit')
    .meta({
      openapi: { method: 'PATCH', path: '/servers/{server_id}', tags, summary: 'Change a server' },
      description: 'Changes fields of a server; only fields that are sent change. The panel is not changed.',
      refuses: [promoGroupRequired, promoGroupsNotFound, serverNotFound],
    })
    .input(fromWire(withBody(ServerPath, ServerUpdateRequest)))
    .output(toWire(ServerResponse))
    .mutation(async ({ ctx, input: { serverId, ...changes } }) => {
      const texts = {
        noGroups: text('ru', 'errors.promo_groups_required'),
        unknownGroups: text('ru', 'errors.promo_groups_not_found'),
      };
      const { originalName, countryCode, description, maxUsers, ...rest } = changes;
      // Null clears these four and leaves the others as they are.
      const values = { originalName, countryCode, description, maxUsers, ...givenFields(rest) };
      await changeServer(ctx.app, ctx.actor, serverId, values, texts);
      return withPriceInRubles(await readServer(ctx.app, serverId));
    }),

  delete: auditedWebProcedure('servers:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/servers/{server_id}', tags, summary: 'Delete a server without connections' },
      description: 'Deletes a server that no subscription uses. The squad in the panel stays.',
      refuses: [serverInUse, serverNotFound],
    })
    .input(fromWire(ServerPath))
    .output(toWire(ServerDeleteResponse))
    .mutation(async ({ ctx, input }) => {
      await deleteServer(ctx.app, ctx.actor, input.serverId);
      return { success: true, message: 'Server deleted' };
    }),

  users: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/servers/{server_id}/users', tags, summary: 'Users of a server' },
      description: 'Lists users whose subscription uses the server, by user id.',
      refuses: [serverNotFound],
    })
    .input(fromWire(ServerUsersQuery))
    .output(toWire(ServerConnectedUsersResponse))
    .query(async ({ ctx, input: { serverId, limit, offset } }) => {
      const { users, total } = await listUsersOfServer(ctx.app, serverId, { limit, offset });
      return { items: users.map((user) => ({ ...user, balanceRubles: rublesOf(user.balanceKopeks) })), total, limit, offset };
    }),

  sync: auditedWebProcedure('servers:edit')
    .meta({
      openapi: { method: 'POST', path: '/servers/sync', tags, summary: 'Synchronise the servers with the panel' },
      description:
        'Reads the internal squads of the panel: those of the first call become servers on sale, later ones servers that are not on sale, names are refreshed, servers without squad are deleted. A panel that gives no squads changes nothing and is answered with 502 and the reason.',
      refuses: [panelUnavailable],
    })
    .output(toWire(ServerSyncResponse))
    .mutation(({ ctx }) => syncServersOrFail(ctx.app)),

  syncCounts: auditedWebProcedure('servers:edit')
    .meta({
      openapi: { method: 'POST', path: '/servers/sync-counts', tags, summary: 'Recount the users of every server' },
      description: 'Counts the active subscriptions of every server anew.',
    })
    .output(toWire(ServerCountsSyncResponse))
    .mutation(async ({ ctx }) => ({ updated: await recountServerUsers(ctx.app) })),
});
