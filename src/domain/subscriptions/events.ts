/** Context of a notice, flattened into the event; dates as `dd.mm.yyyy`, traffic in GB. */
interface SaleNotice {
  expires_at: string;
  new_expires_at: string;
  traffic_limit_gb: number;
  device_limit: number;
  tariff_name: string;
}

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes {
    /** The user's first subscription starts (spec 05 section 12.2). `expires_at` is ISO 8601 in UTC. */
    'subscription.activated': { expires_at: string; tariff_name: string };
    /** More time was paid for; kopeks and roubles charged. */
    'subscription.renewed': { new_expires_at: string; amount_kopeks: number; amount_rubles: number };
    'subscription.expired': Record<string, never>;
    'subscription.devices_purchased': {
      devices_added: number;
      new_device_limit: number;
      amount_kopeks: number;
      amount_rubles: number;
    };
    'subscription.traffic_purchased': {
      traffic_gb_added: number;
      new_traffic_limit_gb: number;
      amount_kopeks: number;
      amount_rubles: number;
    };
    'notification.subscription_activated': SaleNotice;
    'notification.subscription_renewed': SaleNotice;
    'notification.subscription_expired': Record<string, never>;
  }
}

export const SUBSCRIPTION_ACTIVATED = 'subscription.activated';
export const SUBSCRIPTION_RENEWED = 'subscription.renewed';
export const SUBSCRIPTION_EXPIRED = 'subscription.expired';
export const DEVICES_PURCHASED = 'subscription.devices_purchased';
export const TRAFFIC_PURCHASED = 'subscription.traffic_purchased';
