import { pageCount } from '../../core/paging.ts';
import { readSpinHistory, readWheel, type WheelView } from '../../domain/engagement/wheel/read-wheel.ts';
import { spinWheel } from '../../domain/engagement/wheel/spin-wheel.ts';
import { createSpinInvoice } from '../../domain/engagement/wheel/stars-spin.ts';
import type { SpinOutcome, SpinRecord } from '../../domain/engagement/wheel/types.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import {
  CabinetWheelStarsInvoiceResponse,
  SpinAvailabilityResponse,
  SpinHistoryQuery,
  SpinHistoryResponse,
  SpinRequest,
  SpinResultResponse,
  WheelConfigResponse,
} from './wheel.schemas.ts';

const tags: [string] = ['Fortune Wheel'];
const EMOJI = '🎁';
const COLOR = '#3B82F6';

function toConfig({ config, prizes, spinsToday, availability, hasSubscription }: WheelView) {
  return {
    is_enabled: config.isEnabled,
    name: config.name,
    spin_cost_stars: config.spinCostStarsEnabled ? config.spinCostStars : null,
    spin_cost_days: config.spinCostDaysEnabled ? config.spinCostDays : null,
    spin_cost_stars_enabled: config.spinCostStarsEnabled,
    spin_cost_days_enabled: config.spinCostDaysEnabled,
    prizes: prizes.map((prize) => ({
      id: prize.id,
      display_name: prize.displayName,
      emoji: prize.emoji,
      color: prize.color,
      prize_type: prize.prizeType,
    })),
    daily_limit: config.dailySpinLimit,
    user_spins_today: spinsToday,
    can_spin: availability.reason === null,
    can_spin_reason: availability.reason,
    can_pay_stars: availability.canPayStars,
    can_pay_days: availability.canPayDays,
    user_balance_kopeks: availability.userBalanceKopeks,
    required_balance_kopeks: availability.requiredBalanceKopeks,
    has_subscription: hasSubscription,
  };
}

function toResult(outcome: SpinOutcome) {
  if (!outcome.isSuccess) {
    const nothing = { prize_id: null, prize_type: null, prize_value: 0, prize_display_name: '', promocode: null };
    const { error, message } = outcome;
    return { success: false, ...nothing, emoji: EMOJI, color: COLOR, rotation_degrees: 0, message, error };
  }
  const { won } = outcome;
  return {
    success: true,
    prize_id: won.prizeId,
    prize_type: won.prizeType,
    prize_value: won.prizeValue,
    prize_display_name: won.displayName,
    emoji: won.emoji,
    color: won.color,
    rotation_degrees: won.rotationDegrees,
    message: won.message,
    promocode: won.promocode,
    error: null,
  };
}

function toHistoryItem(spin: SpinRecord) {
  return {
    id: spin.id,
    payment_type: spin.paymentType,
    payment_amount: spin.paymentAmount,
    prize_type: spin.prizeType,
    prize_value: spin.prizeValue,
    prize_display_name: spin.prizeDisplayName,
    emoji: spin.emoji ?? EMOJI,
    color: spin.color ?? COLOR,
    prize_value_kopeks: spin.prizeValueKopeks,
    created_at: spin.createdAt,
  };
}

export const wheelRouter = router({
  config: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/wheel/config', tags, summary: 'The wheel and what a spin costs' } })
    .output(WheelConfigResponse)
    .query(async ({ ctx }) => toConfig(await readWheel(ctx.app, ctx.actor))),

  availability: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/wheel/availability', tags, summary: 'May the user spin now' } })
    .output(SpinAvailabilityResponse)
    .query(async ({ ctx }) => {
      const { availability } = await readWheel(ctx.app, ctx.actor);
      return {
        can_spin: availability.reason === null,
        reason: availability.reason,
        spins_remaining_today: availability.spinsRemaining,
        can_pay_stars: availability.canPayStars,
        can_pay_days: availability.canPayDays,
        min_subscription_days: availability.minSubscriptionDays,
        user_subscription_days: availability.userSubscriptionDays,
        user_balance_kopeks: availability.userBalanceKopeks,
        required_balance_kopeks: availability.requiredBalanceKopeks,
      };
    }),

  spin: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/wheel/spin', tags, summary: 'Pay and turn the wheel' },
      idempotent: true,
    })
    .input(SpinRequest)
    .output(SpinResultResponse)
    .mutation(async ({ ctx, input }) => toResult(await spinWheel(ctx.app, ctx.actor, input.payment_type, ctx.idempotencyKey))),

  history: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/wheel/history', tags, summary: 'Own spins' } })
    .input(SpinHistoryQuery)
    .output(SpinHistoryResponse)
    .query(async ({ ctx, input }) => {
      const asked = { page: input.page, perPage: input.per_page };
      const { items, total, page, perPage } = await readSpinHistory(ctx.app, ctx.actor, asked);
      return { items: items.map(toHistoryItem), total, page, per_page: perPage, pages: pageCount(total, perPage) };
    }),

  starsInvoice: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: '/cabinet/wheel/stars-invoice', tags, summary: 'Link to pay a spin in Stars' } })
    .output(CabinetWheelStarsInvoiceResponse)
    .mutation(async ({ ctx }) => {
      const { invoiceUrl, stars } = await createSpinInvoice(ctx.app, ctx.actor);
      return { invoice_url: invoiceUrl, stars_amount: stars };
    }),
});
