/**
 * Every column that references a user, and what a merge does with the secondary's rows (spec 01 section 8, with the additions of "ours").
 * A test compares this list with the database: a new column that references a user must be entered here.
 */
export type OwnedColumn = { table: string; column: string } & (
  | {
      /** The rows become the primary's. */
      on: 'move';
    }
  | {
      /** The same, but a row is deleted when the primary has one with an equal `key`. */
      on: 'move_distinct';
      key: readonly string[];
      /** SQL condition on a row `r` under which `key` is unique; absent = always. */
      where?: string;
      /** SQL assignment that closes a duplicate instead of deleting it. */
      closes?: string;
      /** A user has one row at most: the secondary's other rows stay when the primary has a row. */
      isOnePerUser?: boolean;
      /** SQL condition on the names of the secondary's and the primary's equal row under which the primary's is deleted instead. */
      replaces?: (secondary: string, primary: string) => string;
    }
  | {
      /** The secondary was the author: the column becomes null. */
      on: 'clear';
    }
  | {
      /** The rows are deleted. */
      on: 'delete';
    }
  | {
      /** Changed by a separate step of `merge-accounts.ts`. */
      on: 'separate_step';
    }
  | {
      /** The rows still reference the secondary, whose row stays. */
      on: 'stay';
      why: string;
    }
);

