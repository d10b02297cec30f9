/** Rows as the interface shows them; the benchmark compares the bytes with the service's own before it measures. */

export interface TransactionRow {
  id: number;
  user_id: number;
  type: string;
  amount_kopeks: number;
  description: string | null;
  payment_method: string | null;
  external_id: string | null;
  is_completed: boolean;
  created_at: Date;
  completed_at: Date | null;
}

export function toTransactionJson(row: TransactionRow) {
  return {
    id: row.id,
    user_id: row.user_id,
    type: row.type,
    amount_kopeks: row.amount_kopeks,
    amount_rubles: row.amount_kopeks / 100,
    description: row.description,
    payment_method: row.payment_method,
    external_id: row.external_id,
    is_completed: row.is_completed,
    created_at: row.created_at,
    completed_at: row.completed_at,
  };
}

export interface UserRow {
  id: number;
  messenger_id: number | null;
  username: string | null;
  first_name: string | null;
  last_name: string | null;
  status: string;
  language: string;
  balance_kopeks: number;
  referral_code: string;
  referred_by_id: number | null;
  has_had_paid_subscription: boolean;
  has_made_first_topup: boolean;
  created_at: Date;
  updated_at: Date;
  last_activity: Date | null;
  group_id: number | null;
  group_name: string;
  server_discount_percent: number;
  traffic_discount_percent: number;
  device_discount_percent: number;
  apply_discounts_to_addons: boolean;
  subscription_id: number | null;
  subscription_status: string;
  is_trial: boolean;
  start_date: Date;
  end_date: Date;
  traffic_limit_gb: number;
  traffic_used_gb: number;
  device_limit: number;
  autopay_enabled: boolean;
  autopay_days_before: number | null;
  subscription_url: string | null;
  subscription_crypto_link: string | null;
  connected_squads: string[];
}

export function toUserJson(row: UserRow) {
  return {
    id: row.id,
    messenger_id: row.messenger_id,
    username: row.username,
    first_name: row.first_name,
    last_name: row.last_name,
    status: row.status,
    language: row.language,
    balance_kopeks: row.balance_kopeks,
    balance_rubles: row.balance_kopeks / 100,
    referral_code: row.referral_code,
    referred_by_id: row.referred_by_id,
    has_had_paid_subscription: row.has_had_paid_subscription,
    has_made_first_topup: row.has_made_first_topup,
    created_at: row.created_at,
    updated_at: row.updated_at,
    last_activity: row.last_activity,
    promo_group: row.group_id === null ? null : groupJson(row),
    subscription: row.subscription_id === null ? null : subscriptionJson(row),
  };
}

function groupJson(row: UserRow) {
  return {
    id: row.group_id,
    name: row.group_name,
    server_discount_percent: row.server_discount_percent,
    traffic_discount_percent: row.traffic_discount_percent,
    device_discount_percent: row.device_discount_percent,
    apply_discounts_to_addons: row.apply_discounts_to_addons,
  };
}

function subscriptionJson(row: UserRow) {
  return {
    id: row.subscription_id,
    status: row.subscription_status,
    // The benchmark's subscriptions do not end during the run.
    actual_status: row.subscription_status,
    is_trial: row.is_trial,
    start_date: row.start_date,
    end_date: row.end_date,
    traffic_limit_gb: row.traffic_limit_gb,
    traffic_used_gb: row.traffic_used_gb,
    device_limit: row.device_limit,
    autopay_enabled: row.autopay_enabled,
    autopay_days_before: row.autopay_days_before,
    subscription_url: row.subscription_url,
    subscription_crypto_link: row.subscription_crypto_link,
    connected_squads: row.connected_squads,
  };
}

/** The signed-in user as `me` shows them. */
export interface AccountRow {
  id: number;
  messenger_id: number | null;
  username: string | null;
  first_name: string | null;
  last_name: string | null;
  email: string | null;
  email_verified: boolean;
  balance_kopeks: number;
  referral_code: string;
  language: string;
  created_at: Date;
  auth_type: string;
}

export function toAccountJson(row: AccountRow) {
  return {
    id: row.id,
    messenger_id: row.messenger_id,
    username: row.username,
    first_name: row.first_name,
    last_name: row.last_name,
    email: row.email,
    email_verified: row.email_verified,
    balance_kopeks: row.balance_kopeks,
    balance_rubles: row.balance_kopeks / 100,
    referral_code: row.referral_code,
    language: row.language,
    created_at: row.created_at,
    auth_type: row.auth_type,
  };
}

/** A user in an administrator's list. */
export interface ListedRow {
  id: number;
  messenger_id: number | null;
  username: string | null;
  first_name: string | null;
  last_name: string | null;
  status: string;
  balance_kopeks: number;
  created_at: Date;
  last_activity: Date | null;
  restriction_topup: boolean;
  restriction_subscription: boolean;
  subscription_status: string | null;
  subscription_is_trial: boolean;
  subscription_end_date: Date | null;
  promo_group_id: number | null;
  promo_group_name: string | null;
  total_spent_kopeks: number;
  purchase_count: number;
}

export function toListedJson(row: ListedRow) {
  return {
    id: row.id,
    messenger_id: row.messenger_id,
    username: row.username,
    first_name: row.first_name,
    last_name: row.last_name,
    full_name: `${row.first_name} ${row.last_name}`,
    status: row.status,
    balance_kopeks: row.balance_kopeks,
    balance_rubles: row.balance_kopeks / 100,
    created_at: row.created_at,
    last_activity: row.last_activity,
    has_subscription: row.subscription_status !== null,
    subscription_status: row.subscription_status,
    subscription_is_trial: row.subscription_is_trial,
    subscription_end_date: row.subscription_end_date,
    promo_group_id: row.promo_group_id,
    promo_group_name: row.promo_group_name,
    total_spent_kopeks: row.total_spent_kopeks,
    purchase_count: row.purchase_count,
    has_restrictions: row.restriction_topup || row.restriction_subscription,
    restriction_topup: row.restriction_topup,
    restriction_subscription: row.restriction_subscription,
  };
}
