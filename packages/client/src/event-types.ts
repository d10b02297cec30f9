// Made by scripts/events.ts from the definitions of the events; see docs/events.md.
import type { NoticeEvents } from './notice-types.ts';

/** Events of `/cabinet/ws`: fields beside `type`. Those "for staff" go to users with the permission `tickets:read`. */
export interface CabinetEvents extends NoticeEvents {
  /** A payment at a provider was credited. */
  'balance.topup': {
    /** Amount in kopeks; negative for a charge where the event says so. */
    amount_kopeks: number;
    /** The same in rubles. */
    amount_rubles: number;
    /** Balance after the change, in kopeks. */
    new_balance_kopeks: number;
    /** The same in rubles. */
    new_balance_rubles: number;
    /** Name of the method. */
    description: string;
  };
  /** Any movement other than a top-up by the user; the amount is negative for a charge. */
  'balance.change': {
    /** Amount in kopeks; negative for a charge where the event says so. */
    amount_kopeks: number;
    /** The same in rubles. */
    amount_rubles: number;
    /** Balance after the change, in kopeks. */
    new_balance_kopeks: number;
    /** The same in rubles. */
    new_balance_rubles: number;
    /** Text of the transaction. */
    description: string | null;
  };
  /** A provider took money from the user: a top-up (`balance.topup` beside it) or a payment for something. */
  'payment.received': {
    /** Amount in kopeks; negative for a charge where the event says so. */
    amount_kopeks: number;
    /** The same in rubles. */
    amount_rubles: number;
    /** Code of the payment method, such as `yookassa`. */
    payment_method: string;
  };
  /** For staff. A user opened a ticket. */
  'ticket.new': {
    /** Id of the ticket. */
    ticket_id: number;
    /** Title of the ticket. */
    title: string;
    /** Id of the user. */
    user_id: number;
  };
  /** For staff. A user wrote in a ticket. */
  'ticket.user_reply': {
    /** Id of the ticket. */
    ticket_id: number;
    /** The first 100 characters of the text. */
    message: string;
    /** Id of the user. */
    user_id: number;
  };
  /** Support answered a ticket of the user. */
  'ticket.admin_reply': {
    /** Id of the ticket. */
    ticket_id: number;
    /** The first 100 characters of the text. */
    message: string;
  };
  /** The user's first subscription starts. */
  'subscription.activated': {
    /** ISO 8601 in UTC. */
    expires_at: string;
    /** Name of the tariff; empty without one. */
    tariff_name: string;
  };
  /** A further period was paid for; the amounts are those charged. */
  'subscription.renewed': {
    /** ISO 8601 in UTC. */
    new_expires_at: string;
    /** Amount in kopeks; negative for a charge where the event says so. */
    amount_kopeks: number;
    /** The same in rubles. */
    amount_rubles: number;
  };
  /** The subscription has ended. */
  'subscription.expired': Record<never, never>;
  /** Devices were purchased. */
  'subscription.devices_purchased': {
    /** Devices that were purchased. */
    devices_added: number;
    /** Device limit after it. */
    new_device_limit: number;
    /** Amount in kopeks; negative for a charge where the event says so. */
    amount_kopeks: number;
    /** The same in rubles. */
    amount_rubles: number;
  };
  /** Traffic was purchased. */
  'subscription.traffic_purchased': {
    /** Traffic that was purchased, in GB. */
    traffic_gb_added: number;
    /** Traffic limit after it, in GB. */
    new_traffic_limit_gb: number;
    /** Amount in kopeks; negative for a charge where the event says so. */
    amount_kopeks: number;
    /** The same in rubles. */
    amount_rubles: number;
  };
  /** The end is within the days of a warning. */
  'subscription.expiring': {
    /** Days until the end. */
    days_left: number;
    /** ISO 8601 in UTC. */
    expires_at: string;
  };
  /** The traffic was reset, or purchased traffic expired and was removed from the limit. */
  'subscription.traffic_reset': Record<never, never>;
  /** A day of a daily tariff was charged. */
  'subscription.daily_debit': {
    /** Amount in kopeks; negative for a charge where the event says so. */
    amount_kopeks: number;
    /** The same in rubles. */
    amount_rubles: number;
    /** Balance after the change, in kopeks. */
    new_balance_kopeks: number;
    /** The same in rubles. */
    new_balance_rubles: number;
  };
  /** Autopay renewed the subscription. */
  'autopay.success': {
    /** Amount in kopeks; negative for a charge where the event says so. */
    amount_kopeks: number;
    /** The same in rubles. */
    amount_rubles: number;
    /** ISO 8601 in UTC. */
    new_expires_at: string;
  };
  /** Autopay did not renew: `insufficient_funds` (with `autopay.insufficient_funds` beside it), or `period_unavailable` when no period of the plan is for sale. */
  'autopay.failed': {
    /** Why. */
    reason: 'insufficient_funds' | 'period_unavailable';
  };
  /** The balance does not suffice for autopay. */
  'autopay.insufficient_funds': {
    /** Price in kopeks. */
    required_kopeks: number;
    /** The same in rubles. */
    required_rubles: number;
    /** Balance in kopeks. */
    balance_kopeks: number;
    /** The same in rubles. */
    balance_rubles: number;
  };
  /** The account was blocked; the connection ends after it. */
  'account.banned': {
    /** As the administrator gave it; empty without one. */
    reason: string;
  };
  /** A blocked account is active again. */
  'account.unbanned': Record<never, never>;
  /** To the referrer: a referral has registered. */
  'referral.registered': {
    /** Name of the other user of the pair. */
    referral_name: string;
  };
  /** The user got a reward. */
  'referral.bonus': {
    /** Reward in kopeks. */
    bonus_kopeks: number;
    /** The same in rubles. */
    bonus_rubles: number;
    /** Name of the other user of the pair. */
    referral_name: string;
  };
  /** For staff. A broadcast begins, every few seconds while it is sent, and when it ends. */
  'broadcast.progress': {
    /** Id of the broadcast. */
    broadcast_id: number;
    /** Status as in the list of broadcasts. */
    status: string;
    /** Recipients. */
    total_count: number;
    /** Recipients who got it. */
    sent_count: number;
    /** Recipients to whom it could not be sent. */
    failed_count: number;
    /** Recipients who blocked the bot. */
    blocked_count: number;
    /** Recipients of whom it is unknown whether they got it. */
    unconfirmed_count: number;
    /** Processed recipients, 0 to 100. */
    progress_percent: number;
    /** ISO 8601 in UTC; null while it cannot be estimated. */
    estimated_end_at: string | null;
  };
  /** For staff. A pinned message begins to be sent or unpinned, every few seconds meanwhile, and when it ends. */
  'pinned_message.progress': {
    /** Id of the pinned message. */
    message_id: number;
    /** Whether it is sent or unpinned. */
    action: 'broadcast' | 'unpin';
    /** `preparing`, `sending`, `done`, `cancelled` or `failed`. */
    status: string;
    /** Recipients. */
    total_count: number;
    /** Recipients who got it, or for whom it was unpinned. */
    sent_count: number;
    /** Recipients for whom it failed. */
    failed_count: number;
  };
  /** A warning of the ban system; a user without a messenger also gets `notification.warning_notification`. */
  'account.warning': {
    /** Text of the warning. */
    message: string;
  };
}

