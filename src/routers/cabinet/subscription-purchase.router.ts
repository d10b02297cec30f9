import { activateTrial } from '../../domain/subscriptions/activate-trial.ts';
import { insufficientFundsForTrial } from '../../domain/subscriptions/purchase/insufficient-funds.ts';
import { previewClassic, purchaseClassic } from '../../domain/subscriptions/purchase-classic.ts';
import { purchaseTariff } from '../../domain/subscriptions/purchase-tariff.ts';
import { renewSubscription } from '../../domain/subscriptions/renew-subscription.ts';
import { previewTariffSwitch, switchTariff } from '../../domain/subscriptions/switch-tariff.ts';
import { togglePause } from '../../domain/subscriptions/toggle-pause.ts';
import { PauseAnswer } from '../subscription-answers.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import { SubscriptionData } from './subscription.schemas.ts';
import {
  ClassicPreviewResponse,
  ClassicPurchaseResponse,
  PurchasePreviewRequest,
  RenewalRequest,
  RenewalResponse,
  TariffPurchaseRequest,
  TariffPurchaseResponse,
  TariffSwitchPreviewResponse,
  TariffSwitchResponse,
} from './subscription-purchase.schemas.ts';

const tags: [string] = ['Cabinet Subscription'];

export const subscriptionPurchaseRouter = router({
  renew: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/renew', tags, summary: 'Renew from the balance' },
      idempotent: true,
    })
    .input(fromWire(RenewalRequest))
    .output(toWire(RenewalResponse))
    .mutation(({ ctx, input }) => renewSubscription(ctx.app, ctx.actor, { ...input, idempotencyKey: ctx.idempotencyKey })),

  purchaseTariff: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/purchase-tariff', tags, summary: 'Buy a tariff from the balance' },
      idempotent: true,
    })
    .input(fromWire(TariffPurchaseRequest))
    .output(toWire(TariffPurchaseResponse))
    .mutation(({ ctx, input }) => {
      const order = { ...input, trafficGb: input.trafficGb ?? null };
      return purchaseTariff(ctx.app, ctx.actor, { ...order, idempotencyKey: ctx.idempotencyKey });
    }),

  classicPreview: cabinetProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/subscription/purchase-preview',
        tags,
        summary: 'Calculate the price of a selection',
      },
    })
    .input(fromWire(PurchasePreviewRequest))
    .output(toWire(ClassicPreviewResponse))
    .mutation(({ ctx, input }) => previewClassic(ctx.app, ctx.actor, selectionOf(input.selection))),

  purchaseClassic: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/purchase', tags, summary: 'Buy a selection from the balance' },
      idempotent: true,
    })
    .input(fromWire(PurchasePreviewRequest))
    .output(toWire(ClassicPurchaseResponse))
    .mutation(({ ctx, input }) => {
      const { selection, quote } = input;
      const order = { selection: selectionOf(selection), quote: quote ?? null, idempotencyKey: ctx.idempotencyKey };
      return purchaseClassic(ctx.app, ctx.actor, order);
    }),

  activateTrial: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/trial', tags, summary: 'Start the trial' },
      idempotent: true,
    })
    .output(toWire(SubscriptionData))
    .mutation(async ({ ctx }) => {
      const { subscription } = await activateTrial(ctx.app, ctx.actor, ctx.idempotencyKey, insufficientFundsForTrial);
      return subscription;
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
        summary: 'Preview the price of a switch to another tariff',
      },
    })
    .input(fromWire(TariffPurchaseRequest))
    .output(toWire(TariffSwitchPreviewResponse))
    // A mutation for its method only; nothing is written.
    .mutation(({ ctx, input }) => previewTariffSwitch(ctx.app, ctx.actor, { ...input, trafficGb: input.trafficGb ?? null })),

  switchTariff: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/tariff/switch', tags, summary: 'Switch to another tariff' },
      idempotent: true,
    })
    .input(fromWire(TariffPurchaseRequest))
    .output(toWire(TariffSwitchResponse))
    .mutation(({ ctx, input }) => {
      const order = { ...input, trafficGb: input.trafficGb ?? null };
      return switchTariff(ctx.app, ctx.actor, { ...order, idempotencyKey: ctx.idempotencyKey });
    }),
});

function selectionOf(given: {
  periodId?: string | null;
  periodDays?: number | null;
  trafficValue?: number | null;
  servers: string[] | null;
  devices?: number | null;
}) {
  return {
    periodId: given.periodId ?? null,
    periodDays: given.periodDays ?? null,
    trafficGb: given.trafficValue ?? null,
    squadUuids: given.servers ?? [],
    devices: given.devices ?? null,
  };
}
