import type { z } from 'zod';
import { pageCount } from '../../core/paging.ts';
import {
  changePrize,
  changeWheel,
  createPrize,
  listWheelPrizes,
  listWheelSpins,
  orderPrizes,
  readWheelForm,
  readWheelStatistics,
  removePrize,
  type WheelForm,
} from '../../domain/engagement/wheel/manage-wheel.ts';
import type { PrizeFields, SpinRecord, WheelConfigChanges, WheelPrize } from '../../domain/engagement/wheel/types.ts';
import { SuccessResponse, utcDate } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
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

function toPrize(prize: WheelPrize) {
  return {
    id: prize.id,
    config_id: prize.configId,
    prize_type: prize.prizeType,
    prize_value: prize.prizeValue,
    display_name: prize.displayName,
    emoji: prize.emoji,
    color: prize.color,
    prize_value_kopeks: prize.prizeValueKopeks,
    sort_order: prize.sortOrder,
    manual_probability: prize.manualProbability,
    is_active: prize.isActive,
    promo_balance_bonus_kopeks: prize.promoBalanceBonusKopeks,
    promo_subscription_days: prize.promoSubscriptionDays,
    promo_traffic_gb: prize.promoTrafficGb,
    created_at: prize.createdAt,
    updated_at: prize.updatedAt,
  };
}

function toConfig({ config, prizes, expectedRtpPercent }: WheelForm) {
  return {
    id: config.id,
    is_enabled: config.isEnabled,
    name: config.name,
    spin_cost_stars: config.spinCostStars,
    spin_cost_days: config.spinCostDays,
    spin_cost_stars_enabled: config.spinCostStarsEnabled,
    spin_cost_days_enabled: config.spinCostDaysEnabled,
    rtp_percent: config.rtpPercent,
    daily_spin_limit: config.dailySpinLimit,
    min_subscription_days_for_day_payment: config.minSubscriptionDaysForDayPayment,
    promo_prefix: config.promoPrefix,
    promo_validity_days: config.promoValidityDays,
    prizes: prizes.map(toPrize),
    expected_rtp_percent: expectedRtpPercent,
    created_at: config.createdAt,
    updated_at: config.updatedAt,
  };
}

function toSpin(spin: SpinRecord) {
  return {
    id: spin.id,
    user_id: spin.userId,
    username: spin.username,
    payment_type: spin.paymentType,
    payment_amount: spin.paymentAmount,
    payment_value_kopeks: spin.paymentValueKopeks,
    prize_type: spin.prizeType,
    prize_value: spin.prizeValue,
    prize_display_name: spin.prizeDisplayName,
    prize_value_kopeks: spin.prizeValueKopeks,
    is_applied: spin.isApplied,
    created_at: spin.createdAt,
  };
}

/** Null and absent fields leave what is; null = the request had no field at all. */
function configChanges(input: z.output<typeof UpdateWheelConfigRequest>): WheelConfigChanges | null {
  if (Object.keys(input).length === 0) return null;
  return given({
    isEnabled: input.is_enabled,
    name: input.name,
    spinCostStars: input.spin_cost_stars,
    spinCostDays: input.spin_cost_days,
    spinCostStarsEnabled: input.spin_cost_stars_enabled,
    spinCostDaysEnabled: input.spin_cost_days_enabled,
    rtpPercent: input.rtp_percent,
    dailySpinLimit: input.daily_spin_limit,
    minSubscriptionDaysForDayPayment: input.min_subscription_days_for_day_payment,
    promoPrefix: input.promo_prefix,
    promoValidityDays: input.promo_validity_days,
  });
}

/** The same; but a null `manual_probability` clears it (spec 04 section 13.6). */
function prizeChanges(input: z.output<typeof UpdatePrizeRequest>): Partial<PrizeFields> | null {
  if (Object.keys(input).length === 0) return null;
  const changes: Partial<PrizeFields> = given({
    prizeType: input.prize_type,
    prizeValue: input.prize_value,
    displayName: input.display_name,
    emoji: input.emoji,
    color: input.color,
    prizeValueKopeks: input.prize_value_kopeks,
    sortOrder: input.sort_order,
    isActive: input.is_active,
    promoBalanceBonusKopeks: input.promo_balance_bonus_kopeks,
    promoSubscriptionDays: input.promo_subscription_days,
    promoTrafficGb: input.promo_traffic_gb,
  });
  return input.manual_probability === undefined ? changes : { ...changes, manualProbability: input.manual_probability };
}

/** Without the fields that are null or absent. */
function given<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const set = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(set) as { [K in keyof T]?: NonNullable<T[K]> };
}

const periodOf = (input: { date_from?: string | null | undefined; date_to?: string | null | undefined }) => ({
  from: input.date_from ? utcDate(input.date_from) : null,
  to: input.date_to ? utcDate(input.date_to) : null,
});

