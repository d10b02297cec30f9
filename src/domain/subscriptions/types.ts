import type { RowOf, Rows } from '../../core/db/columns.ts';
import type { SUBSCRIPTION } from './repo.ts';

/** Subscriptions in the domain. Times are UTC timestamps, traffic is GB, money is kopeks. */

/**
 * One per user. `status` is the stored one; the current status is `actualStatus`. `isTrial` is independent of it: a running trial
 * normally is `active`. `trafficLimitGb` 0 is unlimited and includes purchased traffic, of which `purchasedTrafficGb` is the sum and
 * `trafficResetAt` the earliest end; `trafficUsedGb` is a fraction, from the panel. `deviceLimit` includes purchased devices;
 * `connectedSquads` are uuids; `tariffId` null is classic. For 60 s after `lastWebhookUpdateAt`, a report of the panel, jobs leave the row
 * alone. `provisionState` says whether the panel has what the row says; a failed one is retried by the provisioning job.
 */
export type Subscription = RowOf<typeof SUBSCRIPTION>;

export type SubscriptionStatus = Subscription['status'];

/** A traffic package bought for 30 days. */
export type TrafficPurchase = Rows['TrafficPurchase'];

/** The fields a life-cycle rule may set: the one list of them. A test compares it with `sale_columns()` in prisma/sql/sales.sql. */
export const CHANGED_FIELDS = [
  'status',
  'isTrial',
  'startDate',
  'endDate',
  'trafficLimitGb',
  'trafficUsedGb',
  'purchasedTrafficGb',
  'trafficResetAt',
  'deviceLimit',
  'connectedSquads',
  'tariffId',
  'isDailyPaused',
  'cancelEndedAutopay',
  'cancelPausedDaily',
  'lastDailyChargeAt',
  'subscriptionUrl',
  'subscriptionCryptoLink',
  'vpnpanelShortUuid',
  'autopayEnabled',
  'autopayDaysBefore',
] as const satisfies readonly (keyof Subscription)[];

export type SubscriptionChanges = Partial<Pick<Subscription, (typeof CHANGED_FIELDS)[number]>>;

/** Settings of the life cycle (spec 02 section 14), beside `PricingSettings`. */
export interface SubscriptionSettings {
  trialDurationDays: number;
  trialTrafficLimitGb: number;
  trialDeviceLimit: number;
  trialPaymentEnabled: boolean;
  trialActivationPriceKopeks: number;
  /** Account types without a trial. */
  trialDisabledFor: 'none' | 'all' | 'messenger' | 'email';
  /** The trial tariff when none carries the flag; 0 = none. */
  trialTariffId: number;
  trialAddRemainingDaysToPaid: boolean;
  resetTrafficOnPayment: boolean;
  resetTrafficOnTariffSwitch: boolean;
}

/** A subscription with its servers and traffic purchases. */
export interface SubscriptionDetails {
  subscription: Subscription;
  /** Known servers among the connected squads, in their display order. */
  servers: Pick<Rows['ServerSquad'], 'squadUuid' | 'displayName' | 'countryCode'>[];
  purchases: TrafficPurchase[];
}

/**
 * An order that waits for a top-up: key-value entry `user_cart:{user_id}`, one per user (spec 02 section 5.15). The keys are the
 * documented ones, because other parts and older clients read them. Amounts in kopeks.
 */
export type SavedCart = {
  source: 'cabinet';
  total_price: number;
  missing_amount: number;
  description: string;
} & (
  | {
      cart_mode: 'extend';
      subscription_id: number;
      tariff_id: number | null;
      period_days: number;
      discount_percent: number;
      consume_promo_offer: boolean;
      traffic_limit_gb: number;
      device_limit: number;
      allowed_squads?: string[];
    }
  | {
      cart_mode: 'tariff_purchase';
      tariff_id: number;
      period_days: number;
      traffic_limit_gb: number;
      device_limit: number;
      allowed_squads: string[];
      /** GB picked by the buyer; null = the tariff's own limit. */
      custom_traffic_gb: number | null;
    }
  | {
      cart_mode: 'subscription_purchase';
      period_id: string;
      period_days: number;
      traffic_gb: number;
      countries: string[];
      devices: number;
    }
  | {
      cart_mode: 'add_traffic';
      subscription_id: number;
      traffic_gb: number;
      price_kopeks: number;
      base_price_kopeks: number;
      discount_percent: number;
    }
  | {
      cart_mode: 'add_devices';
      devices_to_add: number;
      price_kopeks: number;
      base_price_kopeks: number;
      discount_percent: number;
    }
  | {
      cart_mode: 'daily_tariff_purchase';
      tariff_id: number;
      is_daily: true;
      daily_price_kopeks: number;
      traffic_limit_gb: number;
      device_limit: number;
      allowed_squads: string[];
    }
);
