/** Money of an event; `amount_rubles` is kopeks / 100. */
interface Amount {
  amount_kopeks: number;
  amount_rubles: number;
}

interface NewBalance {
  new_balance_kopeks: number;
  new_balance_rubles: number;
}

/** No fields beside the type. */
type Bare = Record<never, never>;

/** Events of `/cabinet/ws`: fields beside `type`. Moments are ISO 8601 in UTC. `ticket.new` and `ticket.user_reply` go to staff. */
export interface CabinetEvents {
  'balance.topup': Amount & NewBalance & { description: string };
  /** Any movement other than a top-up by the user; the amount is negative for a charge. */
  'balance.change': Amount & NewBalance & { description: string | null };
  'subscription.activated': { expires_at: string; tariff_name: string };
  'subscription.renewed': Amount & { new_expires_at: string };
  'subscription.devices_purchased': Amount & { devices_added: number; new_device_limit: number };
  'subscription.traffic_purchased': Amount & { traffic_gb_added: number; new_traffic_limit_gb: number };
  'subscription.expiring': { days_left: number; expires_at: string };
  'subscription.expired': Bare;
  'subscription.traffic_reset': Bare;
  'subscription.daily_debit': Amount & NewBalance;
  'autopay.success': Amount & { new_expires_at: string };
  /** `insufficient_funds` (with `autopay.insufficient_funds` beside it) or `period_unavailable`. */
  'autopay.failed': { reason: string };
  'autopay.insufficient_funds': {
    required_kopeks: number;
    required_rubles: number;
    balance_kopeks: number;
    balance_rubles: number;
  };
  'account.banned': { reason: string };
  'account.unbanned': Bare;
  /** A warning of the ban system; who has no messenger also gets `notification.warning_notification`. */
  'account.warning': { message: string };
  'referral.bonus': { bonus_kopeks: number; bonus_rubles: number; referral_name: string };
  'referral.registered': { referral_name: string };
  /** A provider took money from the user: a top-up (`balance.topup` beside it) or a payment for something. The method is its code, e.g. `yookassa`. */
  'payment.received': Amount & { payment_method: string };
  'ticket.new': { ticket_id: number; title: string; user_id: number };
  'ticket.user_reply': { ticket_id: number; message: string; user_id: number };
  'ticket.admin_reply': { ticket_id: number; message: string };
  [notice: `notification.${string}`]: Record<string, unknown>;
}

export type CabinetEventType = keyof CabinetEvents;

/** Of every event. */
interface EventIds {
  /** Opaque position in the feed after this event; changes with the connection. `createFeedClient` takes it as `after`. */
  id?: string;
  /** Opaque id of the event, the same on every instance and after every resume: recognizes repeats. */
  event_id?: string;
}

/** One event as a handler gets it. */
export type CabinetEvent<Type extends CabinetEventType = CabinetEventType> = { type: Type } & EventIds & CabinetEvents[Type];

/** Message of `/cabinet/ws` by type. */
export type CabinetMessages = { [Type in CabinetEventType]: CabinetEvent<Type> };

interface TransactionFact {
  transaction_id: number;
  user_id: number;
  type: string;
  amount_kopeks: number;
  amount_rubles: number;
  payment_method: string | null;
  external_id: string | null;
  is_completed: boolean;
  description: string | null;
}

/** Events of `/ws`, by type. */
export interface FeedEvents {
  'user.created': {
    user_id: number;
    messenger_id?: number | null;
    username?: string | null;
    first_name?: string | null;
    last_name?: string | null;
    email?: string | null;
    auth_type?: string;
    referral_code?: string;
    referred_by_id?: number | null;
  };
  'payment.completed': TransactionFact;
  'transaction.created': TransactionFact;
  'ticket.created': {
    ticket_id: number;
    user_id: number;
    title: string;
    status: string;
    priority: string;
    has_media: boolean;
  };
  'ticket.status_changed': {
    ticket_id: number;
    user_id: number;
    old_status: string;
    new_status: string;
    closed_at: string | null;
  };
  'ticket.message_added': {
    ticket_id: number;
    message_id: number;
    user_id: number;
    is_from_admin: boolean;
    message_text: string;
    has_media: boolean;
    status: string;
  };
}

export type FeedEventType = keyof FeedEvents;

export interface FeedEvent<Type extends FeedEventType = FeedEventType> extends EventIds {
  type: Type;
  payload: FeedEvents[Type];
  /** ISO 8601 in UTC, without a zone. */
  timestamp: string;
}

/** Message of `/ws` by type. */
export type FeedMessages = { [Type in FeedEventType]: FeedEvent<Type> };
