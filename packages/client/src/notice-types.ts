// Made by scripts/events.ts from the definitions of the events; see docs/events.md.

/** Events of `/cabinet/ws` for users without a messenger, with the values of their texts. Later releases may add others. */
export interface NoticeEvents {
  /** The second factors of the account were changed, for a user without a messenger. */
  'notification.second_factor_changed': {
    /** What happened: a factor was `added` or `removed`, all were removed (`reset`), or there are other recovery `codes`. */
    change: 'added' | 'removed' | 'reset' | 'codes';
    /** Name of the factor; empty where all are meant. */
    name: string;
  };
  /** A request for an archive or for the erasure of the account went on, for a user without a messenger. */
  'notification.personal_data': {
    /** What happened: `export_ready` (the archive can be loaded), `erasure_requested` or `erasure_cancelled`. */
    change: 'export_ready' | 'erasure_requested' | 'erasure_cancelled';
    /** When the account is erased (ISO 8601, UTC); null for other changes. */
    due_at: string | null;
  };
  /** A first purchase, for a user without a messenger. */
  'notification.subscription_activated': {
    /** Date as `dd.mm.yyyy`. */
    expires_at: string;
    /** Date as `dd.mm.yyyy`. */
    new_expires_at: string;
    /** Traffic limit in GB; 0 = unlimited. */
    traffic_limit_gb: number;
    /** Device limit. */
    device_limit: number;
    /** Name of the tariff; empty without one. */
    tariff_name: string;
  };
  /** A renewal, for a user without a messenger. */
  'notification.subscription_renewed': {
    /** Date as `dd.mm.yyyy`. */
    expires_at: string;
    /** Date as `dd.mm.yyyy`. */
    new_expires_at: string;
    /** Traffic limit in GB; 0 = unlimited. */
    traffic_limit_gb: number;
    /** Device limit. */
    device_limit: number;
    /** Name of the tariff; empty without one. */
    tariff_name: string;
  };
  /** The same for a referrer without a messenger, with the parameters of the mail. */
  'notification.referral_registered': {
    /** Name of the other user of the pair. */
    referral_name: string;
  };
  /** The same for a user without a messenger, with the parameters of the mail. */
  'notification.referral_bonus': {
    /** Reward in kopeks. */
    bonus_kopeks: number;
    /** The same in rubles. */
    bonus_rubles: number;
    /** The reward as text. */
    formatted_bonus: string;
    /** Name of the other user of the pair. */
    referral_name: string;
  };
  /** An application was approved, for an applicant without a messenger. */
  'notification.partner_application_approved': {
    /** Commission of the partner, in percent. */
    commission_percent: number;
    /** Comment of the administrator; null without one. */
    comment: string | null;
  };
  /** An application was rejected, for an applicant without a messenger. */
  'notification.partner_application_rejected': {
    /** Comment of the administrator; null without one. */
    comment: string | null;
  };
  /** A withdrawal was approved, for a user without a messenger. */
  'notification.withdrawal_approved': {
    /** Amount of the withdrawal in kopeks. */
    amount_kopeks: number;
    /** The same in rubles. */
    amount_rubles: number;
    /** The same as text. */
    formatted_amount: string;
    /** Comment of the administrator; null without one. */
    comment: string | null;
  };
  /** A withdrawal was rejected, for a user without a messenger. */
  'notification.withdrawal_rejected': {
    /** Amount of the withdrawal in kopeks. */
    amount_kopeks: number;
    /** The same in rubles. */
    amount_rubles: number;
    /** The same as text. */
    formatted_amount: string;
    /** Comment of the administrator; null without one. */
    comment: string | null;
  };
  /** The subscription has ended. */
  'notification.subscription_expired': Record<never, never>;
  /** The subscription ends soon. */
  'notification.subscription_expiring': {
    /** Days until the end. */
    days_left: number;
    /** Date as `dd.mm.yyyy`. */
    expires_at: string;
  };
  /** The subscription ended some days ago. */
  'notification.subscription_ended': Record<never, never>;
  /** The trial ends soon. */
  'notification.trial_ending': Record<never, never>;
  /** A day of a daily tariff was charged. */
  'notification.daily_debit': {
    /** Amount as text. */
    formatted_amount: string;
    /** Amount as text. */
    formatted_balance: string;
    /** Amount in rubles. */
    amount_rubles: number;
    /** Amount in rubles. */
    new_balance_rubles: number;
  };
  /** The balance does not suffice for a day of a daily tariff. */
  'notification.daily_insufficient_funds': {
    /** Amount as text. */
    required_amount: string;
    /** Amount as text. */
    current_balance: string;
  };
  /** Autopay renewed the subscription. */
  'notification.autopay_success': {
    /** Amount as text. */
    formatted_amount: string;
    /** Amount in rubles. */
    amount_rubles: number;
    /** Date as `dd.mm.yyyy`. */
    new_expires_at: string;
  };
  /** The balance does not suffice for autopay. */
  'notification.autopay_insufficient_funds': {
    /** Amount as text. */
    required_amount: string;
    /** Amount as text. */
    current_balance: string;
  };
  /** Autopay did not renew. */
  'notification.autopay_failed': {
    /** A sentence. */
    reason: string;
  };
  /** Purchased traffic expired. */
  'notification.traffic_reset': {
    /** Traffic that was removed, in GB. */
    reset_gb: number;
    /** Traffic limit after it, in GB. */
    current_limit_gb: number;
  };
  /** A saved order was purchased after a top-up. */
  'notification.order_bought': {
    /** The order, as in the list of transactions. */
    description: string;
    /** Amount as text. */
    formatted_amount: string;
    /** Amount as text. */
    formatted_balance: string;
  };
  /** A saved order was refused after a top-up and deleted; the money stays on the balance. */
  'notification.order_refused': {
    /** The order, as in the list of transactions. */
    description: string;
    /** Amount as text. */
    formatted_balance: string;
  };
  /** The balance is below the threshold of the user, for a user without a messenger. */
  'notification.balance_low': {
    /** Balance in kopeks. */
    balance_kopeks: number;
    /** The same in rubles. */
    balance_rubles: number;
    /** The same as text. */
    formatted_balance: string;
  };
  /** The ban system banned the user, for a user without a messenger. */
  'notification.ban_notification': {
    /** Why. */
    reason: string;
  };
  /** The ban system lifted a ban, for a user without a messenger. */
  'notification.unban_notification': Record<never, never>;
  /** A warning of the ban system, for a user without a messenger. */
  'notification.warning_notification': {
    /** Text of the warning. */
    message: string;
  };
  /** The notice `webhook_sub_expired` after an event of the panel, for a user without a messenger. */
  'notification.webhook_sub_expired': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  /** The notice `webhook_sub_expiring` after an event of the panel, for a user without a messenger. */
  'notification.webhook_sub_expiring': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  /** The notice `webhook_sub_disabled` after an event of the panel, for a user without a messenger. */
  'notification.webhook_sub_disabled': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  /** The notice `webhook_sub_enabled` after an event of the panel, for a user without a messenger. */
  'notification.webhook_sub_enabled': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  /** The notice `webhook_sub_limited` after an event of the panel, for a user without a messenger. */
  'notification.webhook_sub_limited': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  /** The notice `webhook_sub_traffic_reset` after an event of the panel, for a user without a messenger. */
  'notification.webhook_sub_traffic_reset': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  /** The notice `webhook_sub_deleted` after an event of the panel, for a user without a messenger. */
  'notification.webhook_sub_deleted': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  /** The notice `webhook_sub_revoked` after an event of the panel, for a user without a messenger. */
  'notification.webhook_sub_revoked': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  /** The notice `webhook_sub_first_connected` after an event of the panel, for a user without a messenger. */
  'notification.webhook_sub_first_connected': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  /** The notice `webhook_user_not_connected` after an event of the panel, for a user without a messenger. */
  'notification.webhook_user_not_connected': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  /** The notice `webhook_sub_bandwidth_threshold` after an event of the panel, for a user without a messenger. */
  'notification.webhook_sub_bandwidth_threshold': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  /** The notice `webhook_device_added` after an event of the panel, for a user without a messenger. */
  'notification.webhook_device_added': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  /** The notice `webhook_device_deleted` after an event of the panel, for a user without a messenger. */
  'notification.webhook_device_deleted': {
    /** Share of the traffic limit that is used, in percent. */
    percent?: number | undefined;
    /** Hours of the event. */
    hours?: number | undefined;
    /** Name of the device. */
    device?: string | undefined;
  };
  [notice: `notification.${string}`]: Record<string, unknown>;
}
