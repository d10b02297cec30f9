import type { z } from 'zod';
import { listSquads } from '../../domain/catalog/find-squads.ts';
import { listExternalSquads } from '../../domain/catalog/list-external-squads.ts';
import { deleteTariff, sortTariffs, toggleTariff, toggleTrialTariff } from '../../domain/catalog/tariffs/manage-tariffs.ts';
import { listTariffs, readTariffForm, type TariffForm, tariffStats } from '../../domain/catalog/tariffs/read-tariffs.ts';
import { changeTariff, createTariff, type TariffRequest } from '../../domain/catalog/tariffs/save-tariff.ts';
import type { ServerSquad, Tariff } from '../../domain/catalog/types.ts';
import { syncSquadsNow } from '../../domain/provisioning/squads/sync-squads-of-tariff.ts';
import { adminProcedure, router } from '../trpc.ts';
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
export function toTariffListItem({ tariff, subscriptionsCount }: { tariff: Tariff; subscriptionsCount: number }) {
  return {
    id: tariff.id,
    name: tariff.name,
    description: tariff.description,
    is_active: tariff.isActive,
    is_trial_available: tariff.isTrialAvailable,
    is_daily: tariff.isDaily,
    daily_price_kopeks: tariff.dailyPriceKopeks,
    allow_traffic_topup: tariff.allowTrafficTopup,
    show_in_gift: tariff.showInGift,
    traffic_limit_gb: tariff.trafficLimitGb,
    device_limit: tariff.deviceLimit,
    tier_level: tariff.tierLevel,
    display_order: tariff.displayOrder,
    servers_count: tariff.allowedSquads.length,
    subscriptions_count: subscriptionsCount,
    created_at: tariff.createdAt,
  };
}

function toServerInfo(server: ServerSquad, tariff: Tariff | null) {
  return {
    id: server.id,
    squad_uuid: server.squadUuid,
    display_name: server.displayName,
    country_code: server.countryCode,
    is_selected: tariff?.allowedSquads.includes(server.squadUuid) ?? false,
    traffic_limit_gb: tariff?.serverTrafficLimits[server.squadUuid]?.trafficLimitGb ?? null,
  };
}

function toDetail({ tariff, subscriptionsCount, servers, promoGroups }: TariffForm) {
  const { servers_count: _count, ...common } = toTariffListItem({ tariff, subscriptionsCount });
  const prices = Object.entries(tariff.periodPrices).map(([days, kopeks]) => ({ days: Number(days), price_kopeks: kopeks }));
  return {
    ...common,
    traffic_topup_enabled: tariff.trafficTopupEnabled,
    traffic_topup_packages: tariff.trafficTopupPackages,
    max_topup_traffic_gb: tariff.maxTopupTrafficGb,
    device_price_kopeks: tariff.devicePriceKopeks,
    max_device_limit: tariff.maxDeviceLimit,
    period_prices: prices.sort((a, b) => a.days - b.days).map((price) => ({ ...price, price_rubles: price.price_kopeks / 100 })),
    allowed_squads: tariff.allowedSquads,
    server_traffic_limits: Object.fromEntries(
      Object.entries(tariff.serverTrafficLimits).map(([uuid, limit]) => [uuid, { traffic_limit_gb: limit.trafficLimitGb }]),
    ),
    servers: servers.map((server) => toServerInfo(server, tariff)),
    promo_groups: promoGroups.map((group) => ({ ...group, is_selected: tariff.allowedPromoGroupIds.includes(group.id) })),
    custom_days_enabled: tariff.customDaysEnabled,
    price_per_day_kopeks: tariff.pricePerDayKopeks,
    min_days: tariff.minDays,
    max_days: tariff.maxDays,
    custom_traffic_enabled: tariff.customTrafficEnabled,
    traffic_price_per_gb_kopeks: tariff.trafficPricePerGbKopeks,
    min_traffic_gb: tariff.minTrafficGb,
    max_traffic_gb: tariff.maxTrafficGb,
    traffic_reset_mode: tariff.trafficResetMode,
    external_squad_uuid: tariff.externalSquadUuid,
    updated_at: tariff.updatedAt,
  };
}

