import { givenFields } from '../../core/changes.ts';
import { rublesOf } from '../../core/money.ts';
import { isFull } from '../../domain/catalog/find-tariff.ts';
import { syncServersOrRefuse } from '../../domain/catalog/server-sync.ts';
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
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
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
    })
    .output(toWire(CabinetServersServerSyncResponse))
    .mutation(async ({ ctx }) => {
      const { created, updated, removed } = await syncServersOrRefuse(ctx.app);
      return { created, updated, removed, message: `Created: ${created}, updated: ${updated}, removed: ${removed}` };
    }),
});
