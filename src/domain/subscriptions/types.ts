/** Subscriptions as the rules see them (spec 02 section 1.1). Times are UTC moments, traffic is GB, money is kopeks. */

export type SubscriptionStatus = 'trial' | 'active' | 'expired' | 'disabled' | 'limited' | 'pending';

/** Whether the panel's user equals the row; a failed one is retried by the provisioning job. */
export type ProvisionState = 'pending' | 'synced' | 'failed';

/** One per user. */
export interface Subscription {
  id: number;
  userId: number;
  /** As stored; `actualStatus` gives the status of now. */
  status: SubscriptionStatus;
  /** Independent of `status`: a live trial normally is `active`. */
  isTrial: boolean;
  startDate: Date;
  endDate: Date;
  /** 0 = unlimited; bought packages included. */
  trafficLimitGb: number;
  /** A fraction, from the panel. */
  trafficUsedGb: number;
  /** Sum of the live traffic purchases. */
  purchasedTrafficGb: number;
  /** Earliest end of a live traffic purchase. */
  trafficResetAt: Date | null;
  /** Bought devices included. */
  deviceLimit: number;
  /** Squad uuids. */
  connectedSquads: string[];
  autopayEnabled: boolean;
  autopayDaysBefore: number | null;
  /** null = classic. */
  tariffId: number | null;
  isDailyPaused: boolean;
  lastDailyChargeAt: Date | null;
  subscriptionUrl: string | null;
  subscriptionCryptoLink: string | null;
  panelShortUuid: string | null;
  /** Stamp of the last panel webhook: 60 s guard of the jobs. */
  lastWebhookUpdateAt: Date | null;
  modemEnabled: boolean;
  provisionState: ProvisionState;
  provisionError: string | null;
  provisionRequestedAt: Date | null;
  provisionedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A traffic package bought for 30 days. */
export interface TrafficPurchase {
  id: number;
  subscriptionId: number;
  trafficGb: number;
  expiresAt: Date;
  createdAt: Date;
}

/** The columns a life-cycle rule may set. */
export type SubscriptionChanges = Partial<
  Pick<
    Subscription,
    | 'status'
    | 'isTrial'
    | 'startDate'
    | 'endDate'
    | 'trafficLimitGb'
    | 'trafficUsedGb'
    | 'purchasedTrafficGb'
    | 'trafficResetAt'
    | 'deviceLimit'
    | 'connectedSquads'
    | 'tariffId'
    | 'isDailyPaused'
    | 'lastDailyChargeAt'
    | 'subscriptionUrl'
    | 'subscriptionCryptoLink'
    | 'panelShortUuid'
    | 'autopayEnabled'
    | 'autopayDaysBefore'
  >
>;

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

/** A subscription with what is shown beside it. */
export interface SubscriptionDetails {
  subscription: Subscription;
  /** Known servers among the connected squads, in their display order. */
  servers: { squadUuid: string; displayName: string; countryCode: string | null }[];
  purchases: TrafficPurchase[];
}

/** What the dashboard feed records (spec 05 section 9.2). */
export type SubscriptionEventType =
  | 'activation'
  | 'purchase'
  | 'renewal'
  | 'balance_topup'
  | 'promocode_activation'
  | 'referral_link_visit'
  | 'promo_group_change'
  /** The balance was too small for autopay, or no period was on offer. */
  | 'autopay_failed';

/**
 * An order that waits for money: key-value entry `user_cart:{user_id}`, one per user (spec 02 section 5.15). The keys are the
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
