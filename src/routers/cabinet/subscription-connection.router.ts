import { z } from 'zod';
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
import { publishedAsFreeForm } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';

/** Contract group `Cabinet Subscription`: servers, connection guide, used traffic. All free-form there. */

const CountriesAnswer = publishedAsFreeForm(
  z.object({
    countries: z.array(
      z.object({
        uuid: z.string(),
        name: z.string(),
        country_code: z.string().nullable(),
        base_price_kopeks: z.int(),
        price_kopeks: z.int(),
        price_per_month_kopeks: z.int(),
        price_rubles: z.number(),
        is_available: z.boolean(),
        is_connected: z.boolean(),
        has_discount: z.boolean(),
        discount_percent: z.int(),
      }),
    ),
    connected_count: z.int(),
    has_subscription: z.boolean(),
    days_left: z.int(),
    discount_percent: z.int(),
  }),
);

/** The body is checked although the contract leaves it free (spec 02 H26). */
const CountriesRequest = z.object({
  body: publishedAsFreeForm(z.object({ countries: z.array(z.string().max(255)).max(1000).default([]) })),
});

const CountriesChangeAnswer = publishedAsFreeForm(
  z.object({
    message: z.string(),
    added: z.array(z.string()).optional(),
    removed: z.array(z.string()).optional(),
    amount_paid_kopeks: z.int().optional(),
    connected_squads: z.array(z.string()),
  }),
);

const anything = z.record(z.string(), z.unknown());

/** Its names are the panel's, in camelCase. */
const AppGuideAnswer = publishedAsFreeForm(
  z.object({
    isVpnPanel: z.literal(true),
    platforms: anything,
    svgLibrary: anything,
    baseTranslations: anything.nullable(),
    baseSettings: anything.nullable(),
    uiConfig: anything,
    platformNames: anything,
    hasSubscription: z.boolean(),
    subscriptionUrl: z.string().nullable(),
    subscriptionCryptoLink: z.string().nullable(),
    hideLink: z.boolean(),
    branding: anything,
  }),
);

/** Untyped in the contract. */
const TrafficRefreshAnswer = z.object({
  success: z.literal(true).describe('Always true: a refusal is answered with an error status.'),
  cached: z.boolean().describe('Whether these are the values of the last call.'),
  rate_limited: z.literal(true).optional().describe('True when the panel was not asked, because it was within the last minute.'),
  retry_after_seconds: z.int().optional().describe('Seconds until the panel is asked again.'),
  source: z.enum(['vpnpanel', 'database']).optional().describe('Where it came from.'),
  traffic_used_bytes: z.number().describe('Used traffic in bytes.'),
  traffic_used_gb: z.number().describe('Traffic used since the last reset in GB, as the panel reports it.'),
  traffic_limit_bytes: z.number().describe('Traffic limit in bytes; 0 = unlimited.'),
  traffic_limit_gb: z.int().describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
  traffic_used_percent: z.number().describe('Used traffic in percent of the limit, at most 100, one decimal; 0 when unlimited.'),
  is_unlimited: z.boolean().describe('Whether the package removes the limit.'),
  lifetime_used_bytes: z
    .number()
    .optional()
    .describe('Traffic in bytes since the user was created in the panel; absent when it did not answer.'),
  lifetime_used_gb: z.number().optional().describe('The same in GB.'),
});

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
