import {
  changeLanding,
  createLanding,
  removeLanding,
  sortLandings,
  toggleLanding,
} from '../../domain/storefront/landings/manage-landings.ts';
import {
  listAllLandings,
  listLandingPurchases,
  readLanding,
  readLandingFigures,
} from '../../domain/storefront/landings/read-landings.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import {
  toLandingChanges,
  toLandingContent,
  toLandingDetail,
  toLandingListItem,
  toLandingStats,
  toPurchaseItem,
} from './landing-wire.ts';
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

export const adminLandingsRouter = router({
  list: adminProcedure('landings:read')
    .meta({ openapi: { method: 'GET', path: base, tags, summary: 'List sales pages with what they sold' } })
    .output(LandingListItem.array())
    .query(async ({ ctx }) => (await listAllLandings(ctx.app)).map(toLandingListItem)),

  create: adminProcedure('landings:create')
    .meta({ openapi: { method: 'POST', path: base, tags, summary: 'Create a sales page' } })
    .input(LandingCreateRequest)
    .output(LandingDetailResponse)
    .mutation(async ({ ctx, input }) => toLandingDetail(await createLanding(ctx.app, ctx.actor, toLandingContent(input)))),

  sort: adminProcedure('landings:edit')
    .meta({ openapi: { method: 'PUT', path: `${base}/order`, tags, summary: 'Put sales pages in order' } })
    .input(LandingOrderRequest)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await sortLandings(ctx.app, ctx.actor, input.landing_ids);
      return { success: true as const };
    }),

  get: adminProcedure('landings:read')
    .meta({ openapi: { method: 'GET', path: one, tags, summary: 'A sales page' } })
    .input(LandingPath)
    .output(LandingDetailResponse)
    .query(async ({ ctx, input }) => toLandingDetail(await readLanding(ctx.app, input.landing_id))),

  update: adminProcedure('landings:edit')
    .meta({ openapi: { method: 'PUT', path: one, tags, summary: 'Change a sales page' } })
    .input(LandingPath.extend(LandingUpdateRequest.shape))
    .output(LandingDetailResponse)
    .mutation(async ({ ctx, input: { landing_id: id, ...input } }) =>
      toLandingDetail(await changeLanding(ctx.app, ctx.actor, id, toLandingChanges(input))),
    ),

  delete: adminProcedure('landings:delete')
    .meta({ openapi: { method: 'DELETE', path: one, tags, summary: 'Delete a sales page; its purchases stay' } })
    .input(LandingPath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await removeLanding(ctx.app, ctx.actor, input.landing_id);
      return { success: true as const };
    }),

  toggle: adminProcedure('landings:edit')
    .meta({ openapi: { method: 'POST', path: `${one}/toggle`, tags, summary: 'Show or hide a sales page' } })
    .input(LandingPath)
    .output(LandingDetailResponse)
    .mutation(async ({ ctx, input }) => toLandingDetail(await toggleLanding(ctx.app, ctx.actor, input.landing_id))),

  stats: adminProcedure('landings:read')
    .meta({ openapi: { method: 'GET', path: `${one}/stats`, tags, summary: 'What a sales page sold' } })
    .input(LandingPath)
    .output(LandingStatsResponse)
    .query(async ({ ctx, input }) => toLandingStats(await readLandingFigures(ctx.app, input.landing_id))),

  purchases: adminProcedure('landings:read')
    .meta({ openapi: { method: 'GET', path: `${one}/purchases`, tags, summary: 'Purchases of a sales page, newest first' } })
    .input(LandingPurchasesQuery)
    .output(LandingPurchaseListResponse)
    .query(async ({ ctx, input: { landing_id: id, status = null, limit, offset } }) => {
      const { items, total } = await listLandingPurchases(ctx.app, id, { status, limit, offset });
      return { items: items.map(toPurchaseItem), total };
    }),
});
