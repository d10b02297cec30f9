import { z } from 'zod';
import { Timestamp } from '../../shared.schemas.ts';

/** Lists and pages of the contract group `Cabinet Admin Users`. */

export const AdminUserPath = z.object({ user_id: z.int().describe('Internal id of the user.') });

export const AdminMessengerPath = z.object({ messenger_id: z.int().describe('Id of the user in the messenger.') });

export const AdminUserListQuery = z.object({
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  search: z.string().max(255).nullish().describe('Text in user name, first or last name; digits also match the messenger id.'),
  email: z.string().max(255).nullish().describe('Only users whose e-mail address contains this text.'),
  status: z
    .enum(['active', 'blocked', 'deleted'])
    .nullish()
    .describe('Only accounts with this status: `active`, `blocked` or `deleted`; null for all.'),
  sort_by: z
    .enum(['created_at', 'balance', 'traffic', 'last_activity', 'total_spent', 'purchase_count'])
    .default('created_at')
    .describe('Field to sort by, greatest first.'),
});

const PageQuery = z.object({
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
});

export const UserReferralsInput = AdminUserPath.extend(PageQuery.shape);

export const UserTransactionsInput = UserReferralsInput.extend({
  transaction_type: z.string().nullish().describe('Only movements of this type.'),
});