export const OWNED_COLUMNS: readonly OwnedColumn[] = [
  { table: 'users', column: 'referred_by_id', on: 'separate_step' },
  { table: 'transactions', column: 'user_id', on: 'separate_step' },
  { table: 'subscriptions', column: 'user_id', on: 'separate_step' },
  { table: 'cabinet_refresh_tokens', column: 'user_id', on: 'separate_step' },

  { table: 'second_factors', column: 'user_id', on: 'delete' },
  { table: 'recovery_codes', column: 'user_id', on: 'delete' },
  { table: 'payments', column: 'user_id', on: 'move' },
  { table: 'payment_cases', column: 'user_id', on: 'move' },
  { table: 'saved_payment_methods', column: 'user_id', on: 'move' },
  { table: 'subscription_conversions', column: 'user_id', on: 'move' },
  { table: 'subscription_events', column: 'user_id', on: 'move' },
  { table: 'sent_notifications', column: 'user_id', on: 'move' },
  // An entry of the secondary's wallet; the primary's wallet has other entries.
  { table: 'low_balance_notices', column: 'user_id', on: 'delete' },

  {
    table: 'mass_send_recipients',
    column: 'user_id',
    on: 'stay',
    why: 'the account that got the message; one that waits is not sent, because the account is not active any more',
  },
  // The account that remains may be another one for the messenger.
  { table: 'messenger_blocks', column: 'user_id', on: 'delete' },
  { table: 'broadcast_history', column: 'admin_id', on: 'clear' },
  { table: 'pinned_messages', column: 'created_by', on: 'clear' },
  // It is of a chat: where the account that remains has another one, nothing of it is used.
  {
    ...{ table: 'pinned_deliveries', column: 'user_id', on: 'move_distinct', key: [], isOnePerUser: true },
    replaces: isMoreAdvancedDelivery,
  },

  // Hints about the panel user that the account had; what it missed the next synchronisation finds.
  { table: 'panel_events', column: 'user_id', on: 'delete' },

  { table: 'user_promo_groups', column: 'user_id', on: 'move_distinct', key: ['promo_group_id'] },

  { table: 'advertising_campaigns', column: 'partner_user_id', on: 'move' },
  { table: 'button_click_logs', column: 'user_id', on: 'move' },
  // An account reserves its discount for one open invoice: the primary's stays reserved.
  {
    table: 'guest_purchases',
    column: 'buyer_user_id',
    on: 'move_distinct',
    key: [],
    where: 'r.reserves_offer',
    closes: 'reserves_offer = false',
  },
  { table: 'guest_purchases', column: 'user_id', on: 'move' },
  { table: 'media_files', column: 'uploaded_by', on: 'move' },
  { table: 'promo_offer_logs', column: 'user_id', on: 'move' },
  { table: 'promo_offer_broadcasts', column: 'named_user_id', on: 'move' },
  { table: 'promocode_activations', column: 'user_id', on: 'move' },
  { table: 'support_audit_logs', column: 'target_user_id', on: 'move' },
  { table: 'ticket_messages', column: 'user_id', on: 'move' },
  { table: 'ticket_notifications', column: 'user_id', on: 'move' },
  { table: 'tickets', column: 'user_id', on: 'move' },
  { table: 'wheel_spins', column: 'user_id', on: 'move' },
  { table: 'withdrawal_requests', column: 'user_id', on: 'move' },
  { table: 'approvals', column: 'user_id', on: 'move' },

  // Referrer and referral of an earning. Earnings of the two from each other are deleted before (`merge-accounts.ts`).
  {
    table: 'referral_earnings',
    column: 'user_id',
    on: 'move_distinct',
    key: ['referral_id'],
    where: "r.reason = 'referral_registration_pending'",
  },
  {
    table: 'referral_earnings',
    column: 'referral_id',
    on: 'move_distinct',
    key: ['user_id'],
    where: "r.reason = 'referral_registration_pending'",
  },
  {
    table: 'discount_offers',
    column: 'user_id',
    on: 'move_distinct',
    key: ['notification_type'],
    where: 'r.is_active AND r.claimed_at IS NULL',
    closes: 'is_active = false',
  },
  { table: 'partner_applications', column: 'user_id', on: 'move_distinct', key: [], where: "r.status = 'pending'" },
  // The prize of an attempt that goes stays where it is. One that has won does not go for one that has not (`merge-accounts.ts`).
  { table: 'contest_attempts', column: 'user_id', on: 'move_distinct', key: ['round_id'] },
  { table: 'poll_responses', column: 'user_id', on: 'move_distinct', key: ['poll_id'] },
  // Events of the two about each other are deleted before, and the sums of the primary are renewed afterwards (`merge-accounts.ts`).
  { table: 'referral_contest_events', column: 'referral_id', on: 'move_distinct', key: ['contest_id'] },
  { table: 'referral_contest_events', column: 'referrer_id', on: 'move' },
  { table: 'promocode_uses', column: 'user_id', on: 'move_distinct', key: ['promocode_id'] },
  {
    table: 'advertising_campaign_registrations',
    column: 'user_id',
    on: 'move_distinct',
    key: ['campaign_id'],
    isOnePerUser: true,
  },

  { table: 'user_roles', column: 'user_id', on: 'delete' },
  { table: 'lifted_denials', column: 'user_id', on: 'move' },

  { table: 'user_roles', column: 'assigned_by', on: 'clear' },
  { table: 'admin_roles', column: 'created_by', on: 'clear' },
  { table: 'access_policies', column: 'created_by', on: 'clear' },
  { table: 'advertising_campaigns', column: 'created_by', on: 'clear' },
  { table: 'partner_applications', column: 'processed_by', on: 'clear' },
  { table: 'polls', column: 'created_by', on: 'clear' },
  { table: 'promo_offer_broadcasts', column: 'created_by', on: 'clear' },
  { table: 'promo_offer_templates', column: 'created_by', on: 'clear' },
  { table: 'promocodes', column: 'created_by', on: 'clear' },
  { table: 'support_audit_logs', column: 'actor_user_id', on: 'clear' },
  { table: 'referral_contests', column: 'created_by', on: 'clear' },
  { table: 'ticket_messages', column: 'admin_user_id', on: 'clear' },
  { table: 'user_messages', column: 'created_by', on: 'clear' },
  { table: 'welcome_texts', column: 'created_by', on: 'clear' },
  { table: 'withdrawal_requests', column: 'first_approved_by', on: 'clear' },
  { table: 'withdrawal_requests', column: 'processed_by', on: 'clear' },

  { table: 'admin_audit_log', column: 'user_id', on: 'stay', why: 'append-only: who acted then is not rewritten (spec 01 H7)' },
  { table: 'audit_links', column: 'user_id', on: 'stay', why: 'append-only, with the entries of the audit log' },
  // One who asked and one who decided may be merged later: their two columns must not become one person.
  { table: 'approvals', column: 'requester_id', on: 'stay', why: 'who asked; accounts of one person are found by their merges' },
  { table: 'approvals', column: 'decided_by', on: 'stay', why: 'who decided then' },
  { table: 'account_merges', column: 'primary_user_id', on: 'stay', why: 'the record of an earlier merge' },
  { table: 'account_merges', column: 'secondary_user_id', on: 'stay', why: 'the record of an earlier merge' },
  { table: 'data_requests', column: 'user_id', on: 'stay', why: 'what was asked for by the account that asked' },
  { table: 'domain_events', column: 'user_id', on: 'stay', why: 'delivered already, to the sockets of the former account' },
  { table: 'ledger_accounts', column: 'user_id', on: 'stay', why: 'entries never change; those of the emptied wallet stay' },
  { table: 'referral_debts', column: 'user_id', on: 'stay', why: 'added to that of the primary (`merge-accounts.ts`)' },
  { table: 'referrer_days', column: 'user_id', on: 'stay', why: 'maintained by triggers' },
  { table: 'referral_contest_scores', column: 'referrer_id', on: 'stay', why: 'maintained by triggers' },
  { table: 'referrer_stats', column: 'user_id', on: 'stay', why: 'maintained by triggers' },
  { table: 'user_stats', column: 'user_id', on: 'stay', why: 'maintained by triggers' },
  { table: 'user_traffic', column: 'user_id', on: 'stay', why: 'maintained by triggers' },
  { table: 'branch_sales', column: 'user_id', on: 'stay', why: 'maintained by triggers and by the counting job' },
  { table: 'payers', column: 'user_id', on: 'stay', why: 'maintained by triggers and by the counting job' },
  { table: 'panel_traffic_users', column: 'user_id', on: 'stay', why: "a copy of the panel's counters for minutes" },
  { table: 'panel_user_details', column: 'user_id', on: 'stay', why: "a copy of the panel's counters for minutes" },
];

/**
 * SQL: of two pinned messages the one in the chat of the messenger account that remains, then the one that is still pinned, then the newer one.
 * The other one is in a chat that is no longer the user's, or was unpinned.
 */
function isMoreAdvancedDelivery(secondary: string, primary: string): string {
  const messengerId = `(SELECT coalesce(a.messenger_id, b.messenger_id) FROM users a, users b WHERE a.id = ${primary}.user_id AND b.id = ${secondary}.user_id)`;
  const rank = (row: string) => `(${row}.chat_id IS NOT DISTINCT FROM ${messengerId}, ${row}.is_pinned, ${row}.sent_at)`;
  return `${rank(secondary)} > ${rank(primary)}`;
}
