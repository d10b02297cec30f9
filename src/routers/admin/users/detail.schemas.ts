import { z } from 'zod';
import { Moment } from '../../shared.schemas.ts';

/** One user of the contract group `Cabinet Admin Users` (spec 01 section 11.1). */

export const TrafficPurchaseItem = z
  .object({
    id: z.int(),
    traffic_gb: z.int(),
    expires_at: Moment,
    created_at: Moment,
    days_remaining: z.int(),
    is_expired: z.boolean(),
  })
  .meta({ id: 'TrafficPurchaseItem' });

export const UserSubscriptionInfo = z
  .object({
    id: z.int(),
    status: z.string(),
    is_trial: z.boolean(),
    start_date: Moment.nullish(),
    end_date: Moment.nullish(),
    traffic_limit_gb: z.int().default(0),
    traffic_used_gb: z.number().default(0),
    device_limit: z.int().default(1),
    tariff_id: z.int().nullish(),
    tariff_name: z.string().nullish(),
    autopay_enabled: z.boolean().default(false),
    is_active: z.boolean().default(false),
    days_remaining: z.int().default(0),
    purchased_traffic_gb: z.int().default(0),
    traffic_purchases: z.array(TrafficPurchaseItem).default([]),
  })
  .meta({ id: 'UserSubscriptionInfo' });

export const UserPromoGroupInfo = z
  .object({ id: z.int(), name: z.string(), is_default: z.boolean().default(false) })
  .meta({ id: 'UserPromoGroupInfo' });

export const UserReferralInfo = z
  .object({
    referral_code: z.string(),
    referrals_count: z.int().default(0),
    total_earnings_kopeks: z.int().default(0),
    commission_percent: z.number().nullish(),
    referred_by_id: z.int().nullish(),
    referred_by_username: z.string().nullish(),
  })
  .meta({ id: 'UserReferralInfo' });

export const UserTransactionItem = z
  .object({
    id: z.int(),
    type: z.string(),
    amount_kopeks: z.int(),
    amount_rubles: z.number(),
    description: z.string().nullish(),
    payment_method: z.string().nullish(),
    is_completed: z.boolean().default(true),
    created_at: Moment,
  })
  .meta({ id: 'UserTransactionItem' });

export const UserDetailResponse = z
  .object({
    id: z.int(),
    messenger_id: z.int().nullish(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
    full_name: z.string(),
    status: z.string(),
    language: z.string(),
    balance_kopeks: z.int(),
    balance_rubles: z.number(),
    email: z.string().nullish(),
    email_verified: z.boolean().default(false),
    created_at: Moment,
    updated_at: Moment.nullish(),
    last_activity: Moment.nullish(),
    cabinet_last_login: Moment.nullish(),
    subscription: UserSubscriptionInfo.nullish(),
    promo_group: UserPromoGroupInfo.nullish(),
    referral: UserReferralInfo,
    total_spent_kopeks: z.int().default(0),
    purchase_count: z.int().default(0),
    used_promocodes: z.int().default(0),
    has_had_paid_subscription: z.boolean().default(false),
    lifetime_used_traffic_bytes: z.int().default(0),
    restriction_topup: z.boolean().default(false),
    restriction_subscription: z.boolean().default(false),
    restriction_reason: z.string().nullish(),
    promo_offer_discount_percent: z.int().default(0),
    promo_offer_discount_source: z.string().nullish(),
    promo_offer_discount_expires_at: Moment.nullish(),
    campaign_name: z.string().nullish(),
    campaign_id: z.int().nullish(),
    recent_transactions: z.array(UserTransactionItem).default([]),
    vpnpanel_uuid: z.string().nullish(),
  })
  .meta({ id: 'UserDetailResponse' });

/** Untyped in the contract; spec 01 section 11.1 names the keys. */
export const UserTransactionsAnswer = z.object({
  transactions: z.array(UserTransactionItem),
  total: z.int(),
  offset: z.int(),
  limit: z.int(),
});