/** null and absent = as stored, except where an explicit null clears (spec 02 section 10). */
function toRequest(input: z.output<typeof TariffUpdateRequest>): TariffRequest {
  return {
    name: input.name ?? undefined,
    description: input.description ?? undefined,
    isActive: input.is_active ?? undefined,
    allowTrafficTopup: input.allow_traffic_topup ?? undefined,
    trafficTopupEnabled: input.traffic_topup_enabled ?? undefined,
    trafficTopupPackages: input.traffic_topup_packages ?? undefined,
    maxTopupTrafficGb: input.max_topup_traffic_gb ?? undefined,
    trafficLimitGb: input.traffic_limit_gb ?? undefined,
    deviceLimit: input.device_limit ?? undefined,
    devicePriceKopeks: input.device_price_kopeks ?? undefined,
    maxDeviceLimit: input.max_device_limit ?? undefined,
    tierLevel: input.tier_level ?? undefined,
    displayOrder: input.display_order ?? undefined,
    periodPrices: input.period_prices
      ? Object.fromEntries(input.period_prices.map((price) => [price.days, price.price_kopeks]))
      : undefined,
    allowedSquads: input.allowed_squads ?? undefined,
    serverTrafficLimits: input.server_traffic_limits
      ? Object.fromEntries(
          Object.entries(input.server_traffic_limits).map(([uuid, limit]) => [uuid, { trafficLimitGb: limit.traffic_limit_gb }]),
        )
      : undefined,
    promoGroupIds: input.promo_group_ids ?? undefined,
    customDaysEnabled: input.custom_days_enabled ?? undefined,
    pricePerDayKopeks: input.price_per_day_kopeks ?? undefined,
    minDays: input.min_days ?? undefined,
    maxDays: input.max_days ?? undefined,
    customTrafficEnabled: input.custom_traffic_enabled ?? undefined,
    trafficPricePerGbKopeks: input.traffic_price_per_gb_kopeks ?? undefined,
    minTrafficGb: input.min_traffic_gb ?? undefined,
    maxTrafficGb: input.max_traffic_gb ?? undefined,
    isDaily: input.is_daily ?? undefined,
    dailyPriceKopeks: input.daily_price_kopeks ?? undefined,
    trafficResetMode: input.traffic_reset_mode,
    externalSquadUuid: input.external_squad_uuid,
    showInGift: input.show_in_gift ?? undefined,
  };
}

