import { appConfigNotSet, readAppGuide } from '../../domain/subscriptions/app-guide.ts';
import {
  chooseServers,
  countryUnavailable,
  noCountry,
  readServerOffer,
  subscriptionInactive,
  trialRefusal,
} from '../../domain/subscriptions/choose-servers.ts';
import { noSubscription } from '../../domain/subscriptions/errors.ts';
import { subscriptionRestricted } from '../../domain/subscriptions/purchase/complete-sale.ts';
import { insufficientFundsForServers } from '../../domain/subscriptions/purchase/insufficient-funds.ts';
import { noSubscriptionToRefresh, rateLimitedRefusal, refreshTraffic } from '../../domain/subscriptions/refresh-traffic.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import {
  AppGuideAnswer,
  CountriesAnswer,
  CountriesChangeAnswer,
  CountriesRequest,
  TrafficRefreshAnswer,
} from './subscription-connection.schemas.ts';

const tags: [string] = ['Cabinet Subscription'];
const ROOT = '/cabinet/subscription';

export const subscriptionConnectionRouter = router({
  countries: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/countries`, tags, summary: 'List servers that can be connected' },
      description:
        'Lists the servers that the user can connect, at the price that adding one is charged at now; for 30 days without a subscription. Servers that are connected but no longer offered are not listed.',
    })
    .output(toWire(CountriesAnswer))
    .query(({ ctx }) => readServerOffer(ctx.app, ctx.actor)),

  changeCountries: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/countries`, tags, summary: 'Change the connected servers' },
      description:
        'Connects and disconnects servers: `countries` is the whole new list of their UUIDs. Each added server is charged for the remaining time, removing is free. The panel is updated after the answer. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: [
        countryUnavailable,
        noCountry,
        subscriptionInactive,
        trialRefusal,
        insufficientFundsForServers,
        subscriptionRestricted,
        noSubscription,
      ],
      idempotent: true,
      wire: { wholeBodyKey: 'body' },
    })
    .input(CountriesRequest)
    .output(toWire(CountriesChangeAnswer))
    .mutation(({ ctx, input }) =>
      chooseServers(ctx.app, ctx.actor, { countries: input.body.countries, idempotencyKey: ctx.idempotencyKey }),
    ),

  appConfig: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/app-config`, tags, summary: 'Guide to connect client apps' },
      description:
        "Returns the panel's guide to connect client apps, with the own links put in: `deepLink` of each app, `resolvedUrl` of each button. The guide is cached, the links never. 404 while no guide is chosen or the panel has none.",
      refuses: [appConfigNotSet],
    })
    .output(AppGuideAnswer)
    .query(async ({ ctx }) => {
      const { cryptoLink, ...guide } = await readAppGuide(ctx.app, ctx.actor);
      return { isVpnPanel: true as const, ...guide, subscriptionCryptoLink: cryptoLink };
    }),

  refreshTraffic: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/refresh-traffic`, tags, summary: 'Read the used traffic from the panel' },
      description:
        'Reads the used traffic from the panel and stores it, once a minute. Within the minute it returns the last values, with `rate_limited`. A panel that does not answer gives the stored values, with `source` `database`.',
      refuses: [noSubscriptionToRefresh, rateLimitedRefusal],
    })
    .output(toWire(TrafficRefreshAnswer))
    .mutation(async ({ ctx }) => ({ success: true as const, ...(await refreshTraffic(ctx.app, ctx.actor)) })),
});