const UserListItem = z
  .object({
    id: z.int().describe('Internal id of the user.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    last_name: z.string().nullish().describe('Last name; null when unknown.'),
    full_name: z.string().describe('First and last name, else the user name, else a text with the id.'),
    status: z
      .string()
      .describe(
        'Status of the account: `active`, `blocked` (by an administrator; every request of the user is refused) or `deleted`.',
      ),
    balance_kopeks: z.int().describe('Balance in kopeks; never negative.'),
    balance_rubles: z.number().describe('Balance in rubles: kopeks / 100.'),
    created_at: Timestamp.describe('When the account was created (UTC).'),
    last_activity: Timestamp.nullish().describe('When the user last used the service (UTC); null when never.'),
    has_subscription: z.boolean().default(false).describe('Whether the user has a subscription.'),
    subscription_status: z.string().nullish().describe('Status of the subscription; null when there is none.'),
    subscription_is_trial: z.boolean().default(false).describe('Whether the subscription is a trial.'),
    subscription_end_date: Timestamp.nullish().describe('When the subscription ends (UTC); null when there is none.'),
    promo_group_id: z.int().nullish().describe('Id of the promo group; null for none.'),
    promo_group_name: z.string().nullish().describe('Name of the primary promo group; null for none.'),
    total_spent_kopeks: z.int().default(0).describe('Sum of all completed payments for subscriptions, kopeks.'),
    purchase_count: z.int().default(0).describe('Number of completed payments for subscriptions.'),
    has_restrictions: z.boolean().default(false).describe('Whether topping up or buying is forbidden to the user.'),
    restriction_topup: z.boolean().default(false).describe('Whether topping up is forbidden.'),
    restriction_subscription: z.boolean().default(false).describe('Whether buying and renewing is forbidden.'),
  })
  .meta({ id: 'UserListItem' });

export const UsersListResponse = z
  .object({
    users: z.array(UserListItem).describe('Users of this page.'),
    total: z.int().describe('Number of users that match the filters, on all pages.'),
    offset: z.int().default(0).describe('Number of records skipped before this page.'),
    limit: z.int().default(50).describe('Page size that was applied.'),
  })
  .meta({ id: 'UsersListResponse' });

export const UsersStatsResponse = z
  .object({
    total_users: z.int().default(0).describe('Number of all users.'),
    active_users: z.int().default(0).describe('Number of users with status `active`.'),
    blocked_users: z.int().default(0).describe('Number of users with another status, deleted ones included.'),
    deleted_users: z.int().default(0).describe('Number of users with status `deleted`.'),
    new_today: z.int().default(0).describe('Active users created since 00:00 UTC.'),
    new_week: z.int().default(0).describe('Active users created in the last 7 days.'),
    new_month: z.int().default(0).describe('Active users created in the last 30 days.'),
    users_with_subscription: z.int().default(0).describe('Users who have a subscription.'),
    users_with_active_subscription: z.int().default(0).describe('Users whose subscription gives access now.'),
    users_with_trial: z.int().default(0).describe('Users whose subscription is a trial.'),
    users_with_expired_subscription: z.int().default(0).describe('Users whose subscription has ended.'),
    total_balance_kopeks: z.int().default(0).describe('Sum of the balances of active users, kopeks.'),
    total_balance_rubles: z.number().default(0).describe('Sum of the balances of active users, rubles.'),
    avg_balance_kopeks: z.int().default(0).describe('Mean balance of active users, kopeks, rounded down.'),
    active_today: z.int().default(0).describe('Users active since 00:00 UTC.'),
    active_week: z.int().default(0).describe('Users active in the last 7 days.'),
    active_month: z.int().default(0).describe('Users active in the last 30 days.'),
  })
  .meta({ id: 'UsersStatsResponse' });

const AdminUserGiftItem = z
  .object({
    id: z.int().describe('Id of the gift.'),
    token: z.string().describe('First characters of the token of the purchase.'),
    status: z
      .string()
      .describe(
        'State of the gift: `pending` (not paid), `paid` (money received, access not given yet), `pending_activation` (the recipient has a running subscription and must agree), `delivered`, `failed` or `expired`.',
      ),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
    period_days: z.int().describe('Length of the period in days.'),
    device_limit: z.int().default(1).describe('Number of devices that may be connected.'),
    amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
    payment_method: z.string().nullish().describe('How it was paid: id of a provider, `balance` or `manual`; null for bonuses.'),
    gift_recipient_type: z
      .string()
      .nullish()
      .describe('How the recipient is reached: `email` or `messenger`; required for a gift, null otherwise.'),
    gift_recipient_value: z
      .string()
      .nullish()
      .describe('E-mail address or user name of the recipient; required for a gift, null otherwise.'),
    gift_message: z.string().nullish().describe('Message to the recipient; null for none.'),
    buyer_user_id: z.int().nullish().describe('Internal id of the buyer; null for a buyer without account.'),
    buyer_username: z.string().nullish().describe('User name of the buyer; null when there is none.'),
    buyer_full_name: z.string().nullish().describe('Name of the buyer; null when unknown.'),
    receiver_user_id: z.int().nullish().describe('Internal id of the recipient; null for a recipient without account.'),
    receiver_username: z.string().nullish().describe('User name of the recipient; null when there is none.'),
    receiver_full_name: z.string().nullish().describe('Name of the recipient; null when unknown.'),
    created_at: Timestamp.nullish().describe('When the gift was created (UTC).'),
    paid_at: Timestamp.nullish().describe('When the payment arrived (UTC); null while it has not.'),
    delivered_at: Timestamp.nullish().describe('When it was delivered (UTC); null while it was not.'),
  })
  .meta({ id: 'AdminUserGiftItem' });

export const AdminUserGiftsResponse = z
  .object({
    sent: z.array(AdminUserGiftItem).default([]).describe('Gifts that the user bought, newest first, at most 200.'),
    received: z.array(AdminUserGiftItem).default([]).describe('Gifts that the user received, newest first, at most 200.'),
    sent_total: z.int().default(0).describe('Number of all gifts that the user bought.'),
    received_total: z.int().default(0).describe('Number of all gifts that the user received.'),
  })
  .meta({ id: 'AdminUserGiftsResponse' });

export const AvailableTariffsInput = AdminUserPath.extend({
  include_inactive: z.boolean().default(false).describe('Whether inactive records are listed too.'),
});

const PeriodPriceInfo = z
  .object({
    days: z.int().describe('Length of the period in days.'),
    price_kopeks: z.int().describe('Price in kopeks, after discounts.'),
    price_rubles: z.number().describe('Price in rubles: kopeks / 100.'),
  })
  .meta({ id: 'PeriodPriceInfo' });

const UserAvailableTariffItem = z
  .object({
    id: z.int().describe('Id of the tariff.'),
    name: z.string().describe('Name of the tariff, shown to the user.'),
    description: z.string().nullish().describe('Text about the tariff, shown to users; null for none.'),
    is_active: z
      .boolean()
      .default(true)
      .describe('Whether the tariff is on sale; other tariffs are listed only with `include_inactive`.'),
    is_trial_available: z.boolean().default(false).describe('Whether trials use this tariff; at most one tariff does.'),
    traffic_limit_gb: z.int().default(0).describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
    device_limit: z.int().default(1).describe('Number of devices that may be connected.'),
    tier_level: z.int().default(1).describe('Class of the tariff, 1 to 10, for display only.'),
    display_order: z.int().default(0).describe('Place in the list; smaller numbers come first.'),
    period_prices: z.array(PeriodPriceInfo).default([]).describe('Periods on sale with their prices.'),
    is_daily: z.boolean().default(false).describe('Whether the tariff is charged by the day.'),
    daily_price_kopeks: z.int().default(0).describe('Price of one day in kopeks; 0 for a tariff that is not charged by the day.'),
    custom_days_enabled: z
      .boolean()
      .default(false)
      .describe('Whether any number of days between `min_days` and `max_days` can be bought.'),
    price_per_day_kopeks: z.int().default(0).describe('Price of one day of a free choice of days, kopeks.'),
    min_days: z.int().default(1).describe('Smallest number of days of a free choice.'),
    max_days: z.int().default(365).describe('Greatest number of days of a free choice.'),
    device_price_kopeks: z
      .int()
      .nullish()
      .describe('Price of one more device for 30 days in kopeks; null for the price in the settings, 0 when none can be bought.'),
    max_device_limit: z.int().nullish().describe('Greatest number of devices; null for no cap.'),
    traffic_topup_enabled: z
      .boolean()
      .default(false)
      .describe('Whether traffic packages of the tariff can be bought; applies in tariffs mode.'),
    traffic_topup_packages: z
      .record(z.string(), z.int())
      .default({})
      .describe('Traffic packages: GB (as text) to price in kopeks.'),
    max_topup_traffic_gb: z.int().default(0).describe('Maximum of the limit after purchases in GB; 0 for none.'),
    is_available: z.boolean().default(true).describe('Whether the promo group of the user allows the tariff.'),
    requires_promo_group: z
      .boolean()
      .default(false)
      .describe('Whether only members of certain promo groups can have the tariff.'),
  })
  .meta({ id: 'UserAvailableTariffItem' });

export const UserAvailableTariffsResponse = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    promo_group_id: z.int().nullish().describe('Primary promo group of the user; null for none.'),
    promo_group_name: z.string().nullish().describe('Name of the primary promo group; null for none.'),
    tariffs: z.array(UserAvailableTariffItem).default([]).describe('Tariffs in the order of display.'),
    total: z.int().default(0).describe('Number of tariffs in the answer that match the filters.'),
    current_tariff_id: z.int().nullish().describe('Tariff of the user now; null for none.'),
    current_tariff_name: z.string().nullish().describe('Name of that tariff; null for none.'),
  })
  .meta({ id: 'UserAvailableTariffsResponse' });