export const adminTariffsRouter = router({
  list: adminProcedure('tariffs:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/tariffs', tags, summary: 'List tariffs' } })
    .input(TariffListQuery)
    .output(TariffListResponse)
    .query(async ({ ctx, input }) => {
      const tariffs = await listTariffs(ctx.app, { includeInactive: input.include_inactive });
      return { tariffs: tariffs.map(toTariffListItem), total: tariffs.length };
    }),

  create: adminProcedure('tariffs:create')
    .meta({ openapi: { method: 'POST', path: '/cabinet/admin/tariffs', tags, summary: 'Create a tariff' } })
    .input(TariffCreateRequest)
    .output(TariffDetailResponse)
    .mutation(async ({ ctx, input }) => {
      const tariff = await createTariff(ctx.app, ctx.actor, { ...toRequest(input), name: input.name });
      return toDetail(await readTariffForm(ctx.app, tariff.id));
    }),

  availableServers: adminProcedure('tariffs:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/tariffs/available-servers', tags, summary: 'Servers to choose from' },
    })
    .output(CabinetTariffsServerInfo.array())
    .query(async ({ ctx }) => (await listSquads(ctx.app)).map((server) => toServerInfo(server, null))),

  availableExternalSquads: adminProcedure('tariffs:read')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/tariffs/available-external-squads',
        tags,
        summary: 'External squads of the panel to choose from',
      },
    })
    .output(ExternalSquadInfoResponse.array())
    .query(async ({ ctx }) => {
      const squads = await listExternalSquads(ctx.app);
      return squads.map((squad) => ({ uuid: squad.uuid, name: squad.name, members_count: squad.membersCount }));
    }),

  sort: adminProcedure('tariffs:edit')
    .meta({ openapi: { method: 'PUT', path: '/cabinet/admin/tariffs/order', tags, summary: 'Order the tariffs' } })
    .input(TariffSortOrderRequest)
    .output(TariffOrderAnswer)
    .mutation(async ({ ctx, input }) => {
      await sortTariffs(ctx.app, ctx.actor, input.tariff_ids);
      return { message: 'Order saved' };
    }),

  get: adminProcedure('tariffs:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/tariffs/{tariff_id}', tags, summary: 'Read a tariff' } })
    .input(TariffPath)
    .output(TariffDetailResponse)
    .query(async ({ ctx, input }) => toDetail(await readTariffForm(ctx.app, input.tariff_id))),

  update: adminProcedure('tariffs:edit')
    .meta({ openapi: { method: 'PUT', path: '/cabinet/admin/tariffs/{tariff_id}', tags, summary: 'Change a tariff' } })
    .input(TariffPath.extend(TariffUpdateRequest.shape))
    .output(TariffDetailResponse)
    .mutation(async ({ ctx, input }) => {
      await changeTariff(ctx.app, ctx.actor, input.tariff_id, toRequest(input));
      return toDetail(await readTariffForm(ctx.app, input.tariff_id));
    }),

  delete: adminProcedure('tariffs:delete')
    .meta({ openapi: { method: 'DELETE', path: '/cabinet/admin/tariffs/{tariff_id}', tags, summary: 'Delete an unused tariff' } })
    .input(TariffPath)
    .output(TariffDeleteAnswer)
    .mutation(async ({ ctx, input }) => {
      const { name, affectedSubscriptions } = await deleteTariff(ctx.app, ctx.actor, input.tariff_id);
      return { message: `Tariff '${name}' deleted`, affected_subscriptions: affectedSubscriptions };
    }),

  toggle: adminProcedure('tariffs:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/tariffs/{tariff_id}/toggle',
        tags,
        summary: 'Put a tariff on or off sale',
      },
    })
    .input(TariffPath)
    .output(TariffToggleResponse)
    .mutation(async ({ ctx, input }) => {
      const isActive = await toggleTariff(ctx.app, ctx.actor, input.tariff_id);
      return { id: input.tariff_id, is_active: isActive, message: isActive ? 'Tariff activated' : 'Tariff deactivated' };
    }),

  toggleTrial: adminProcedure('tariffs:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/tariffs/{tariff_id}/trial',
        tags,
        summary: 'Make a tariff the trial tariff or not',
      },
    })
    .input(TariffPath)
    .output(TariffTrialResponse)
    .mutation(async ({ ctx, input }) => {
      const isTrial = await toggleTrialTariff(ctx.app, ctx.actor, input.tariff_id);
      const message = isTrial ? 'Tariff is the trial tariff now' : 'Tariff is no longer the trial tariff';
      return { id: input.tariff_id, is_trial_available: isTrial, message };
    }),

  stats: adminProcedure('tariffs:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/tariffs/{tariff_id}/stats', tags, summary: 'Numbers of a tariff' } })
    .input(TariffPath)
    .output(TariffStatsResponse)
    .query(async ({ ctx, input }) => {
      const stats = await tariffStats(ctx.app, input.tariff_id);
      return {
        id: stats.id,
        name: stats.name,
        subscriptions_count: stats.subscriptions,
        active_subscriptions: stats.active,
        trial_subscriptions: stats.trial,
        revenue_kopeks: stats.revenueKopeks,
        revenue_rubles: stats.revenueKopeks / 100,
      };
    }),

  syncSquads: adminProcedure('tariffs:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/tariffs/{tariff_id}/sync-squads',
        tags,
        summary: 'Tell the panel the servers of every subscription of a tariff',
      },
    })
    .input(TariffPath)
    .output(SyncSquadsResponse)
    .mutation(async ({ ctx, input }) => {
      const result = await syncSquadsNow(ctx.app, ctx.actor, input.tariff_id);
      return {
        tariff_id: result.tariffId,
        tariff_name: result.tariffName,
        total_subscriptions: result.totalSubscriptions,
        updated_count: result.updatedCount,
        failed_count: result.failedCount,
        skipped_count: result.skippedCount,
        errors: result.errors,
      };
    }),
});
