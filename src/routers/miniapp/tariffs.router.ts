import { formatPrice } from '../../core/money.ts';
import { identifyMiniappUser, invalidUser } from '../../domain/identity/authenticate.ts';
import { readMaintenanceNotice } from '../../domain/safety/maintenance.ts';
import { tariffNotOffered, tariffsModeOff } from '../../domain/subscriptions/errors.ts';
import { listMiniappTariffs } from '../../domain/subscriptions/miniapp/tariffs.ts';
import { subscriptionRestricted } from '../../domain/subscriptions/purchase/complete-sale.ts';
import { insufficientFundsRefusal, noServers } from '../../domain/subscriptions/purchase/insufficient-funds.ts';
import { quoteChanged } from '../../domain/subscriptions/purchase/signed-quote.ts';
import { periodUnavailable, purchaseTariff, tariffNotAvailable } from '../../domain/subscriptions/purchase-tariff.ts';
import { SWITCH_REFUSES } from '../../domain/subscriptions/rules/switch-order.ts';
import { previewTariffSwitch, type SwitchRequest, switchTariff } from '../../domain/subscriptions/switch-tariff.ts';
import { miniappProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { asMiniappUser, inMiniapp } from './as-miniapp-user.ts';
import { toCurrentTariff, toMiniappPromoGroup, toOfferedTariff } from './tariff-wire.ts';
import {
  MiniAppMaintenanceStatusResponse,
  MiniAppSubscriptionRequest,
  MiniAppTariffPurchaseRequest,
  MiniAppTariffPurchaseResponse,
  MiniAppTariffSwitchPreviewResponse,
  MiniAppTariffSwitchRequest,
  MiniAppTariffSwitchResponse,
  MiniAppTariffsRequest,
  MiniAppTariffsResponse,
} from './tariffs.schemas.ts';

const tags: [string] = ['miniapp'];

/** Names of the refusals of a switch in the mini-app. */
const SWITCH_NAMES = { subscription_expired: 'subscription_inactive', subscription_not_active: 'subscription_inactive' };

export const miniappTariffsRouter = router({
  maintenance: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/maintenance/status', tags, summary: 'Whether the service is under maintenance' },
      description: 'Returns whether the service is under maintenance, and why.',
      refuses: [invalidUser],
    })
    .input(MiniAppSubscriptionRequest)
    .output(MiniAppMaintenanceStatusResponse)
    // No gates, because this operation reports maintenance.
    .mutation(async ({ ctx, input }) => {
      const user = await identifyMiniappUser(ctx.app, input.initData);
      const notice = await readMaintenanceNotice(ctx.app, user.language);
      return { isActive: notice !== null, message: notice?.message ?? null, reason: notice?.reason ?? null };
    }),

  tariffs: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/subscription/tariffs', tags, summary: 'Tariffs on sale and the current one' },
      description:
        'Returns the tariffs on sale to the user with prices, costs of a switch, the own tariff and the balance. For tariffs mode.',
      refuses: inMiniapp([invalidUser, tariffsModeOff]),
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
      description:
        'Buys a tariff from the balance; an existing subscription is extended or moved to it. For tariffs mode. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: inMiniapp([
        noServers,
        periodUnavailable,
        tariffsModeOff,
        insufficientFundsRefusal,
        subscriptionRestricted,
        tariffNotAvailable,
        tariffNotOffered,
        quoteChanged,
      ]),
      idempotent: true,
    })
    .input(MiniAppTariffPurchaseRequest)
    .use(asMiniappUser())
    .output(toWire(MiniAppTariffPurchaseResponse))
    .mutation(async ({ ctx, input }) => {
      const order = { tariffId: input.tariffId, periodDays: input.periodDays, trafficGb: null };
      const once = { ...order, quote: input.quote, idempotencyKey: ctx.idempotencyKey };
      const { subscription, ...purchased } = await purchaseTariff(ctx.app, ctx.actor, once, { keepsCart: false });
      return { ...purchased, subscriptionId: subscription.id, newEndDate: subscription.endDate };
    }),

  switchPreview: miniappProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/miniapp/subscription/tariff/switch/preview',
        tags,
        summary: 'Preview the price of a switch to another tariff',
      },
      description: 'Returns what a switch to another tariff costs for the remaining days. Charges nothing.',
      refuses: inMiniapp(SWITCH_REFUSES, SWITCH_NAMES),
    })
    .input(MiniAppTariffSwitchRequest)
    .use(asMiniappUser(SWITCH_NAMES))
    .output(toWire(MiniAppTariffSwitchPreviewResponse))
    .mutation(async ({ ctx, input }) => ({
      ...(await previewTariffSwitch(ctx.app, ctx.actor, switchOrder(input.tariff_id))),
      message: null,
    })),

  switchTariff: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: '/miniapp/subscription/tariff/switch', tags, summary: 'Switch to another tariff' },
      description:
        'Switches to another tariff; the difference for the remaining days is charged, a cheaper one is free. Bought devices and traffic are lost. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: inMiniapp([...SWITCH_REFUSES, insufficientFundsRefusal, quoteChanged], SWITCH_NAMES),
      idempotent: true,
    })
    .input(MiniAppTariffSwitchRequest)
    .use(asMiniappUser(SWITCH_NAMES))
    .output(toWire(MiniAppTariffSwitchResponse))
    .mutation(async ({ ctx, input }) => {
      const order = { ...switchOrder(input.tariff_id), quote: input.quote, idempotencyKey: ctx.idempotencyKey };
      const { newTariffId: tariffId, newTariffName: tariffName, ...switched } = await switchTariff(ctx.app, ctx.actor, order);
      return { ...switched, tariffId, tariffName };
    }),
});

function switchOrder(tariffId: number): SwitchRequest {
  return { tariffId, periodDays: null, trafficGb: null };
}