/** Payloads of `/ws` and of webhooks, by type. */
export interface FeedEvents {
  /** A new account. Which of the optional fields exist depends on how it was created. */
  'user.created': {
    /** Id of the user. */
    user_id: number;
    /** Id in the messenger; null without one. */
    messenger_id: number | null;
    /** Name in the messenger, without `@`. */
    username: string | null;
    /** First name. */
    first_name: string | null;
    /** Last name. */
    last_name?: string | null | undefined;
    /** Address, for a registration by e-mail or OAuth. */
    email?: string | null | undefined;
    /** How the account was registered, such as `email`. */
    auth_type?: string | undefined;
    /** Code by which the user refers others. */
    referral_code: string;
    /** Id of the referrer. */
    referred_by_id?: number | null | undefined;
  };
  /** A transaction of type `deposit` was recorded. */
  'payment.completed': {
    /** Id of the transaction. */
    transaction_id: number;
    /** Id of the user. */
    user_id: number;
    /** Type of the transaction, such as `deposit` or `subscription_payment`. */
    type: string;
    /** Amount in kopeks, never negative. */
    amount_kopeks: number;
    /** The same in rubles. */
    amount_rubles: number;
    /** Code of the payment method, such as `yookassa`; null without one. */
    payment_method: string | null;
    /** Id at the provider; null without one. */
    external_id: string | null;
    /** Always true. */
    is_completed: boolean;
    /** Text of the transaction. */
    description: string | null;
  };
  /** A transaction of another type was recorded. */
  'transaction.created': {
    /** Id of the transaction. */
    transaction_id: number;
    /** Id of the user. */
    user_id: number;
    /** Type of the transaction, such as `deposit` or `subscription_payment`. */
    type: string;
    /** Amount in kopeks, never negative. */
    amount_kopeks: number;
    /** The same in rubles. */
    amount_rubles: number;
    /** Code of the payment method, such as `yookassa`; null without one. */
    payment_method: string | null;
    /** Id at the provider; null without one. */
    external_id: string | null;
    /** Always true. */
    is_completed: boolean;
    /** Text of the transaction. */
    description: string | null;
  };
  /** A user opened a ticket. */
  'ticket.created': {
    /** Id of the ticket. */
    ticket_id: number;
    /** Id of the user. */
    user_id: number;
    /** Title of the ticket. */
    title: string;
    /** Status of the ticket. */
    status: 'open' | 'answered' | 'pending' | 'closed';
    /** Priority of the ticket. */
    priority: 'low' | 'normal' | 'high' | 'urgent';
    /** Whether the message has a file. */
    has_media: boolean;
  };
  /** A message was added to a ticket. There is no webhook for it. */
  'ticket.message_added': {
    /** Id of the ticket. */
    ticket_id: number;
    /** Id of the message. */
    message_id: number;
    /** Id of the owner of the ticket, also for answers. */
    user_id: number;
    /** Whether support wrote it. */
    is_from_admin: boolean;
    /** The first 200 characters of the text. */
    message_text: string;
    /** Whether the message has a file. */
    has_media: boolean;
    /** Status of the ticket. */
    status: 'open' | 'answered' | 'pending' | 'closed';
  };
  /** The status of a ticket has changed. */
  'ticket.status_changed': {
    /** Id of the ticket. */
    ticket_id: number;
    /** Id of the user. */
    user_id: number;
    /** Status of the ticket. */
    old_status: 'open' | 'answered' | 'pending' | 'closed';
    /** Status of the ticket. */
    new_status: 'open' | 'answered' | 'pending' | 'closed';
    /** ISO 8601 in UTC; null unless it is closed. */
    closed_at: string | null;
  };
  /** A day of the audit log is over; whoever keeps this can prove later that no entry of it was changed or removed. */
  'audit.day_closed': {
    /** The day in UTC, `YYYY-MM-DD`. */
    day: string;
    /** Position of the last entry of the day in the chain of hashes, counted from 1. */
    position: number;
    /** Hash of that entry, SHA-256 in hexadecimal; it depends on every entry before it. */
    hash: string;
    /** When the day was closed, ISO 8601 in UTC with milliseconds; the signature is over this text. */
    closed_at: string;
    /** Ed25519 key of the signature, hexadecimal; null when the installation has neither of the keys that sign. */
    public_key: string | null;
    /** Signature of the lines `audit-day-2`, day, position, hash and closed_at, hexadecimal; null without a key. */
    signature: string | null;
  };
  /** A change of money waits for a second administrator. */
  'approval.requested': {
    /** Id of the approval. */
    approval_id: number;
    /** `balance_change` or `payment_refund`. */
    kind: string;
    /** Whose balance it is; null for the refund of a purchase without an account. */
    user_id: number | null;
    /** By effect on the user in kopeks; of a refund below 0. */
    amount_kopeks: number;
    /** Until when it can be approved, ISO 8601 in UTC. */
    expires_at: string;
  };
  /** A change of money that waited is approved and carried out, refused, withdrawn or expired. */
  'approval.decided': {
    /** Id of the approval. */
    approval_id: number;
    /** `balance_change` or `payment_refund`. */
    kind: string;
    /** Whose balance it is; null for the refund of a purchase without an account. */
    user_id: number | null;
    /** By effect on the user in kopeks; of a refund below 0. */
    amount_kopeks: number;
    /** `approved`, `refused`, `withdrawn` or `expired`. */
    status: string;
  };
}