export const adminWheelRouter = router({
  config: adminProcedure('wheel:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/wheel/config', tags, summary: 'Settings and prizes of the wheel' } })
    .output(AdminWheelConfigResponse)
    .query(async ({ ctx }) => toConfig(await readWheelForm(ctx.app))),

  updateConfig: adminProcedure('wheel:edit')
    .meta({ openapi: { method: 'PUT', path: '/cabinet/admin/wheel/config', tags, summary: 'Change the settings of the wheel' } })
    .input(UpdateWheelConfigRequest)
    .output(AdminWheelConfigResponse)
    .mutation(async ({ ctx, input }) => toConfig(await changeWheel(ctx.app, configChanges(input)))),

  prizes: adminProcedure('wheel:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/wheel/prizes', tags, summary: 'List all prizes' } })
    .output(WheelPrizeAdminResponse.array())
    .query(async ({ ctx }) => (await listWheelPrizes(ctx.app)).map(toPrize)),

  createPrize: adminProcedure('wheel:edit')
    .meta({ openapi: { method: 'POST', path: '/cabinet/admin/wheel/prizes', tags, summary: 'Add a prize' } })
    .input(CreatePrizeRequest)
    .output(WheelPrizeAdminResponse)
    .mutation(async ({ ctx, input }) => {
      const made = await createPrize(ctx.app, {
        prizeType: input.prize_type,
        prizeValue: input.prize_value,
        displayName: input.display_name,
        emoji: input.emoji,
        color: input.color,
        prizeValueKopeks: input.prize_value_kopeks,
        sortOrder: input.sort_order,
        manualProbability: input.manual_probability ?? null,
        isActive: input.is_active,
        promoBalanceBonusKopeks: input.promo_balance_bonus_kopeks,
        promoSubscriptionDays: input.promo_subscription_days,
        promoTrafficGb: input.promo_traffic_gb,
      });
      return toPrize(made);
    }),

  updatePrize: adminProcedure('wheel:edit')
    .meta({ openapi: { method: 'PUT', path: '/cabinet/admin/wheel/prizes/{prize_id}', tags, summary: 'Change a prize' } })
    .input(WheelPrizePath.extend(UpdatePrizeRequest.shape))
    .output(WheelPrizeAdminResponse)
    .mutation(async ({ ctx, input: { prize_id, ...fields } }) =>
      toPrize(await changePrize(ctx.app, prize_id, prizeChanges(fields))),
    ),

  deletePrize: adminProcedure('wheel:edit')
    .meta({ openapi: { method: 'DELETE', path: '/cabinet/admin/wheel/prizes/{prize_id}', tags, summary: 'Delete a prize' } })
    .input(WheelPrizePath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await removePrize(ctx.app, input.prize_id);
      return { success: true as const };
    }),

  reorderPrizes: adminProcedure('wheel:edit')
    .meta({ openapi: { method: 'POST', path: '/cabinet/admin/wheel/prizes/reorder', tags, summary: 'Put the prizes in order' } })
    .input(ReorderPrizesRequest)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await orderPrizes(ctx.app, input.prize_ids);
      return { success: true as const };
    }),

  statistics: adminProcedure('wheel:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/wheel/statistics', tags, summary: 'Sums of the wheel' } })
    .input(WheelStatisticsQuery)
    .output(WheelStatisticsResponse)
    .query(async ({ ctx, input }) => {
      const period = periodOf(input);
      const found = await readWheelStatistics(ctx.app, period);
      return {
        total_spins: found.totalSpins,
        total_revenue_kopeks: found.revenueKopeks,
        total_payout_kopeks: found.payoutKopeks,
        actual_rtp_percent: found.actualRtpPercent,
        configured_rtp_percent: found.configuredRtpPercent,
        spins_by_payment_type: Object.fromEntries(
          found.byPayment.map((row) => [row.paymentType, { count: row.count, total_kopeks: row.totalKopeks }]),
        ),
        prizes_distribution: found.prizes.map((row) => ({
          prize_type: row.prizeType,
          display_name: row.displayName,
          count: row.count,
          total_kopeks: row.totalKopeks,
        })),
        top_wins: found.topWins.map((win) => ({
          user_id: win.userId,
          username: win.username,
          prize_display_name: win.displayName,
          prize_value_kopeks: win.valueKopeks,
          created_at: win.createdAt,
        })),
        period_from: period.from?.toISOString() ?? null,
        period_to: period.to?.toISOString() ?? null,
      };
    }),

  spins: adminProcedure('wheel:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/wheel/spins', tags, summary: 'List spins' } })
    .input(AdminSpinsQuery)
    .output(AdminSpinsResponse)
    .query(async ({ ctx, input }) => {
      const page = { page: input.page, perPage: input.per_page };
      const { items, total } = await listWheelSpins(ctx.app, { ...periodOf(input), userId: input.user_id ?? null }, page);
      return { items: items.map(toSpin), total, page: page.page, per_page: page.perPage, pages: pageCount(total, page.perPage) };
    }),
});
