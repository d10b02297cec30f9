import { rublesOf } from '../../core/money.ts';
import { listSquads } from '../../domain/catalog/find-squads.ts';
import { listExternalSquads } from '../../domain/catalog/list-external-squads.ts';
import { panelUnavailable } from '../../domain/catalog/server-sync.ts';
import {
  changeTariff,
  createTariff,
  deleteTariff,
  type ListedTariff,
  listTariffs,
  readTariffForm,
  sortTariffs,
  type TariffForm,
  tariffInUse,
  tariffNotFound,
  tariffStats,
  toggleTariff,
  toggleTrialTariff,
} from '../../domain/catalog/tariffs.ts';
import type { ServerSquad, Tariff } from '../../domain/catalog/types.ts';
import { syncedTariffNotFound, syncSquadsNow } from '../../domain/provisioning/squads/sync-squads-of-tariff.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  CabinetTariffsServerInfo,
  ExternalSquadInfoResponse,
  SyncSquadsResponse,
  TariffCreateRequest,
  TariffDeleteAnswer,
  TariffDetailResponse,
  TariffListQuery,
  TariffListResponse,
  TariffOrderAnswer,
  TariffPath,
  TariffSortOrderRequest,
  TariffStatsResponse,
  TariffToggleResponse,
  TariffTrialResponse,
  TariffUpdateRequest,
} from './tariffs.schemas.ts';

const tags: [string] = ['Cabinet Admin Tariffs'];

/** A tariff in a list of the administration. */
export function toTariffListItem({ tariff, serversCount, subscriptionsCount }: ListedTariff) {
  return { ...tariff, serversCount, subscriptionsCount };
}

function serverInfo(server: ServerSquad, tariff: Tariff | null) {
  return {
    ...server,
    isSelected: tariff?.allowedSquads.includes(server.squadUuid) ?? false,
    trafficLimitGb: tariff?.serverTrafficLimits[server.squadUuid]?.trafficLimitGb ?? null,
  };
}

function tariffDetail({ tariff, subscriptionsCount, servers, promoGroups }: TariffForm) {
  const prices = Object.entries(tariff.periodPrices).map(([days, priceKopeks]) => ({ days: Number(days), priceKopeks }));
  return {
    ...tariff,
    subscriptionsCount,
    periodPrices: prices.sort((a, b) => a.days - b.days).map((price) => ({ ...price, priceRubles: rublesOf(price.priceKopeks) })),
    servers: servers.map((server) => serverInfo(server, tariff)),
    promoGroups: promoGroups.map((group) => ({ ...group, isSelected: tariff.allowedPromoGroupIds.includes(group.id) })),
  };
}

/** Prices come as a list; they are stored by days. */
function withPricesByDays<T extends { periodPrices?: { days: number; priceKopeks: number }[] | null | undefined }>(request: T) {
  const { periodPrices, ...rest } = request;
  return {
    ...rest,
    periodPrices: periodPrices && Object.fromEntries(periodPrices.map((price) => [price.days, price.priceKopeks])),
  };
}

