import {
  changeLanding,
  createLanding,
  discountDatesReversed,
  discountIncomplete,
  landingNotFound,
  removeLanding,
  slugReserved,
  slugTaken,
  sortLandings,
  toggleLanding,
} from '../../domain/storefront/landings/landings.ts';
import {
  type LandingStats,
  type ListedLanding,
  type ListedPurchase,
  listAllLandings,
  listLandingPurchases,
  readLanding,
  readLandingStats,
} from '../../domain/storefront/landings/read-landings.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import { toLandingChanges, toNewLanding } from './landing-request.ts';
import {
  LandingCreateRequest,
  LandingDetailResponse,
  LandingListItem,
  LandingOrderRequest,
  LandingPath,
  LandingPurchaseListResponse,
  LandingPurchasesQuery,
  LandingStatsResponse,
  LandingUpdateRequest,
} from './landings.schemas.ts';

const tags: [string] = ['Cabinet Admin Landings'];
const base = '/cabinet/admin/landings';
const one = `${base}/{landing_id}` as const;

/** Name of a tariff that was deleted. */
const UNKNOWN = 'Unknown';

function toListItem({ purchases, ...landing }: ListedLanding) {
  const total = Object.values(purchases).reduce((sum, count) => sum + count, 0);
  return {
    ...landing,
    tariffCount: landing.allowedTariffIds.length,
    methodCount: landing.paymentMethods.length,
    purchaseStats: { ...purchases, pendingActivation: purchases.pending_activation, total },
  };
}

function toStats({ created, successful, gifts, revenueKopeks, days, tariffs }: LandingStats) {
  return {
    totalPurchases: created,
    totalRevenueKopeks: revenueKopeks,
    totalGifts: gifts,
    totalRegular: successful - gifts,
    avgPurchaseKopeks: successful === 0 ? 0 : Math.floor(revenueKopeks / successful),
    totalCreated: created,
    totalSuccessful: successful,
    conversionRate: created === 0 ? 0 : Math.round((successful / created) * 1000) / 10,
    dailyStats: days,
    tariffStats: tariffs.map((tariff) => ({ ...tariff, tariffName: tariff.tariffName ?? UNKNOWN })),
  };
}

/** The token is a credential: the list shows enough of it to recognise it. */
function toPurchaseItem(purchase: ListedPurchase) {
  return { ...purchase, token: `${purchase.token.slice(0, 8)}...`, tariffName: purchase.tariffName ?? UNKNOWN };
}

export const adminLandingsRouter = router({
  list: adminProcedure('landings:read')
    .meta({
      openapi: { method: 'GET', path: base, tags, summary: 'List sales pages with their sales' },
      description: 'Lists sales pages in the order of display with the number of their purchases by state.',
    })
    .output(toWire(LandingListItem.array()))
    .query(async ({ ctx }) => (await listAllLandings(ctx.app)).map(toListItem)),

  create: adminProcedure('landings:create')
    .meta({
      openapi: { method: 'POST', path: base, tags, summary: 'Create a sales page' },
      description: 'Creates a sales page. If it is active, buyers can use it immediately.',
      refuses: [slugReserved, slugTaken],
    })
    .input(fromWire(LandingCreateRequest))
    .output(toWire(LandingDetailResponse))
    .mutation(async ({ ctx, input }) => createLanding(ctx.app, ctx.actor, toNewLanding(input))),

  sort: adminProcedure('landings:edit')
    .meta({
      openapi: { method: 'PUT', path: `${base}/order`, tags, summary: 'Set the order of the sales pages' },
      description: 'Puts the sales pages in the given order. Unknown ids are ignored.',
    })
    .input(fromWire(LandingOrderRequest))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await sortLandings(ctx.app, ctx.actor, input.landingIds);
      return { success: true as const };
    }),

  get: adminProcedure('landings:read')
    .meta({
      openapi: { method: 'GET', path: one, tags, summary: 'A sales page' },
      description: 'Returns a sales page with all its texts, prices and methods.',
      refuses: [landingNotFound],
    })
    .input(fromWire(LandingPath))
    .output(toWire(LandingDetailResponse))
    .query(({ ctx, input }) => readLanding(ctx.app, input.landingId)),

  update: adminProcedure('landings:edit')
    .meta({
      openapi: { method: 'PUT', path: one, tags, summary: 'Change a sales page' },
      description: 'Changes a sales page; only fields that are sent change. Purchases that have started keep their price.',
      refuses: [discountDatesReversed, discountIncomplete, slugReserved, landingNotFound, slugTaken],
    })
    .input(fromWire(withBody(LandingPath, LandingUpdateRequest)))
    .output(toWire(LandingDetailResponse))
    .mutation(async ({ ctx, input: { landingId, ...input } }) =>
      changeLanding(ctx.app, ctx.actor, landingId, toLandingChanges(input)),
    ),

  delete: adminProcedure('landings:delete')
    .meta({
      openapi: { method: 'DELETE', path: one, tags, summary: 'Delete a sales page; its purchases stay' },
      description: 'Deletes a sales page. Its purchases remain and are delivered.',
      refuses: [landingNotFound],
    })
    .input(fromWire(LandingPath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await removeLanding(ctx.app, ctx.actor, input.landingId);
      return { success: true as const };
    }),

  toggle: adminProcedure('landings:edit')
    .meta({
      openapi: { method: 'POST', path: `${one}/toggle`, tags, summary: 'Show or hide a sales page' },
      description: 'Activates or deactivates a sales page. Buyers can use active pages only. Each call reverses the state.',
      refuses: [landingNotFound],
    })
    .input(fromWire(LandingPath))
    .output(toWire(LandingDetailResponse))
    .mutation(({ ctx, input }) => toggleLanding(ctx.app, ctx.actor, input.landingId)),

  stats: adminProcedure('landings:read')
    .meta({
      openapi: { method: 'GET', path: `${one}/stats`, tags, summary: 'Statistics of a sales page' },
      description: 'Returns purchases, revenue and conversion of a sales page, by day and by tariff.',
      refuses: [landingNotFound],
    })
    .input(fromWire(LandingPath))
    .output(toWire(LandingStatsResponse))
    .query(async ({ ctx, input }) => toStats(await readLandingStats(ctx.app, input.landingId))),

  purchases: adminProcedure('landings:read')
    .meta({
      openapi: { method: 'GET', path: `${one}/purchases`, tags, summary: 'Purchases of a sales page, newest first' },
      description: 'Lists purchases of a sales page, newest first. Contacts are not masked; tokens are cut.',
      refuses: [landingNotFound],
    })
    .input(fromWire(LandingPurchasesQuery))
    .output(toWire(LandingPurchaseListResponse))
    .query(async ({ ctx, input: { landingId, status = null, limit, offset } }) => {
      const { items, total } = await listLandingPurchases(ctx.app, landingId, { status, limit, offset });
      return { items: items.map(toPurchaseItem), total };
    }),
});
