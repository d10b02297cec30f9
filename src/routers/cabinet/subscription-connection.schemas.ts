import { z } from 'zod';
import { publishedAsFreeForm } from '../shared.schemas.ts';

/** Contract group `Cabinet Subscription`: servers, connection guide, used traffic (spec 02 sections 5.13 and 5.14). All free-form there. */

export const CountriesAnswer = publishedAsFreeForm(
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
export const CountriesRequest = z.object({
  body: publishedAsFreeForm(z.object({ countries: z.array(z.string().max(255)).max(1000).default([]) })),
});

export const CountriesChangeAnswer = publishedAsFreeForm(
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
export const AppGuideAnswer = publishedAsFreeForm(
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
export const TrafficRefreshAnswer = z.object({
  success: z.literal(true).describe('Whether the operation was carried out. False comes with a message that says why.'),
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
