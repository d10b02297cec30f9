import type { z } from 'zod';
import { activateTrial, cabinetShortage } from '../../domain/subscriptions/activate-trial.ts';
import { buyClassic, previewClassic } from '../../domain/subscriptions/purchase-classic.ts';
import { buyTariff } from '../../domain/subscriptions/purchase-tariff.ts';
import { renewSubscription } from '../../domain/subscriptions/renew-subscription.ts';
import type { ClassicSelection } from '../../domain/subscriptions/rules/classic-selection.ts';
import { revivedSubscription } from '../../domain/subscriptions/subscription-data.ts';
import { previewTariffSwitch, type SwitchOrder, switchToTariff } from '../../domain/subscriptions/switch-tariff.ts';
import { togglePause } from '../../domain/subscriptions/toggle-pause.ts';
import { FreeForm } from '../shared.schemas.ts';
import { PauseAnswer } from '../subscription-answers.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { SubscriptionData } from './subscription.schemas.ts';
import {
  PurchasePreviewRequest,
  type PurchaseSelectionRequest,
  RenewalRequest,
  TariffPurchaseRequest,
} from './subscription-purchase.schemas.ts';

const tags: [string] = ['Cabinet Subscription'];

export const subscriptionPurchaseRouter = router({
  renew: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/renew', tags, summary: 'Renew from the balance' },
      idempotent: true,
    })
    .input(RenewalRequest)
    .output(FreeForm)
    .mutation(({ ctx, input }) =>
      renewSubscription(ctx.app, ctx.actor, { periodDays: input.period_days, idempotencyKey: ctx.idempotencyKey }),
    ),

  purchaseTariff: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/purchase-tariff', tags, summary: 'Buy a tariff from the balance' },
      idempotent: true,
    })
    .input(TariffPurchaseRequest)
    .output(FreeForm)
    .mutation(({ ctx, input }) =>
      buyTariff(ctx.app, ctx.actor, {
        tariffId: input.tariff_id,
        periodDays: input.period_days,
        trafficGb: input.traffic_gb ?? null,
        idempotencyKey: ctx.idempotencyKey,
      }),
    ),

  classicPreview: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/purchase-preview', tags, summary: 'What a selection costs' },
    })
    .input(PurchasePreviewRequest)
    .output(FreeForm)
    .mutation(({ ctx, input }) => previewClassic(ctx.app, ctx.actor, selectionOf(input.selection))),

  purchaseClassic: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/purchase', tags, summary: 'Buy a selection from the balance' },
      idempotent: true,
    })
    .input(PurchasePreviewRequest)
    .output(FreeForm)
    .mutation(async ({ ctx, input }) => {
      const order = { selection: selectionOf(input.selection), idempotencyKey: ctx.idempotencyKey };
      const { balance_kopeks, ...bought } = await buyClassic(ctx.app, ctx.actor, order);
      return bought;
    }),

  activateTrial: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/trial', tags, summary: 'Start the trial' },
      idempotent: true,
    })
    .output(SubscriptionData)
    .mutation(async ({ ctx }) => {
      const started = await activateTrial(ctx.app, ctx.actor, ctx.idempotencyKey, cabinetShortage);
      return revivedSubscription(started.subscription);
    }),

  pause: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/pause', tags, summary: 'Pause or resume a daily subscription' },
      idempotent: true,
    })
    .output(toWire(PauseAnswer))
    .mutation(async ({ ctx }) => ({ success: true, ...(await togglePause(ctx.app, ctx.actor, ctx.idempotencyKey)) })),

  switchPreview: cabinetProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/subscription/tariff/switch/preview',
        tags,
        summary: 'What a switch to another tariff costs',
      },
    })
    .input(TariffPurchaseRequest)
    .output(FreeForm)
    // A mutation for its method only; nothing is written.
    .mutation(({ ctx, input }) => previewTariffSwitch(ctx.app, ctx.actor, switchOrder(input))),

  switchTariff: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/tariff/switch', tags, summary: 'Switch to another tariff' },
      idempotent: true,
    })
    .input(TariffPurchaseRequest)
    .output(FreeForm)
    .mutation(({ ctx, input }) =>
      switchToTariff(ctx.app, ctx.actor, { ...switchOrder(input), idempotencyKey: ctx.idempotencyKey }),
    ),
});

function switchOrder(input: z.output<typeof TariffPurchaseRequest>): SwitchOrder {
  return { tariffId: input.tariff_id, periodDays: input.period_days, trafficGb: input.traffic_gb ?? null };
}

function selectionOf(input: z.output<typeof PurchaseSelectionRequest>): ClassicSelection {
  return {
    periodId: input.period_id ?? null,
    periodDays: input.period_days ?? null,
    trafficGb: input.traffic_value ?? null,
    squadUuids: input.servers ?? [],
    devices: input.devices ?? null,
  };
}
