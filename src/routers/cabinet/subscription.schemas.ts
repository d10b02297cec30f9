import { z } from 'zod';
import { Moment, publishedAsFreeForm, SignedQuote } from '../shared.schemas.ts';

/** Contract group `Cabinet Subscription`: reading and autopay (spec 02 sections 5.1, 5.6, 5.8, 5.14). */

export const ServerInfo = z
  .object({ uuid: z.string(), name: z.string(), country_code: z.string().nullish() })
  .meta({ id: 'ServerInfo' });

export const TrafficPurchaseInfo = z
  .object({
    id: z.int(),
    traffic_gb: z.int(),
    expires_at: Moment,
    created_at: Moment,
    days_remaining: z.int(),
    progress_percent: z.number(),
  })
  .meta({ id: 'TrafficPurchaseInfo' });

export const SubscriptionData = z
  .object({
    id: z.int(),
    status: z.string(),
    is_trial: z.boolean(),
    start_date: Moment,
    end_date: Moment,
    days_left: z.int(),
    hours_left: z.int().default(0),
    minutes_left: z.int().default(0),
    time_left_display: z.string().default(''),
    traffic_limit_gb: z.int(),
    traffic_used_gb: z.number(),
    traffic_used_percent: z.number(),
    device_limit: z.int(),
    connected_squads: z.array(z.string()).default([]),
    servers: z.array(ServerInfo).default([]),
    autopay_enabled: z.boolean(),
    autopay_days_before: z.int(),
    subscription_url: z.string().nullish(),
    hide_subscription_link: z.boolean().default(false),
    is_active: z.boolean(),
    is_expired: z.boolean(),
    is_limited: z.boolean().default(false),
    traffic_purchases: z.array(TrafficPurchaseInfo).default([]),
    is_daily: z.boolean().default(false),
    is_daily_paused: z.boolean().default(false),
    daily_price_kopeks: z.int().nullish(),
    next_daily_charge_at: Moment.nullish(),
    tariff_id: z.int().nullish(),
    tariff_name: z.string().nullish(),
    traffic_reset_mode: z.string().nullish(),
  })
  .meta({ id: 'SubscriptionData' });

export const SubscriptionStatusResponse = z
  .object({ has_subscription: z.boolean(), subscription: SubscriptionData.nullish() })
  .meta({ id: 'SubscriptionStatusResponse' });

export const RenewalOptionResponse = z
  .object({
    period_days: z.int(),
    price_kopeks: z.int(),
    price_rubles: z.number(),
    discount_percent: z.int().default(0),
    original_price_kopeks: z.int().nullish(),
    quote: SignedQuote,
  })
  .meta({ id: 'RenewalOptionResponse' });

export const TrafficPackageResponse = z
  .object({
    gb: z.int(),
    price_kopeks: z.int(),
    price_rubles: z.number(),
    is_unlimited: z.boolean().default(false),
    quote: SignedQuote.nullable().describe(
      'Signed price of the package for the rest of the time, valid 10 minutes; null while it cannot be bought.',
    ),
  })
  .meta({ id: 'TrafficPackageResponse' });

export const TrialInfoResponse = z
  .object({
    is_available: z.boolean(),
    duration_days: z.int(),
    traffic_limit_gb: z.int(),
    device_limit: z.int(),
    requires_payment: z.boolean().default(false),
    price_kopeks: z.int().default(0),
    price_rubles: z.number().default(0),
    reason_unavailable: z.string().nullish(),
  })
  .meta({ id: 'TrialInfoResponse' });

export const AutopayUpdateRequest = z
  .object({ enabled: z.boolean(), days_before: z.int().min(1).max(30).nullish() })
  .meta({ id: 'AutopayUpdateRequest' });

/** Free-form in the contract, as is the next (spec 02 section 5.14). */
export const ConnectionLinkAnswer = publishedAsFreeForm(
  z.object({
    subscription_url: z.string().nullable(),
    display_link: z.string().nullable(),
    happ_redirect_link: z.string().nullable(),
    happ_scheme_link: z.string().nullable(),
    connect_mode: z.string(),
    hide_link: z.boolean(),
    instructions: z.object({ steps: z.array(z.string()) }),
  }),
);

const ClientDownload = z.object({ name: z.string(), icon: z.string(), link: z.string() }).optional();

export const ClientDownloadsAnswer = publishedAsFreeForm(
  z.object({
    platforms: z.object({ ios: ClientDownload, android: ClientDownload, macos: ClientDownload, windows: ClientDownload }),
    happ_enabled: z.boolean(),
  }),
);

/** Untyped in the contract (spec 02 section 5.6). */
export const AutopayUpdateResponse = z.object({
  message: z.string(),
  autopay_enabled: z.boolean(),
  autopay_days_before: z.int(),
});
