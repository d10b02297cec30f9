import { z } from 'zod';
import { Moment } from '../../shared.schemas.ts';

/** Lists and pages of the contract group `Cabinet Admin Users` (spec 01 section 11.1). */

export const AdminUserPath = z.object({ user_id: z.int() });

export const AdminMessengerPath = z.object({ messenger_id: z.int() });

export const AdminUserListQuery = z.object({
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).max(200).default(50),
  search: z.string().max(255).nullish(),
  email: z.string().max(255).nullish(),
  status: z.enum(['active', 'blocked', 'deleted']).nullish(),
  sort_by: z.enum(['created_at', 'balance', 'traffic', 'last_activity', 'total_spent', 'purchase_count']).default('created_at'),
});

const PageQuery = z.object({
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).max(200).default(50),
});

export const UserReferralsInput = AdminUserPath.extend(PageQuery.shape);

export const UserTransactionsInput = UserReferralsInput.extend({ transaction_type: z.string().nullish() });

export const UserListItem = z
  .object({
    id: z.int(),
    messenger_id: z.int().nullish(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
    full_name: z.string(),
    status: z.string(),
    balance_kopeks: z.int(),
    balance_rubles: z.number(),
    created_at: Moment,
    last_activity: Moment.nullish(),
    has_subscription: z.boolean().default(false),
    subscription_status: z.string().nullish(),
    subscription_is_trial: z.boolean().default(false),
    subscription_end_date: Moment.nullish(),
    promo_group_id: z.int().nullish(),
    promo_group_name: z.string().nullish(),
    total_spent_kopeks: z.int().default(0),
    purchase_count: z.int().default(0),
    has_restrictions: z.boolean().default(false),
    restriction_topup: z.boolean().default(false),
    restriction_subscription: z.boolean().default(false),
  })
  .meta({ id: 'UserListItem' });

export const UsersListResponse = z
  .object({
    users: z.array(UserListItem),
    total: z.int(),
    offset: z.int().default(0),
    limit: z.int().default(50),
  })
  .meta({ id: 'UsersListResponse' });

export const UsersStatsResponse = z
  .object({
    total_users: z.int().default(0),
    active_users: z.int().default(0),
    blocked_users: z.int().default(0),
    deleted_users: z.int().default(0),
    new_today: z.int().default(0),
    new_week: z.int().default(0),
    new_month: z.int().default(0),
    users_with_subscription: z.int().default(0),
    users_with_active_subscription: z.int().default(0),
    users_with_trial: z.int().default(0),
    users_with_expired_subscription: z.int().default(0),
    total_balance_kopeks: z.int().default(0),
    total_balance_rubles: z.number().default(0),
    avg_balance_kopeks: z.int().default(0),
    active_today: z.int().default(0),
    active_week: z.int().default(0),
    active_month: z.int().default(0),
  })
  .meta({ id: 'UsersStatsResponse' });

export const AdminUserGiftItem = z
  .object({
    id: z.int(),
    token: z.string(),
    status: z.string(),
    tariff_name: z.string().nullish(),
    period_days: z.int(),
    device_limit: z.int().default(1),
    amount_kopeks: z.int(),
    payment_method: z.string().nullish(),
    gift_recipient_type: z.string().nullish(),
    gift_recipient_value: z.string().nullish(),
    gift_message: z.string().nullish(),
    buyer_user_id: z.int().nullish(),
    buyer_username: z.string().nullish(),
    buyer_full_name: z.string().nullish(),
    receiver_user_id: z.int().nullish(),
    receiver_username: z.string().nullish(),
    receiver_full_name: z.string().nullish(),
    created_at: Moment.nullish(),
    paid_at: Moment.nullish(),
    delivered_at: Moment.nullish(),
  })
  .meta({ id: 'AdminUserGiftItem' });

export const AdminUserGiftsResponse = z
  .object({
    sent: z.array(AdminUserGiftItem).default([]),
    received: z.array(AdminUserGiftItem).default([]),
    sent_total: z.int().default(0),
    received_total: z.int().default(0),
  })
  .meta({ id: 'AdminUserGiftsResponse' });

export const AvailableTariffsInput = AdminUserPath.extend({ include_inactive: z.boolean().default(false) });

export const PeriodPriceInfo = z
  .object({ days: z.int(), price_kopeks: z.int(), price_rubles: z.number() })
  .meta({ id: 'PeriodPriceInfo' });

export const UserAvailableTariffItem = z
  .object({
    id: z.int(),
    name: z.string(),
    description: z.string().nullish(),
    is_active: z.boolean().default(true),
    is_trial_available: z.boolean().default(false),
    traffic_limit_gb: z.int().default(0),
    device_limit: z.int().default(1),
    tier_level: z.int().default(1),
    display_order: z.int().default(0),
    period_prices: z.array(PeriodPriceInfo).default([]),
    is_daily: z.boolean().default(false),
    daily_price_kopeks: z.int().default(0),
    custom_days_enabled: z.boolean().default(false),
    price_per_day_kopeks: z.int().default(0),
    min_days: z.int().default(1),
    max_days: z.int().default(365),
    device_price_kopeks: z.int().nullish(),
    max_device_limit: z.int().nullish(),
    traffic_topup_enabled: z.boolean().default(false),
    traffic_topup_packages: z.record(z.string(), z.int()).default({}),
    max_topup_traffic_gb: z.int().default(0),
    is_available: z.boolean().default(true),
    requires_promo_group: z.boolean().default(false),
  })
  .meta({ id: 'UserAvailableTariffItem' });

export const UserAvailableTariffsResponse = z
  .object({
    user_id: z.int(),
    promo_group_id: z.int().nullish(),
    promo_group_name: z.string().nullish(),
    tariffs: z.array(UserAvailableTariffItem).default([]),
    total: z.int().default(0),
    current_tariff_id: z.int().nullish(),
    current_tariff_name: z.string().nullish(),
  })
  .meta({ id: 'UserAvailableTariffsResponse' });
