import { pageCount } from '../../core/paging.ts';
import { spinWheel } from '../../domain/engagement/wheel/spin-wheel.ts';
import { createSpinInvoice, wheelInvoiceRefused } from '../../domain/engagement/wheel/stars-spin.ts';
import type { SpinOutcome, SpinRecord } from '../../domain/engagement/wheel/types.ts';
import { readSpinHistory, readWheel, type WheelView } from '../../domain/engagement/wheel/wheel.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
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
