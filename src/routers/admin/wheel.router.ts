import { pageCount } from '../../core/paging.ts';
import {
  changePrize,
  changeWheel,
  createPrize,
  listWheelPrizes,
  listWheelSpins,
  noFields,
  orderPrizes,
  prizeNotFound,
  readWheelForm,
  readWheelStatistics,
  removePrize,
  type WheelForm,
} from '../../domain/engagement/wheel/wheel.ts';
import { SuccessResponse, utcDate } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  AdminSpinsQuery,
  AdminSpinsResponse,
  AdminWheelConfigResponse,
  CreatePrizeRequest,
  ReorderPrizesRequest,
  UpdatePrizeRequest,
  UpdateWheelConfigRequest,
  WheelPrizeAdminResponse,
  WheelPrizePath,
  WheelStatisticsQuery,
  WheelStatisticsResponse,
} from './wheel.schemas.ts';

const tags: [string] = ['Admin Fortune Wheel'];

const wheelConfig = ({ config, ...rest }: WheelForm) => ({ ...config, ...rest });

const periodOf = (input: { dateFrom?: string | null | undefined; dateTo?: string | null | undefined }) => ({
  from: input.dateFrom ? utcDate(input.dateFrom) : null,
  to: input.dateTo ? utcDate(input.dateTo) : null,
});

export const adminWheelRouter = router({
  config: adminProcedure('wheel:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/wheel/config', tags, summary: 'Settings and prizes of the wheel' },
      description: 'Returns the settings of the wheel and all prizes, inactive ones included.',
    })
    .output(toWire(AdminWheelConfigResponse))
    .query(async ({ ctx }) => wheelConfig(await readWheelForm(ctx.app))),

  updateConfig: adminProcedure('wheel:edit')
    .meta({
      openapi: { method: 'PUT', path: '/cabinet/admin/wheel/config', tags, summary: 'Change the settings of the wheel' },
      description: 'Changes the settings of the wheel; absent or null fields are not changed. An empty body is refused.',
      refuses: [noFields],
    })
    .input(fromWire(UpdateWheelConfigRequest))
    .output(toWire(AdminWheelConfigResponse))
    .mutation(async ({ ctx, input }) => wheelConfig(await changeWheel(ctx.app, input))),

  prizes: adminProcedure('wheel:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/wheel/prizes', tags, summary: 'List all prizes' },
      description: 'Lists all prizes in the order of the wheel.',
    })
    .output(toWire(WheelPrizeAdminResponse.array()))
    .query(({ ctx }) => listWheelPrizes(ctx.app)),

  createPrize: adminProcedure('wheel:edit')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/wheel/prizes', tags, summary: 'Add a prize' },
      description: 'Adds a prize at the end of the wheel. The probabilities of the others change.',
    })
    .input(fromWire(CreatePrizeRequest))
    .output(toWire(WheelPrizeAdminResponse))
    .mutation(({ ctx, input }) => createPrize(ctx.app, input)),

  updatePrize: adminProcedure('wheel:edit')
    .meta({
      openapi: { method: 'PUT', path: '/cabinet/admin/wheel/prizes/{prize_id}', tags, summary: 'Change a prize' },
      description:
        'Changes a prize; null leaves a field unchanged, except the fixed probability, which it clears. The probabilities of the others change.',
      refuses: [noFields, prizeNotFound],
    })
    .input(fromWire(withBody(WheelPrizePath, UpdatePrizeRequest)))
    .output(toWire(WheelPrizeAdminResponse))
    .mutation(({ ctx, input: { prizeId, ...changes } }) => changePrize(ctx.app, prizeId, changes)),

  deletePrize: adminProcedure('wheel:edit')
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/admin/wheel/prizes/{prize_id}', tags, summary: 'Delete a prize' },
      description: 'Deletes a prize. Spins that won it remain.',
      refuses: [prizeNotFound],
    })
    .input(fromWire(WheelPrizePath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await removePrize(ctx.app, input.prizeId);
      return { success: true as const };
    }),

  reorderPrizes: adminProcedure('wheel:edit')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/wheel/prizes/reorder', tags, summary: 'Set the order of the prizes' },
      description: 'Puts the prizes in the given order. Unknown ids are ignored.',
    })
    .input(fromWire(ReorderPrizesRequest))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await orderPrizes(ctx.app, input.prizeIds);
      return { success: true as const };
    }),

  statistics: adminProcedure('wheel:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/wheel/statistics', tags, summary: 'Statistics of the wheel' },
      description: 'Sums up spins, payments and prizes of a period and compares the return to player with the settings.',
    })
    .input(fromWire(WheelStatisticsQuery))
    .output(toWire(WheelStatisticsResponse))
    .query(async ({ ctx, input }) => {
      const period = periodOf(input);
      const statistics = await readWheelStatistics(ctx.app, period);
      const { from, to } = period;
      return { ...statistics, periodFrom: from?.toISOString() ?? null, periodTo: to?.toISOString() ?? null };
    }),

  spins: adminProcedure('wheel:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/wheel/spins', tags, summary: 'List spins' },
      description: 'Lists spins, newest first.',
    })
    .input(fromWire(AdminSpinsQuery))
    .output(toWire(AdminSpinsResponse))
    .query(async ({ ctx, input }) => {
      const { page, perPage, userId = null } = input;
      const { items, total } = await listWheelSpins(ctx.app, { ...periodOf(input), userId }, { page, perPage });
      return { items, total, page, perPage, pages: pageCount(total, perPage) };
    }),
});
