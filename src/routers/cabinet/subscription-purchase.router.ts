import { buyTariff } from '../../domain/subscriptions/purchase-tariff.ts';
import { renewSubscription } from '../../domain/subscriptions/renew-subscription.ts';
import { FreeForm } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { RenewalRequest, TariffPurchaseRequest } from './subscription-purchase.schemas.ts';

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
});
