import { z } from 'zod';
import { Timestamp } from '../../shared.schemas.ts';

/** One user of the contract group `Cabinet Admin Users`. */

const TrafficPurchaseItem = z
  .object({
    id: z.int().describe('Id of the purchase of traffic.'),
    traffic_gb: z.int().describe('Traffic in GB.'),
    expires_at: Timestamp.describe('When the purchased traffic expires (UTC): 30 days after the purchase.'),
    created_at: Timestamp.describe('When the traffic was bought (UTC).'),
    days_remaining: z.int().describe('Whole days until the purchased traffic expires.'),
    is_expired: z.boolean().describe('Whether the purchased traffic has expired.'),
  })
  .meta({ id: 'TrafficPurchaseItem' });

export const UserSubscriptionInfo = z
  .object({
    id: z.int().describe('Id of the subscription.'),
    status: z
      .string()
      .describe(
        'Stored status of the subscription: `active` (trials included), `pending` (ordered, not paid), `expired` (the end has passed), `limited` (traffic used up), `disabled` (access withdrawn) or `trial` (older trials).',
      ),
    is_trial: z.boolean().describe('Whether the subscription is a trial.'),
    start_date: Timestamp.nullish().describe('Start of the subscription (UTC); null when unknown.'),
    end_date: Timestamp.nullish().describe('End of the subscription (UTC); null when there is none.'),
    traffic_limit_gb: z.int().default(0).describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
    traffic_used_gb: z.number().default(0).describe('Traffic used since the last reset in GB, as the panel reports it.'),
    device_limit: z.int().default(1).describe('Number of devices that may be connected.'),
    tariff_id: z.int().nullish().describe('Id of the tariff; null for none.'),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
    autopay_enabled: z.boolean().default(false).describe('Whether the subscription is renewed automatically from the balance.'),
    is_active: z
      .boolean()
      .default(false)
      .describe('Whether the subscription gives access now: status `active` and an end in the future.'),
    days_remaining: z.int().default(0).describe('Whole days until the purchased traffic expires.'),
    purchased_traffic_gb: z.int().default(0).describe('Traffic of the packages that are still valid, in GB; part of the limit.'),
    traffic_purchases: z.array(TrafficPurchaseItem).default([]).describe('Traffic packages bought on top of the limit.'),
  })
  .meta({ id: 'UserSubscriptionInfo' });

const UserPromoGroupInfo = z
  .object({
    id: z.int().describe('Id of the promo group.'),
    name: z.string().describe('Name of the promo group of the user.'),
    is_default: z.boolean().default(false).describe('Whether it is the default group.'),
  })
  .meta({ id: 'UserPromoGroupInfo' });

const UserReferralInfo = z
  .object({
    referral_code: z.string().describe('Code of the account for invitations.'),
    referrals_count: z.int().default(0).describe('Number of referrals.'),
    total_earnings_kopeks: z.int().default(0).describe('All rewards in kopeks.'),
    commission_percent: z
      .number()
      .nullish()
      .describe('Share of top-ups of referrals that is credited, percent; null for the general one.'),
    referred_by_id: z.int().nullish().describe('Internal id of the user who invited this one; null for none.'),
    referred_by_username: z.string().nullish().describe('User name of the inviting user; null when there is none.'),
  })
  .meta({ id: 'UserReferralInfo' });

const UserTransactionItem = z
  .object({
    id: z.int().describe('Id of the movement.'),
    type: z
      .string()
      .describe(
        'Kind of movement: `deposit` (top-up), `withdrawal` (payout of referral earnings), `subscription_payment` (purchase or renewal), `refund`, `referral_reward`, `poll_reward` or `gift_payment` (gift bought from the balance).',
      ),
    amount_kopeks: z.int().describe('Amount in kopeks; negative for purchases, gifts and withdrawals.'),
    amount_rubles: z.number().describe('Amount in rubles: kopeks / 100, with two decimals.'),
    description: z.string().nullish().describe('What the movement was for; null when nothing was recorded.'),
    payment_method: z.string().nullish().describe('How it was paid: id of a provider, `balance` or `manual`; null for bonuses.'),
    is_completed: z.boolean().default(true).describe('Whether it is finished.'),
    created_at: Timestamp.describe('When the movement was recorded (UTC).'),
  })
  .meta({ id: 'UserTransactionItem' });

export const UserDetailResponse = z
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
    language: z.string().describe('Two-letter language code, for example `ru` or `en`.'),
    balance_kopeks: z.int().describe('Balance in kopeks; never negative.'),
    balance_rubles: z.number().describe('Balance in rubles: kopeks / 100.'),
    email: z.string().nullish().describe('E-mail address; null when the account has none.'),
    email_verified: z.boolean().default(false).describe('Whether the address is verified.'),
    created_at: Timestamp.describe('When the account was created (UTC).'),
    updated_at: Timestamp.nullish().describe('When the account was last changed (UTC).'),
    last_activity: Timestamp.nullish().describe('When the user last used the service (UTC); null when never.'),
    cabinet_last_login: Timestamp.nullish().describe('Last sign-in to the cabinet (UTC); null when there was none.'),
    subscription: UserSubscriptionInfo.nullish().describe('The subscription; null when there is none.'),
    promo_group: UserPromoGroupInfo.nullish().describe('Primary promo group of the user; null for none.'),
    referral: UserReferralInfo.describe('Referral programme of the user.'),
    total_spent_kopeks: z.int().default(0).describe('Sum of all completed payments for subscriptions, kopeks.'),
    purchase_count: z.int().default(0).describe('Number of completed payments for subscriptions.'),
    used_promocodes: z.int().default(0).describe('Number of promo codes used.'),
    has_had_paid_subscription: z.boolean().default(false).describe('Whether the user ever paid for a subscription.'),
    lifetime_used_traffic_bytes: z.int().default(0).describe('All traffic ever used in bytes.'),
    restriction_topup: z.boolean().default(false).describe('Whether topping up is forbidden.'),
    restriction_subscription: z.boolean().default(false).describe('Whether buying and renewing is forbidden.'),
    restriction_reason: z.string().nullish().describe('Why it is forbidden, up to 500 characters; null for no reason.'),
    promo_offer_discount_percent: z.int().default(0).describe('Personal discount in percent; 0 for none.'),
    promo_offer_discount_source: z.string().nullish().describe('Where the personal discount came from; null for none.'),
    promo_offer_discount_expires_at: Timestamp.nullish().describe('End of the personal discount (UTC); null for no end.'),
    campaign_name: z.string().nullish().describe('Name of the campaign; null for none.'),
    campaign_id: z.int().nullish().describe('Id of the campaign; null for none.'),
    recent_transactions: z.array(UserTransactionItem).default([]).describe('The newest 20 movements.'),
    vpnpanel_uuid: z.string().nullish().describe('UUID of the user in the panel; null while there is none.'),
  })
  .meta({ id: 'UserDetailResponse' });

/** Untyped in the contract; spec 01 section 11.1 names the keys. */
export const UserTransactionsAnswer = z.object({
  transactions: z.array(UserTransactionItem).describe('Movements of this page, newest first.'),
  total: z.int().describe('Number of movements of money of the user that match the filters, on all pages.'),
  offset: z.int().describe('Number of records skipped before this page.'),
  limit: z.int().describe('Page size that was applied.'),
});
