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
    .meta({ openapi: { method: 'GET', path: '/cabinet/subscription', tags, summary: 'The own subscription as it is now' } })
    .output(toWire(SubscriptionStatusResponse))
    .query(async ({ ctx }) => {
      const subscription = await readSubscription(ctx.app, ctx.actor);
      return { hasSubscription: subscription !== null, subscription };
    }),

  renewalOptions: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/subscription/renewal-options', tags, summary: 'Periods and prices of a renewal' },
    })
    .output(toWire(RenewalOptionResponse.array()))
    .query(async ({ ctx }) => (await listRenewalOptions(ctx.app, ctx.actor)).map(withPriceRubles)),

  trafficPackages: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/subscription/traffic-packages', tags, summary: 'List traffic packages on sale' },
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
    })
    .output(toWire(PurchaseOptionsAnswer))
    .query(async ({ ctx }) => purchaseOptionsAnswer(await readPurchaseOptions(ctx.app, ctx.actor))),

  connectionLink: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: '/cabinet/subscription/connection-link', tags, summary: 'Connection links' },
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
    })
    .output(toWire(ClientDownloadsAnswer))
    .query(({ ctx }) => {
      const platforms = listClientDownloads(ctx.app);
      return { platforms, happEnabled: Object.keys(platforms).length > 0 };
    }),

  setAutopay: cabinetProcedure
    .meta({
      openapi: { method: 'PATCH', path: '/cabinet/subscription/autopay', tags, summary: 'Enable or disable automatic renewal' },
    })
    .input(fromWire(AutopayUpdateRequest))
    .output(toWire(AutopayUpdateResponse))
    .mutation(({ ctx, input }) => setAutopay(ctx.app, ctx.actor, input.enabled, input.daysBefore ?? null)),
});

function withPriceRubles<T extends { priceKopeks: number }>(offer: T): T & { priceRubles: number } {
  return { ...offer, priceRubles: rublesOf(offer.priceKopeks) };
}
