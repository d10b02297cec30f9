/** Values of a notification's text, as fields of the event; dates as `dd.mm.yyyy`, traffic in GB. */
interface SaleNotice {
  expires_at: string;
  new_expires_at: string;
  traffic_limit_gb: number;
  device_limit: number;
  tariff_name: string;
}

/** Notifications of what the service did without a request, with the values of their texts (spec 05 section 11.2). Dates as `dd.mm.yyyy`. */
export interface OwnerNotices {
  subscription_expired: Record<string, never>;
  subscription_expiring: { days_left: number; expires_at: string };
  subscription_ended: Record<string, never>;
  trial_ending: Record<string, never>;
  daily_debit: { formatted_amount: string; formatted_balance: string; amount_rubles: number; new_balance_rubles: number };
  daily_insufficient_funds: { required_amount: string; current_balance: string };
  autopay_success: { formatted_amount: string; amount_rubles: number; new_expires_at: string };
  autopay_insufficient_funds: { required_amount: string; current_balance: string };
  /** `reason` is a sentence. */
  autopay_failed: { reason: string };
  traffic_reset: { reset_gb: number; current_limit_gb: number };
  /** A saved order was purchased after a top-up; `description` is the one in the list of transactions. */
  order_bought: { description: string; formatted_amount: string; formatted_balance: string };
  /** A saved order was refused after a top-up and deleted; the money stays on the balance. */
  order_refused: { description: string; formatted_balance: string };
}

/** Kopeks, and the same in rubles. */
interface Debit {
  amount_kopeks: number;
  amount_rubles: number;
  new_balance_kopeks: number;
  new_balance_rubles: number;
}

declare module '../../core/events/event-recorder.ts' {
  interface EventTypes {
    /** The user's first subscription starts (spec 05 section 12.2). `expires_at` is ISO 8601 in UTC. */
    'subscription.activated': { expires_at: string; tariff_name: string };
    /** A further period was paid for; the amounts are those charged. */
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
    /** The end is within the days of a warning; `expires_at` is ISO 8601 in UTC. */
    'subscription.expiring': { days_left: number; expires_at: string };
    'notification.subscription_expiring': OwnerNotices['subscription_expiring'];
    'notification.subscription_ended': OwnerNotices['subscription_ended'];
    'notification.trial_ending': OwnerNotices['trial_ending'];
    /** Purchased traffic expired and was removed from the limit. */
    'subscription.traffic_reset': Record<string, never>;
    /** A day of a daily tariff was charged. */
    'subscription.daily_debit': Debit;
    'notification.subscription_expired': OwnerNotices['subscription_expired'];
    'notification.daily_debit': OwnerNotices['daily_debit'];
    'notification.daily_insufficient_funds': OwnerNotices['daily_insufficient_funds'];
    /** `new_expires_at` is ISO 8601 in UTC. */
    'autopay.success': { amount_kopeks: number; amount_rubles: number; new_expires_at: string };
    /** Autopay did not renew: `insufficient_funds`, or `period_unavailable` when no period of the plan is for sale. */
    'autopay.failed': { reason: 'insufficient_funds' | 'period_unavailable' };
    'autopay.insufficient_funds': {
      required_kopeks: number;
      required_rubles: number;
      balance_kopeks: number;
      balance_rubles: number;
    };
    'notification.autopay_success': OwnerNotices['autopay_success'];
    'notification.autopay_insufficient_funds': OwnerNotices['autopay_insufficient_funds'];
    'notification.autopay_failed': OwnerNotices['autopay_failed'];
    'notification.traffic_reset': OwnerNotices['traffic_reset'];
    'notification.order_bought': OwnerNotices['order_bought'];
    'notification.order_refused': OwnerNotices['order_refused'];
  }
}

export const SUBSCRIPTION_ACTIVATED = 'subscription.activated';
export const SUBSCRIPTION_RENEWED = 'subscription.renewed';
export const SUBSCRIPTION_EXPIRED = 'subscription.expired';
export const DEVICES_PURCHASED = 'subscription.devices_purchased';
export const TRAFFIC_PURCHASED = 'subscription.traffic_purchased';
export const DAILY_DEBIT = 'subscription.daily_debit';
export const TRAFFIC_RESET = 'subscription.traffic_reset';
export const AUTOPAY_SUCCESS = 'autopay.success';
export const AUTOPAY_FAILED = 'autopay.failed';
export const AUTOPAY_INSUFFICIENT_FUNDS = 'autopay.insufficient_funds';
export const SUBSCRIPTION_EXPIRING = 'subscription.expiring';
