import { z } from 'zod';
import { pageCount } from '../../core/paging.ts';
import { spinWheel } from '../../domain/engagement/wheel/spin-wheel.ts';
import { createSpinInvoice, wheelInvoiceRefused } from '../../domain/engagement/wheel/stars-spin.ts';
import type { SpinOutcome, SpinRecord } from '../../domain/engagement/wheel/types.ts';
import { readSpinHistory, readWheel, type WheelView } from '../../domain/engagement/wheel/wheel.ts';
import { Timestamp } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Fortune Wheel`. */

const WheelPrizeDisplay = z
  .object({
    id: z.int().describe('Id of the prize of the wheel.'),
    display_name: z.string().describe('Name shown to users.'),
    emoji: z.string().describe('Emoji shown beside the name.'),
    color: z.string().describe('Colour as `#RRGGBB`.'),
    prize_type: z.string().describe('`subscription_days`, `balance_bonus`, `traffic_gb`, `promocode` or `nothing`.'),
  })
  .meta({ id: 'WheelPrizeDisplay' });

const WheelConfigResponse = z
  .object({
    is_enabled: z.boolean().describe('Whether users can spin the wheel.'),
    name: z.string().describe('Title of the wheel of fortune.'),
    spin_cost_stars: z.int().nullish().describe('Price of a spin in Stars; null when a spin cannot be paid so.'),
    spin_cost_days: z.int().nullish().describe('Price of a spin in subscription days; null when a spin cannot be paid so.'),
    spin_cost_stars_enabled: z.boolean().describe('Whether a spin can be paid at its price in Stars.'),
    spin_cost_days_enabled: z.boolean().describe('Whether a spin can be paid in subscription days.'),
    prizes: WheelPrizeDisplay.array().describe('Prizes in the order of the wheel.'),
    daily_limit: z.int().describe('Spins per day (UTC); 0 for no limit.'),
    user_spins_today: z.int().describe('Spins of the user since 00:00 UTC.'),
    can_spin: z.boolean().describe('Whether the user can spin now.'),
    can_spin_reason: z.string().nullish().describe('Machine code of the reason why not; null when the user can spin.'),
    can_pay_stars: z.boolean().default(false).describe('Whether the balance suffices for a spin at its price in Stars.'),
    can_pay_days: z.boolean().default(false).describe('Whether the subscription has enough days for a spin.'),
    user_balance_kopeks: z.int().default(0).describe('Balance of the user in kopeks.'),
    required_balance_kopeks: z.int().default(0).describe('Balance that a spin needs, kopeks.'),
    has_subscription: z.boolean().default(false).describe('Whether the user has a subscription.'),
  })
  .meta({ id: 'WheelConfigResponse' });

const SpinAvailabilityResponse = z
  .object({
    can_spin: z.boolean().describe('Whether the user can spin now.'),
    reason: z.string().nullish().describe('Machine code of the reason why not; null when the user can spin.'),
    spins_remaining_today: z.int().describe('Spins left today; 999 without a limit.'),
    can_pay_stars: z.boolean().describe('Whether the balance suffices for a spin at its price in Stars.'),
    can_pay_days: z.boolean().describe('Whether the subscription has enough days for a spin.'),
    min_subscription_days: z.int().describe('Days that must remain after a payment in days.'),
    user_subscription_days: z.int().describe('Whole days until the end of the subscription.'),
    user_balance_kopeks: z.int().default(0).describe('Balance of the user in kopeks.'),
    required_balance_kopeks: z.int().default(0).describe('Balance that a spin needs, kopeks.'),
  })
  .meta({ id: 'SpinAvailabilityResponse' });

const SpinRequest = z
  .object({
    payment_type: z
      .enum(['messenger_stars', 'subscription_days'])
      .describe('How the spin is paid: `messenger_stars` or `subscription_days`.'),
  })
  .meta({ id: 'SpinRequest' });

const SpinResultResponse = z
  .object({
    success: z.boolean().describe('Whether the spin was made. A refusal is answered with status 200 and `error`.'),
    prize_id: z.int().nullish().describe('Id of the prize; null when nothing was won.'),
    prize_type: z.string().nullish().describe('`subscription_days`, `balance_bonus`, `traffic_gb`, `promocode` or `nothing`.'),
    prize_value: z.int().default(0).describe('Size of the prize: days, kopeks or GB, by its type.'),
    prize_display_name: z.string().default('').describe('Name of the prize for display.'),
    emoji: z.string().default('🎁').describe('Emoji shown beside the name.'),
    color: z.string().default('#3B82F6').describe('Colour as `#RRGGBB`.'),
    rotation_degrees: z.number().default(0).describe('Angle at which the wheel stops, for the animation.'),
    message: z.string().default('').describe('Sentence for people that describes the outcome. Not for programs.'),
    promocode: z.string().nullish().describe('Promo code that was won; null for another prize.'),
    error: z.string().nullish().describe('Machine code of the failure; null when there was none.'),
  })
  .meta({ id: 'SpinResultResponse' });

const SpinHistoryQuery = z.object({
  page: z.int().default(1).describe('Number of the page, from 1.'),
  per_page: z.int().default(20).describe('Number of records per page.'),
});

