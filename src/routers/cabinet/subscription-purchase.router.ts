import { activateTrial, TRIAL_REFUSES } from '../../domain/subscriptions/activate-trial.ts';
import { notDailyTariff, togglePause } from '../../domain/subscriptions/daily.ts';
import { dailyPriceInvalid, noSubscription, noTariff, tariffNotOffered } from '../../domain/subscriptions/errors.ts';
import {
  insufficientFundsForDay,
  insufficientFundsForTrial,
  insufficientFundsRefusal,
  insufficientFundsWithCart,
  noServers,
} from '../../domain/subscriptions/purchase/insufficient-funds.ts';
import { quoteChanged } from '../../domain/subscriptions/purchase/signed-quote.ts';
import { classicModeDisabled, previewClassic, purchaseClassic } from '../../domain/subscriptions/purchase-classic.ts';
import { periodUnavailable, purchaseTariff } from '../../domain/subscriptions/purchase-tariff.ts';
import { renewSubscription } from '../../domain/subscriptions/renew-subscription.ts';
import { SELECTION_REFUSALS } from '../../domain/subscriptions/rules/classic-selection.ts';
import { SWITCH_REFUSES } from '../../domain/subscriptions/rules/switch-order.ts';
import { previewTariffSwitch, switchTariff } from '../../domain/subscriptions/switch-tariff.ts';
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
      description:
        'Renews the own subscription from the balance. If the balance does not suffice, the order is saved until a top-up (402). A trial becomes paid. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: [insufficientFundsWithCart, noSubscription, quoteChanged],
      idempotent: true,
    })
    .input(fromWire(RenewalRequest))
    .output(toWire(RenewalResponse))
    .mutation(({ ctx, input }) => renewSubscription(ctx.app, ctx.actor, { ...input, idempotencyKey: ctx.idempotencyKey })),

  purchaseTariff: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/purchase-tariff', tags, summary: 'Buy a tariff from the balance' },
      description:
        'Buys a tariff from the balance; an existing subscription is extended or moved to it. If the balance does not suffice, the order is saved until a top-up (402). For tariffs mode. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: [noServers, periodUnavailable, insufficientFundsWithCart, tariffNotOffered, quoteChanged],
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
      description:
        'Returns what a selection of period, traffic, servers and devices costs, part by part. For classic mode. Charges nothing.',
      refuses: [classicModeDisabled, ...SELECTION_REFUSALS],
    })
    .input(fromWire(PurchasePreviewRequest))
    .output(toWire(ClassicPreviewResponse))
    .mutation(({ ctx, input }) => previewClassic(ctx.app, ctx.actor, selectionOf(input.selection))),

  purchaseClassic: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/purchase', tags, summary: 'Buy a selection from the balance' },
      description:
        'Buys a selection of period, traffic, servers and devices from the balance. If the balance does not suffice, the order is saved until a top-up (402). For classic mode. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: [classicModeDisabled, ...SELECTION_REFUSALS, quoteChanged],
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
      description:
        'Starts the trial of the user, once per account. A price, if there is one, is charged to the balance. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: [...TRIAL_REFUSES, insufficientFundsForTrial],
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
      description:
        'Pauses a daily subscription, or resumes it. Resuming a stopped subscription charges a day immediately; otherwise nothing is charged. Accepts `Idempotency-Key`.',
      refuses: [noTariff, notDailyTariff, noSubscription, dailyPriceInvalid, insufficientFundsForDay],
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
      description: 'Returns what a switch to another tariff costs for the remaining days. Charges nothing.',
      refuses: SWITCH_REFUSES,
    })
    .input(fromWire(TariffPurchaseRequest))
    .output(toWire(TariffSwitchPreviewResponse))
    // A mutation for its method only; nothing is written.
    .mutation(({ ctx, input }) => previewTariffSwitch(ctx.app, ctx.actor, { ...input, trafficGb: input.trafficGb ?? null })),

  switchTariff: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/subscription/tariff/switch', tags, summary: 'Switch to another tariff' },
      description:
        'Switches to another tariff; the difference for the remaining days is charged, a cheaper one is free. Bought devices and traffic are lost, and connected devices are removed in the panel. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: [...SWITCH_REFUSES, noServers, insufficientFundsRefusal, quoteChanged],
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
