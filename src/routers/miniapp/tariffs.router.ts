import { formatPrice } from '../../core/money.ts';
import { identifyMiniappUser } from '../../domain/identity/authenticate-miniapp.ts';
import { readMaintenanceNotice } from '../../domain/safety/maintenance.ts';
import { listMiniappTariffs } from '../../domain/subscriptions/miniapp/list-tariffs.ts';
import { buyTariff } from '../../domain/subscriptions/purchase-tariff.ts';
import { previewTariffSwitch, type SwitchOrder, switchToTariff } from '../../domain/subscriptions/switch-tariff.ts';
import { FreeForm } from '../shared.schemas.ts';
import { miniappProcedure, router } from '../trpc.ts';
import { asMiniappUser } from './as-miniapp-user.ts';
import { toCurrentTariff, toMiniappPromoGroup, toOfferedTariff } from './tariff-wire.ts';
import {
  MiniAppMaintenanceStatusResponse,
  MiniAppSubscriptionRequest,
  MiniAppTariffPurchaseRequest,
  MiniAppTariffPurchaseResponse,
  MiniAppTariffSwitchRequest,
  MiniAppTariffsRequest,
  MiniAppTariffsResponse,
} from './tariffs.schemas.ts';

const tags: [string] = ['miniapp'];

/** What the mini-app calls the refusals of a switch (spec 02 section 12.2). */
const SWITCH_NAMES = { subscription_expired: 'subscription_inactive', subscription_not_active: 'subscription_inactive' };

export const miniappTariffsRouter = router({
  maintenance: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/maintenance/status', tags, summary: 'Whether the service is under maintenance' },
    })
    .input(MiniAppSubscriptionRequest)
    .output(MiniAppMaintenanceStatusResponse)
    // No gates: maintenance is exactly what callers ask about here.
    .mutation(async ({ ctx, input }) => {
      const user = await identifyMiniappUser(ctx.app, input.initData);
      const notice = await readMaintenanceNotice(ctx.app, user.language);
      return { isActive: notice !== null, message: notice?.message ?? null, reason: notice?.reason ?? null };
    }),

  tariffs: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/subscription/tariffs', tags, summary: 'Tariffs on offer and the held one' },
    })
    .input(MiniAppTariffsRequest)
    .use(asMiniappUser())
    .output(MiniAppTariffsResponse)
    .mutation(async ({ ctx }) => {
      const { buyer, tariffs, current } = await listMiniappTariffs(ctx.app, ctx.actor);
      const wording = { language: buyer.language, rounds: ctx.app.settings.get('PRICE_ROUNDING_ENABLED') };
      return {
        success: true,
        sales_mode: 'tariffs',
        tariffs: tariffs.map((offer) => toOfferedTariff(offer, wording)),
        current_tariff: current && toCurrentTariff(current, wording),
        balance_kopeks: buyer.balanceKopeks,
        balance_label: formatPrice(buyer.balanceKopeks, wording.rounds),
        promo_group: buyer.primaryPromoGroup && toMiniappPromoGroup(buyer.primaryPromoGroup),
      };
    }),

  purchaseTariff: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/subscription/tariff/purchase', tags, summary: 'Buy a tariff from the balance' },
      idempotent: true,
    })
    .input(MiniAppTariffPurchaseRequest)
    .use(asMiniappUser())
    .output(MiniAppTariffPurchaseResponse)
    .mutation(async ({ ctx, input }) => {
      const order = { tariffId: input.tariffId, periodDays: input.periodDays, trafficGb: null };
      const once = { ...order, idempotencyKey: ctx.idempotencyKey };
      return toPurchaseAnswer(await buyTariff(ctx.app, ctx.actor, once, { keepsCart: false }));
    }),

  switchPreview: miniappProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/miniapp/subscription/tariff/switch/preview',
        tags,
        summary: 'What a switch to another tariff costs',
      },
    })
    .input(MiniAppTariffSwitchRequest)
    .use(asMiniappUser(SWITCH_NAMES))
    .output(FreeForm)
    .mutation(async ({ ctx, input }) => ({
      ...(await previewTariffSwitch(ctx.app, ctx.actor, switchOrder(input.tariff_id))),
      message: null,
    })),

  switchTariff: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/subscription/tariff/switch', tags, summary: 'Switch to another tariff' },
      idempotent: true,
    })
    .input(MiniAppTariffSwitchRequest)
    .use(asMiniappUser(SWITCH_NAMES))
    .output(FreeForm)
    .mutation(async ({ ctx, input }) => {
      const order = { ...switchOrder(input.tariff_id), idempotencyKey: ctx.idempotencyKey };
      const done = await switchToTariff(ctx.app, ctx.actor, order);
      return {
        success: true,
        message: done.message,
        tariff_id: done.new_tariff_id,
        tariff_name: done.new_tariff_name,
        charged_kopeks: done.charged_kopeks,
        balance_kopeks: done.balance_kopeks,
        balance_label: done.balance_label,
      };
    }),
});

/** The use case keeps the cabinet's answer for repeats by key; the mini-app tells a part of it. */
function toPurchaseAnswer(bought: Awaited<ReturnType<typeof buyTariff>>) {
  const subscription = bought.subscription as { id: number; end_date: string };
  return {
    success: true,
    message: String(bought.message),
    subscription_id: subscription.id,
    tariff_id: Number(bought.tariff_id),
    tariff_name: String(bought.tariff_name),
    new_end_date: new Date(subscription.end_date),
    balance_kopeks: Number(bought.balance_kopeks),
    balance_label: String(bought.balance_label),
  };
}

function switchOrder(tariffId: number): SwitchOrder {
  return { tariffId, periodDays: null, trafficGb: null };
}