const SpinHistoryItem = z
  .object({
    id: z.int().describe('Id of the spin.'),
    payment_type: z.string().describe('How the spin is paid: `messenger_stars` or `subscription_days`.'),
    payment_amount: z.int().describe('Price that was paid: Stars or days.'),
    prize_type: z.string().describe('`subscription_days`, `balance_bonus`, `traffic_gb`, `promocode` or `nothing`.'),
    prize_value: z.int().describe('Size of the prize: days, kopeks or GB, by its type.'),
    prize_display_name: z.string().describe('Name of the prize for display.'),
    emoji: z.string().default('🎁').describe('Emoji shown beside the name.'),
    color: z.string().default('#3B82F6').describe('Colour as `#RRGGBB`.'),
    prize_value_kopeks: z
      .int()
      .describe(
        'Value of the prize in kopeks; used to compute probabilities, and credited when the prize itself cannot be given.',
      ),
    created_at: Timestamp.describe('When the wheel was spun (UTC).'),
  })
  .meta({ id: 'SpinHistoryItem' });

const SpinHistoryResponse = z
  .object({
    items: SpinHistoryItem.array().describe('A page of own spins, newest first.'),
    total: z.int().describe('Number of own spins, on all pages.'),
    page: z.int().describe('Number of this page, from 1.'),
    per_page: z.int().describe('Page size that was applied.'),
    pages: z.int().describe('Number of pages; at least 1.'),
  })
  .meta({ id: 'SpinHistoryResponse' });

const CabinetWheelStarsInvoiceResponse = z
  .object({
    invoice_url: z.string().describe('Link of the messenger to pay the invoice in Stars.'),
    stars_amount: z.int().describe('Number of Stars of the invoice.'),
  })
  .meta({ id: 'CabinetWheelStarsInvoiceResponse' });

const tags: [string] = ['Fortune Wheel'];

function wheelConfig({ config, prizes, spinsToday, availability, hasSubscription }: WheelView) {
  return {
    ...config,
    ...availability,
    spinCostStars: config.spinCostStarsEnabled ? config.spinCostStars : null,
    spinCostDays: config.spinCostDaysEnabled ? config.spinCostDays : null,
    prizes,
    dailyLimit: config.dailySpinLimit,
    userSpinsToday: spinsToday,
    canSpin: availability.reason === null,
    canSpinReason: availability.reason,
    hasSubscription,
  };
}

/** The schema's defaults fill in the fields of a prize after a refusal. */
function spinResult(outcome: SpinOutcome) {
  if (!outcome.isSuccess) return { success: false, prizeId: null, prizeType: null, promocode: null, ...outcome };
  const { displayName: prizeDisplayName, ...won } = outcome.won;
  return { success: true, ...won, prizeDisplayName, error: null };
}

const historyItem = (spin: SpinRecord) => ({ ...spin, emoji: spin.emoji ?? undefined, color: spin.color ?? undefined });

export const wheelRouter = router({
  config: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/wheel/config', tags, summary: 'The wheel and what a spin costs' },
      description: 'Returns the prizes and what a spin costs, and whether the user can spin.',
    })
    .output(toWire(WheelConfigResponse))
    .query(async ({ ctx }) => wheelConfig(await readWheel(ctx.app, ctx.actor))),

  availability: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/wheel/availability', tags, summary: 'Whether the user can spin now' },
      description: 'Returns whether the user can spin now and how it can be paid.',
    })
    .output(toWire(SpinAvailabilityResponse))
    .query(async ({ ctx }) => {
      const { availability } = await readWheel(ctx.app, ctx.actor);
      const { reason, spinsRemaining: spinsRemainingToday } = availability;
      return { ...availability, canSpin: reason === null, spinsRemainingToday };
    }),

  spin: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/wheel/spin', tags, summary: 'Pay for a spin and spin the wheel' },
      description:
        'Charges a spin and draws a prize, which is given immediately. A refusal is answered with status 200, `success` false and `error`. If days or traffic change, the panel is updated afterwards. Accepts `Idempotency-Key`.',
      idempotent: true,
    })
    .input(fromWire(SpinRequest))
    .output(toWire(SpinResultResponse))
    .mutation(async ({ ctx, input }) => spinResult(await spinWheel(ctx.app, ctx.actor, input.paymentType, ctx.idempotencyKey))),

  history: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/wheel/history', tags, summary: 'Own spins' },
      description: 'Lists own spins, newest first.',
    })
    .input(fromWire(SpinHistoryQuery))
    .output(toWire(SpinHistoryResponse))
    .query(async ({ ctx, input }) => {
      const { items, total, page, perPage } = await readSpinHistory(ctx.app, ctx.actor, input);
      return { items: items.map(historyItem), total, page, perPage, pages: pageCount(total, perPage) };
    }),

  starsInvoice: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/wheel/stars-invoice', tags, summary: 'Link to pay a spin in Stars' },
      description:
        'Creates a link of the messenger to pay a spin in Stars. The spin is made when the messenger reports the payment.',
      refuses: [wheelInvoiceRefused],
    })
    .output(toWire(CabinetWheelStarsInvoiceResponse))
    .mutation(async ({ ctx }) => {
      const { invoiceUrl, stars } = await createSpinInvoice(ctx.app, ctx.actor);
      return { invoiceUrl, starsAmount: stars };
    }),
});
