import { z } from 'zod';
import { givenFields } from '../../core/changes.ts';
import { rublesOf } from '../../core/money.ts';
import { offsetOf } from '../../core/paging.ts';
import { panelNotConfigured, panelUnavailable, syncServersOrFail } from '../../domain/catalog/server-sync.ts';
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
import { PromoGroupSummary, Timestamp } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `servers`: camelCase on the wire. */

const ServerPath = z.object({ server_id: z.int().describe('Id of the server.') });

const ServerListQuery = z.object({
  page: z.int().min(1).default(1).describe('Number of the page, from 1.'),
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  available: z.boolean().default(false).describe('True for servers on sale only.'),
  search: z.string().nullish().describe('Text in name, name in the panel, UUID or country code.'),
});

const ServerUsersQuery = ServerPath.extend({
  limit: z.int().min(1).max(500).default(100).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
});

const ServerResponse = z
  .object({
    id: z.int().describe('Id of the server.'),
    squadUuid: z.string().describe('UUID of the internal squad of the panel.'),
    displayName: z.string().describe('Name shown to users.'),
    originalName: z.string().nullish().describe('Name of the squad in the panel; null when unknown.'),
    countryCode: z.string().nullish().describe('Country code of two letters; null for none.'),
    isAvailable: z.boolean().describe('Whether the server is on sale.'),
    isTrialEligible: z.boolean().describe('Whether trials may use the server.'),
    priceKopeks: z.int().describe('Price of 30 days in kopeks.'),
    priceRubles: z.number().describe('Price in rubles: kopeks / 100.'),
    description: z.string().nullish().describe('Text about the server; null for none.'),
    sortOrder: z.int().describe('Place in the list; smaller numbers come first.'),
    maxUsers: z.int().nullish().describe('Greatest number of users; null for no cap.'),
    currentUsers: z.int().describe('Number of users counted at the last count.'),
    createdAt: Timestamp.nullish().describe('When the record was created (UTC); null when unknown.'),
    updatedAt: Timestamp.nullish().describe('When the server was last changed (UTC).'),
    promoGroups: PromoGroupSummary.array().describe('Promo groups whose members may use the server.'),
  })
  .meta({ id: 'ServerResponse' });

const ServerListResponse = z
  .object({
    items: ServerResponse.array().describe('A page of servers, by their place and name.'),
    total: z.int().describe('Number of servers that match the filters, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    limit: z.int().describe('Page size that was applied.'),
  })
  .meta({ id: 'ServerListResponse' });

const ServerCreateRequest = z
  .object({
    squadUuid: z.string().describe('UUID of the internal squad of the panel.'),
    displayName: z.string().describe('Name shown to users.'),
    originalName: z.string().nullish().describe('Name of the squad in the panel; null when unknown.'),
    countryCode: z.string().nullish().describe('Country code of two letters; null for none.'),
    priceKopeks: z.int().default(0).describe('Price of 30 days in kopeks.'),
    description: z.string().nullish().describe('Text about the server; null for none.'),
    maxUsers: z.int().nullish().describe('Greatest number of users; null for no cap.'),
    isAvailable: z.boolean().default(true).describe('Whether the server is on sale.'),
    isTrialEligible: z.boolean().default(false).describe('Whether trials may use the server.'),
    sortOrder: z.int().default(0).describe('Place in the list; smaller numbers come first.'),
    promoGroupIds: z
      .int()
      .array()
      .nullish()
      .describe('Promo groups whose members may use the server; null for the default group.'),
  })
  .meta({
    id: 'ServerCreateRequest',
    example: {
      squadUuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77',
      displayName: 'Netherlands',
      countryCode: 'NL',
      priceKopeks: 9900,
      isAvailable: true,
    },
  });

const ServerUpdateRequest = z
  .object({
    displayName: z.string().nullish().describe('Name shown to users; null in an update leaves it unchanged.'),
    originalName: z.string().nullish().describe('Name of the squad in the panel; null removes it, absent leaves it unchanged.'),
    countryCode: z.string().nullish().describe('Country code of two letters; null removes it, absent leaves it unchanged.'),
    priceKopeks: z.int().nullish().describe('Price of 30 days in kopeks; null leaves it unchanged.'),
    description: z.string().nullish().describe('New text about the server; null removes it, absent leaves it unchanged.'),
    maxUsers: z.int().nullish().describe('Greatest number of users; null removes the cap, absent leaves it unchanged.'),
    isAvailable: z.boolean().nullish().describe('Whether the server is on sale; null in an update leaves it unchanged.'),
    isTrialEligible: z.boolean().nullish().describe('Whether trials may use the server; null in an update leaves it unchanged.'),
    sortOrder: z
      .int()
      .nullish()
      .describe('Place in the list; smaller numbers come first. Null in an update leaves it unchanged.'),
    promoGroupIds: z
      .int()
      .array()
      .nullish()
      .describe('Promo groups whose members may use the server; at least one, null unchanged.'),
  })
  .meta({ id: 'ServerUpdateRequest', example: { displayName: 'Netherlands', priceKopeks: 9900, isAvailable: true } });

const ServerStatisticsResponse = z
  .object({
    totalServers: z.int().describe('Number of servers.'),
    availableServers: z.int().describe('Number of servers on sale.'),
    unavailableServers: z.int().describe('Number of servers not on sale.'),
    serversWithConnections: z.int().describe('Number of servers that an active subscription uses.'),
    totalRevenueKopeks: z.int().describe('Sum of what was paid for servers, kopeks.'),
    totalRevenueRubles: z.number().describe('Sum of what was paid for servers, rubles.'),
  })
  .meta({ id: 'ServerStatisticsResponse' });

const ServerDeleteResponse = z
  .object({
    success: z.boolean().describe('Always true: a server that subscriptions use is answered with an error status and stays.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'ServerDeleteResponse' });

const ServerConnectedUser = z
  .object({
    id: z.int().describe('Internal id of the user whose subscription uses the server.'),
    messengerId: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    firstName: z.string().nullish().describe('First name; null when unknown.'),
    lastName: z.string().nullish().describe('Last name; null when unknown.'),
    status: z
      .string()
      .describe(
        'Status of the account of the user: `active`, `blocked` (by an administrator; every request of the user is refused) or `deleted`.',
      ),
    balanceKopeks: z.int().describe('Balance in kopeks.'),
    balanceRubles: z.number().describe('Balance in rubles.'),
    subscriptionId: z.int().nullish().describe('Id of the subscription; null for the own one, which is the only one.'),
    subscriptionStatus: z.string().nullish().describe('Status of the subscription; null when there is none.'),
    subscriptionEndDate: Timestamp.nullish().describe('End of the subscription (UTC); null when there is none.'),
  })
  .meta({ id: 'ServerConnectedUser' });

const ServerConnectedUsersResponse = z
  .object({
    items: ServerConnectedUser.array().describe('A page of users whose subscription uses the server, by user id.'),
    total: z.int().describe('Number of users whose subscription uses the server, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'ServerConnectedUsersResponse' });

const ServerSyncResponse = z
  .object({
    created: z.int().describe('Number of servers added.'),
    updated: z.int().describe('Number of servers whose name changed.'),
    removed: z.int().describe('Number of servers that the panel no longer has.'),
    total: z.int().describe('Number of squads in the panel.'),
  })
  .meta({ id: 'ServerSyncResponse' });

const ServerCountsSyncResponse = z
  .object({ updated: z.int().describe('Number of servers whose count was written.') })
  .meta({ id: 'ServerCountsSyncResponse' });

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
      refuses: [panelNotConfigured, panelUnavailable],
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
