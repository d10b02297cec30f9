import { rublesOf } from '../../core/money.ts';
import { noSubscription } from '../../domain/subscriptions/errors.ts';
import {
  linkNotGenerated,
  listClientDownloads,
  listRenewalOptions,
  listTrafficPackages,
  readConnectionLink,
  readPurchaseOptions,
  readSubscription,
  readTrialInfo,
} from '../../domain/subscriptions/read-subscription.ts';
import { autopayNotForDaily, setAutopay } from '../../domain/subscriptions/set-autopay.ts';
import { PurchaseOptionsAnswer, purchaseOptionsAnswer } from '../purchase-options-wire.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import {
  AutopayUpdateRequest,
  AutopayUpdateResponse,
  ClientDownloadsAnswer,
  ConnectionLinkAnswer,
  RenewalOptionResponse,
  SubscriptionStatusResponse,
  TrafficPackageResponse,
  TrialInfoResponse,
} from './subscription.schemas.ts';

const tags: [string] = ['Cabinet Subscription'];

export const subscriptionRouter = router({
  get: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/subscription', tags, summary: 'The own subscription as it is now' },
      description: 'Returns the own subscription as it is now, or `has_subscription` false.',
    })
    .output(toWire(SubscriptionStatusResponse))
    .query(async ({ ctx }) => {
      const subscription = await readSubscription(ctx.app, ctx.actor);
      return { hasSubscription: subscription !== null, subscription };
    }),

  renewalOptions: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/subscription/renewal-options', tags, summary: 'Periods and prices of a renewal' },
      description: 'Lists periods and prices of a renewal, with all discounts of the user, as they would be charged now.',
    })
    .output(toWire(RenewalOptionResponse.array()))
    .query(async ({ ctx }) => (await listRenewalOptions(ctx.app, ctx.actor)).map(withPriceRubles)),

  trafficPackages: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/subscription/traffic-packages', tags, summary: 'List traffic packages on sale' },
      description: 'Lists the traffic packages that can be bought for the own subscription; empty if none can be bought.',
    })
    .output(toWire(TrafficPackageResponse.array()))
    .query(async ({ ctx }) =>
      (await listTrafficPackages(ctx.app, ctx.actor)).map((offer) => ({
        ...withPriceRubles(offer),
        isUnlimited: offer.gb === 0,
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
      description: 'Returns whether the user can start a trial, and its length, limits and price.',
    })
    .output(toWire(TrialInfoResponse))
    .query(async ({ ctx }) => withPriceRubles(await readTrialInfo(ctx.app, ctx.actor))),

  purchaseOptions: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/subscription/purchase-options',
        tags,
        summary: 'List what can be purchased, with the charged prices',
      },
      description:
        'Returns what can be bought, at the prices that would be charged: tariffs, or periods, traffic, servers and devices in classic mode.',
    })
    .output(toWire(PurchaseOptionsAnswer))
    .query(async ({ ctx }) => purchaseOptionsAnswer(await readPurchaseOptions(ctx.app, ctx.actor))),

  connectionLink: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/subscription/connection-link', tags, summary: 'Connection links' },
      description: 'Returns the links that client apps connect with, and short instructions.',
      refuses: [linkNotGenerated, noSubscription],
    })
    .output(toWire(ConnectionLinkAnswer))
    .query(async ({ ctx }) => {
      const { steps, redirectLink, schemeLink, ...link } = await readConnectionLink(ctx.app, ctx.actor);
      return { ...link, happRedirectLink: redirectLink, happSchemeLink: schemeLink, instructions: { steps } };
    }),

  clientDownloads: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/subscription/happ-downloads',
        tags,
        summary: 'Links to download the client app',
      },
      description: 'Returns the addresses where the Happ app is downloaded, by platform.',
    })
    .output(toWire(ClientDownloadsAnswer))
    .query(({ ctx }) => {
      const platforms = listClientDownloads(ctx.app);
      return { platforms, happEnabled: Object.keys(platforms).length > 0 };
    }),

  setAutopay: cabinetProcedure
    .meta({
      openapi: { method: 'PATCH', path: '/cabinet/subscription/autopay', tags, summary: 'Enable or disable automatic renewal' },
      description:
        'Switches automatic renewal from the balance and sets how many days before the end it starts. Daily subscriptions have none.',
      refuses: [autopayNotForDaily, noSubscription],
    })
    .input(fromWire(AutopayUpdateRequest))
    .output(toWire(AutopayUpdateResponse))
    .mutation(({ ctx, input }) => setAutopay(ctx.app, ctx.actor, input.enabled, input.daysBefore ?? null)),
});

function withPriceRubles<T extends { priceKopeks: number }>(offer: T): T & { priceRubles: number } {
  return { ...offer, priceRubles: rublesOf(offer.priceKopeks) };
}
