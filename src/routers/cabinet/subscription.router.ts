import { rublesOf } from '../../core/money.ts';
import { listClientDownloads, readConnectionLink } from '../../domain/subscriptions/connection-link.ts';
import {
  listRenewalOptions,
  listTrafficPackages,
  readPurchaseOptions,
  readSubscription,
  readTrialInfo,
} from '../../domain/subscriptions/read-subscription.ts';
import { setAutopay } from '../../domain/subscriptions/set-autopay.ts';
import { subscriptionData } from '../../domain/subscriptions/subscription-data.ts';
import { FreeForm } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import {
  AutopayUpdateRequest,
  AutopayUpdateResponse,
  RenewalOptionResponse,
  SubscriptionStatusResponse,
  TrafficPackageResponse,
  TrialInfoResponse,
} from './subscription.schemas.ts';

const tags: [string] = ['Cabinet Subscription'];

export const subscriptionRouter = router({
  get: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: '/cabinet/subscription', tags, summary: 'The own subscription as it holds now' } })
    .output(SubscriptionStatusResponse)
    .query(async ({ ctx }) => {
      const view = await readSubscription(ctx.app, ctx.actor);
      return { has_subscription: view !== null, subscription: view === null ? null : subscriptionData(view) };
    }),

  renewalOptions: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/subscription/renewal-options', tags, summary: 'Periods and prices of a renewal' },
    })
    .output(RenewalOptionResponse.array())
    .query(async ({ ctx }) =>
      (await listRenewalOptions(ctx.app, ctx.actor)).map((option) => ({
        period_days: option.periodDays,
        price_kopeks: option.priceKopeks,
        price_rubles: rublesOf(option.priceKopeks),
        discount_percent: option.discountPercent,
        original_price_kopeks: option.originalPriceKopeks,
      })),
    ),

  trafficPackages: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/subscription/traffic-packages', tags, summary: 'Traffic packages on offer' },
    })
    .output(TrafficPackageResponse.array())
    .query(async ({ ctx }) =>
      (await listTrafficPackages(ctx.app, ctx.actor)).map(({ gb, priceKopeks }) => ({
        gb,
        price_kopeks: priceKopeks,
        price_rubles: rublesOf(priceKopeks),
        is_unlimited: gb === 0,
      })),
    ),

  trial: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/subscription/trial',
        tags,
        summary: 'Whether a trial can be taken, and its terms',
      },
    })
    .output(TrialInfoResponse)
    .query(async ({ ctx }) => {
      const info = await readTrialInfo(ctx.app, ctx.actor);
      return {
        is_available: info.isAvailable,
        duration_days: info.durationDays,
        traffic_limit_gb: info.trafficLimitGb,
        device_limit: info.deviceLimit,
        requires_payment: info.requiresPayment,
        price_kopeks: info.priceKopeks,
        price_rubles: rublesOf(info.priceKopeks),
        reason_unavailable: info.reasonUnavailable,
      };
    }),

  purchaseOptions: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/subscription/purchase-options',
        tags,
        summary: 'What can be bought, at the price it is charged',
      },
    })
    .output(FreeForm)
    .query(({ ctx }) => readPurchaseOptions(ctx.app, ctx.actor)),

  connectionLink: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/subscription/connection-link', tags, summary: 'The links to connect with' },
    })
    .output(FreeForm)
    .query(async ({ ctx }) => {
      const link = await readConnectionLink(ctx.app, ctx.actor);
      return {
        subscription_url: link.subscriptionUrl,
        display_link: link.displayLink,
        happ_redirect_link: link.redirectLink,
        happ_scheme_link: link.schemeLink,
        connect_mode: link.connectMode,
        hide_link: link.hideLink,
        instructions: { steps: link.steps },
      };
    }),

  clientDownloads: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/subscription/happ-downloads',
        tags,
        summary: 'Where the client app is downloaded',
      },
    })
    .output(FreeForm)
    .query(({ ctx }) => {
      const platforms = listClientDownloads(ctx.app);
      return { platforms, happ_enabled: Object.keys(platforms).length > 0 };
    }),

  setAutopay: cabinetProcedure
    .meta({ openapi: { method: 'PATCH', path: '/cabinet/subscription/autopay', tags, summary: 'Switch automatic renewal' } })
    .input(AutopayUpdateRequest)
    .output(AutopayUpdateResponse)
    .mutation(async ({ ctx, input }) => {
      const saved = await setAutopay(ctx.app, ctx.actor, input.enabled, input.days_before ?? null);
      return { message: saved.message, autopay_enabled: saved.autopayEnabled, autopay_days_before: saved.autopayDaysBefore };
    }),
});