export const adminTariffsRouter = router({
  list: adminProcedure('tariffs:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/tariffs', tags, summary: 'List tariffs' },
      description: 'Lists tariffs in the order of display with the number of their subscriptions.',
    })
    .input(fromWire(TariffListQuery))
    .output(toWire(TariffListResponse))
    .query(async ({ ctx, input }) => {
      const tariffs = await listTariffs(ctx.app, { includeInactive: input.includeInactive });
      return { tariffs: tariffs.map(toTariffListItem), total: tariffs.length };
    }),

  create: adminProcedure('tariffs:create')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/tariffs', tags, summary: 'Create a tariff' },
      description: 'Creates a tariff. If it is active and has prices, it is on sale immediately.',
    })
    .input(fromWire(TariffCreateRequest))
    .output(toWire(TariffDetailResponse))
    .mutation(async ({ ctx, input }) => {
      const tariff = await createTariff(ctx.app, ctx.actor, withPricesByDays(input));
      return tariffDetail(await readTariffForm(ctx.app, tariff.id));
    }),

  availableServers: adminProcedure('tariffs:read')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/tariffs/available-servers',
        tags,
        summary: 'List servers that can be selected',
      },
      description: 'Lists servers that a tariff can contain.',
    })
    .output(toWire(CabinetTariffsServerInfo.array()))
    .query(async ({ ctx }) => (await listSquads(ctx.app)).map((server) => serverInfo(server, null))),

  availableExternalSquads: adminProcedure('tariffs:read')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/tariffs/available-external-squads',
        tags,
        summary: 'List external squads of the panel that can be selected',
      },
      description: 'Lists external squads of the panel; none while no panel is configured.',
      refuses: [panelUnavailable],
    })
    .output(toWire(ExternalSquadInfoResponse.array()))
    .query(({ ctx }) => listExternalSquads(ctx.app)),

  sort: adminProcedure('tariffs:edit')
    .meta({
      openapi: { method: 'PUT', path: '/cabinet/admin/tariffs/order', tags, summary: 'Set the order of the tariffs' },
      description: 'Puts the tariffs in the given order. Unknown ids are ignored.',
    })
    .input(fromWire(TariffSortOrderRequest))
    .output(TariffOrderAnswer)
    .mutation(async ({ ctx, input }) => {
      await sortTariffs(ctx.app, ctx.actor, input.tariffIds);
      return { message: 'Order saved' };
    }),

  get: adminProcedure('tariffs:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/tariffs/{tariff_id}', tags, summary: 'Read a tariff' },
      description: 'Returns a tariff with prices, servers and promo groups.',
      refuses: [tariffNotFound],
    })
    .input(fromWire(TariffPath))
    .output(toWire(TariffDetailResponse))
    .query(async ({ ctx, input }) => tariffDetail(await readTariffForm(ctx.app, input.tariffId))),

  update: adminProcedure('tariffs:edit')
    .meta({
      openapi: { method: 'PUT', path: '/cabinet/admin/tariffs/{tariff_id}', tags, summary: 'Change a tariff' },
      description:
        'Changes a tariff; absent or null fields are not changed, except where null clears. Running subscriptions keep their limits; changed servers are sent to the panel in the background.',
      refuses: [tariffNotFound],
    })
    .input(fromWire(withBody(TariffPath, TariffUpdateRequest)))
    .output(toWire(TariffDetailResponse))
    .mutation(async ({ ctx, input: { tariffId, ...changes } }) => {
      await changeTariff(ctx.app, ctx.actor, tariffId, withPricesByDays(changes));
      return tariffDetail(await readTariffForm(ctx.app, tariffId));
    }),

  delete: adminProcedure('tariffs:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/admin/tariffs/{tariff_id}', tags, summary: 'Delete an unused tariff' },
      description: 'Deletes a tariff that no active subscription uses. Expired subscriptions lose their tariff.',
      refuses: [tariffNotFound, tariffInUse],
    })
    .input(fromWire(TariffPath))
    .output(toWire(TariffDeleteAnswer))
    .mutation(async ({ ctx, input }) => {
      const { name, affectedSubscriptions } = await deleteTariff(ctx.app, ctx.actor, input.tariffId);
      return { message: `Tariff '${name}' deleted`, affectedSubscriptions };
    }),

  toggle: adminProcedure('tariffs:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/tariffs/{tariff_id}/toggle',
        tags,
        summary: 'Put a tariff on or off sale',
      },
      description: 'Puts a tariff on sale or removes it from sale. Each call reverses the state.',
      refuses: [tariffNotFound],
    })
    .input(fromWire(TariffPath))
    .output(toWire(TariffToggleResponse))
    .mutation(async ({ ctx, input }) => {
      const isActive = await toggleTariff(ctx.app, ctx.actor, input.tariffId);
      return { id: input.tariffId, isActive, message: isActive ? 'Tariff activated' : 'Tariff deactivated' };
    }),

  toggleTrial: adminProcedure('tariffs:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/tariffs/{tariff_id}/trial',
        tags,
        summary: 'Make a tariff the trial tariff or not',
      },
      description: 'Makes a tariff the trial tariff in place of another one, or ends that. Each call reverses the state.',
      refuses: [tariffNotFound],
    })
    .input(fromWire(TariffPath))
    .output(toWire(TariffTrialResponse))
    .mutation(async ({ ctx, input }) => {
      const isTrial = await toggleTrialTariff(ctx.app, ctx.actor, input.tariffId);
      const message = isTrial ? 'Tariff is the trial tariff now' : 'Tariff is no longer the trial tariff';
      return { id: input.tariffId, isTrialAvailable: isTrial, message };
    }),

  stats: adminProcedure('tariffs:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/tariffs/{tariff_id}/stats', tags, summary: 'Statistics of a tariff' },
      description: 'Counts the subscriptions of a tariff and sums up the payments of their users.',
      refuses: [tariffNotFound],
    })
    .input(fromWire(TariffPath))
    .output(toWire(TariffStatsResponse))
    .query(async ({ ctx, input }) => {
      const stats = await tariffStats(ctx.app, input.tariffId);
      return { ...stats, revenueRubles: rublesOf(stats.revenueKopeks) };
    }),

  syncSquads: adminProcedure('tariffs:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/tariffs/{tariff_id}/sync-squads',
        tags,
        summary: 'Send the servers of every subscription of a tariff to the panel',
      },
      description:
        'Sends the servers of a tariff to the panel for every active subscription on it. Users whom the panel refuses are counted and not changed.',
      refuses: [syncedTariffNotFound],
    })
    .input(fromWire(TariffPath))
    .output(toWire(SyncSquadsResponse))
    .mutation(({ ctx, input }) => syncSquadsNow(ctx.app, ctx.actor, input.tariffId)),
});
