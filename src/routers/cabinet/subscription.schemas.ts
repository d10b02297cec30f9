import { z } from 'zod';
import { publishedAsFreeForm, SignedQuote, Timestamp } from '../shared.schemas.ts';

/** Contract group `Cabinet Subscription`: reading and autopay. */

const ServerInfo = z
  .object({
    uuid: z.string().describe('UUID in the panel.'),
    name: z.string().describe('Name of the server, shown to users.'),
    country_code: z.string().nullish().describe('Country code of two letters; null or empty for none.'),
  })
  .meta({ id: 'ServerInfo' });

const TrafficPurchaseInfo = z
  .object({
    id: z.int().describe('Id of the purchase of traffic.'),
    traffic_gb: z.int().describe('Traffic in GB.'),
    expires_at: Timestamp.describe('When the purchased traffic expires (UTC): 30 days after the purchase.'),
    created_at: Timestamp.describe('When the traffic was bought (UTC).'),
    days_remaining: z.int().describe('Whole days until the purchased traffic expires.'),
    progress_percent: z.number().describe('Elapsed share of the 30 days in percent, one decimal.'),
  })
  .meta({ id: 'TrafficPurchaseInfo' });

export const SubscriptionData = z
  .object({
    id: z.int().describe('Id of the subscription.'),
    status: z
      .string()
      .describe(
        'Effective status of the subscription: the stored one, but `expired` also where the end has passed and the stored status is still active.',
      ),
    is_trial: z.boolean().describe('Whether the subscription is a trial.'),
    start_date: Timestamp.describe('Start of the subscription (UTC).'),
    end_date: Timestamp.describe('End of the subscription (UTC).'),
    days_left: z.int().describe('Whole days until the end; 0 when it has passed.'),
    hours_left: z.int().default(0).describe('Hours until the end beyond the whole days.'),
    minutes_left: z.int().default(0).describe('Minutes until the end beyond the whole hours.'),
    time_left_display: z.string().default('').describe('Time until the end for display, for example `12d 5h`.'),
    traffic_limit_gb: z.int().describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
    traffic_used_gb: z.number().describe('Traffic used since the last reset in GB, as the panel reports it.'),
    traffic_used_percent: z
      .number()
      .describe('Used traffic in percent of the limit, at most 100, one decimal; 0 when unlimited.'),
    device_limit: z.int().describe('Number of devices that may be connected.'),
    connected_squads: z
      .array(z.string())
      .default([])
      .describe('UUIDs of the servers (internal squads of the panel) of the subscription.'),
    servers: z.array(ServerInfo).default([]).describe('Servers.'),
    autopay_enabled: z.boolean().describe('Whether the subscription is renewed automatically from the balance.'),
    autopay_days_before: z.int().describe('Days before the end at which automatic renewal starts.'),
    subscription_url: z
      .string()
      .nullish()
      .describe('Link that client apps load the configuration from; null while the panel has not created it.'),
    hide_subscription_link: z.boolean().default(false).describe('Whether the front end should hide the link.'),
    is_active: z
      .boolean()
      .describe('Whether the subscription gives access now: status `active` or `trial` and an end in the future.'),
    is_expired: z.boolean().describe('Whether the end has passed.'),
    is_limited: z.boolean().default(false).describe('Whether access is closed because the traffic is used up.'),
    traffic_purchases: z.array(TrafficPurchaseInfo).default([]).describe('Traffic packages bought on top of the limit.'),
    is_daily: z.boolean().default(false).describe('Whether the tariff is charged by the day.'),
    is_daily_paused: z.boolean().default(false).describe('Whether the daily subscription is paused by the user.'),
    daily_price_kopeks: z
      .int()
      .nullish()
      .describe('Price of one day in kopeks; null or 0 for a tariff that is not charged by the day.'),
    next_daily_charge_at: Timestamp.nullish().describe(
      'When the next day is charged (UTC); null while paused and for other tariffs.',
    ),
    tariff_id: z.int().nullish().describe('Id of the tariff; null for none.'),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
    traffic_reset_mode: z
      .string()
      .nullish()
      .describe(
        'How often the used traffic is reset: `DAY`, `WEEK`, `MONTH`, `MONTH_ROLLING` or `NO_RESET`; null for the default of the service.',
      ),
  })
  .meta({ id: 'SubscriptionData' });

export const SubscriptionStatusResponse = z
  .object({
    has_subscription: z.boolean().describe('Whether the user has a subscription.'),
    subscription: SubscriptionData.nullish().describe('The subscription; null when there is none.'),
  })
  .meta({ id: 'SubscriptionStatusResponse' });

export const RenewalOptionResponse = z
  .object({
    period_days: z.int().describe('Length of the period in days.'),
    price_kopeks: z.int().describe('Price in kopeks, after discounts.'),
    price_rubles: z.number().describe('Price in rubles: kopeks / 100.'),
    discount_percent: z.int().default(0).describe('Discount in percent; 0 for none.'),
    original_price_kopeks: z.int().nullish().describe('Price before discounts in kopeks; null when there is no discount.'),
    quote: SignedQuote,
  })
  .meta({ id: 'RenewalOptionResponse' });

export const TrafficPackageResponse = z
  .object({
    gb: z.int().describe('Size of the traffic package in GB; 0 is the unlimited package.'),
    price_kopeks: z.int().describe('Price in kopeks, after discounts.'),
    price_rubles: z.number().describe('Price in rubles: kopeks / 100.'),
    is_unlimited: z.boolean().default(false).describe('Whether the package removes the limit.'),
    quote: SignedQuote.nullable().describe(
      'Signed price of the package for the rest of the time, valid 10 minutes; null while it cannot be bought.',
    ),
  })
  .meta({ id: 'TrafficPackageResponse' });

export const TrialInfoResponse = z
  .object({
    is_available: z.boolean().describe('Whether the user can start a trial now.'),
    duration_days: z.int().describe('Length in days.'),
    traffic_limit_gb: z.int().describe('Traffic limit of the trial in GB; 0 = unlimited.'),
    device_limit: z.int().describe('Number of devices that may be connected.'),
    requires_payment: z.boolean().default(false).describe('Whether starting the trial costs money.'),
    price_kopeks: z.int().default(0).describe('Price of the trial in kopeks; 0 when it is free.'),
    price_rubles: z.number().default(0).describe('Price in rubles: kopeks / 100.'),
    reason_unavailable: z.string().nullish().describe('Why no trial can be taken; null when it can.'),
  })
  .meta({ id: 'TrialInfoResponse' });

export const AutopayUpdateRequest = z
  .object({
    enabled: z.boolean().describe('Whether the subscription is to be renewed automatically from the balance.'),
    days_before: z
      .int()
      .min(1)
      .max(30)
      .nullish()
      .describe('Days before the end at which automatic renewal starts; null leaves the value unchanged.'),
  })
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
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  autopay_enabled: z.boolean().describe('Whether the subscription is renewed automatically from the balance.'),
  autopay_days_before: z.int().describe('Days before the end at which automatic renewal starts.'),
});
