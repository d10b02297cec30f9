import { z } from 'zod';
import { Moment, PromoGroupSummary } from '../shared.schemas.ts';

/** Contract group `users` (spec 01 section 10). */

export const UserStatusName = z.enum(['active', 'blocked', 'deleted']);

export const UserListQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  /** `page` and `per_page` replace `limit` and `offset` and have priority over them (spec 00, Credentials). */
  page: z.int().min(1).nullish(),
  per_page: z.int().min(1).max(200).nullish(),
  status: UserStatusName.nullish(),
  promo_group_id: z.int().nullish(),
  search: z.string().nullish(),
});

/** A messenger id, else an internal id. */
export const UserPath = z.object({ user_id: z.int() });

export const MessengerIdPath = z.object({ messenger_id: z.int() });

export const SubscriptionSummary = z
  .object({
    id: z.int(),
    status: z.string(),
    actual_status: z.string(),
    is_trial: z.boolean(),
    start_date: Moment,
    end_date: Moment,
    traffic_limit_gb: z.int(),
    traffic_used_gb: z.number(),
    device_limit: z.int(),
    autopay_enabled: z.boolean(),
    autopay_days_before: z.int().nullish(),
    subscription_url: z.string().nullish(),
    subscription_crypto_link: z.string().nullish(),
    connected_squads: z.array(z.string()).default([]),
  })
  .meta({ id: 'SubscriptionSummary' });

export const UserResponse = z
  .object({
    id: z.int(),
    messenger_id: z.int().nullish(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
    status: z.string(),
    language: z.string(),
    balance_kopeks: z.int(),
    balance_rubles: z.number(),
    referral_code: z.string().nullish(),
    referred_by_id: z.int().nullish(),
    has_had_paid_subscription: z.boolean(),
    has_made_first_topup: z.boolean(),
    created_at: Moment,
    updated_at: Moment,
    last_activity: Moment.nullish(),
    promo_group: PromoGroupSummary.nullish(),
    subscription: SubscriptionSummary.nullish(),
  })
  .meta({ id: 'UserResponse' });

export const UserListResponse = z
  .object({ items: z.array(UserResponse), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'UserListResponse' });

export const UserCreateRequest = z
  .object({
    messenger_id: z.int().nullish(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
    language: z.string().default('ru'),
    referred_by_id: z.int().nullish(),
    promo_group_id: z.int().nullish(),
  })
  .meta({
    id: 'UserCreateRequest',
    example: { messenger_id: 100200300, username: 'anna_k', first_name: 'Anna', language: 'en' },
  });

export const UserUpdateRequest = z
  .object({
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
    language: z.string().nullish(),
    status: z.string().nullish(),
    promo_group_id: z.int().nullish(),
    referral_code: z.string().nullish(),
    has_had_paid_subscription: z.boolean().nullish(),
    has_made_first_topup: z.boolean().nullish(),
  })
  .meta({ id: 'UserUpdateRequest', example: { first_name: 'Anna', language: 'en', promo_group_id: 1 } });

export const BalanceUpdateRequest = z
  .object({
    amount_kopeks: z.int(),
    description: z.string().nullable().default('Корректировка через веб-API'),
    create_transaction: z.boolean().default(true),
  })
  .meta({ id: 'BalanceUpdateRequest' });

export const UserSubscriptionCreateRequest = z
  .object({
    is_trial: z.boolean().default(false),
    duration_days: z.int().nullish(),
    traffic_limit_gb: z.int().nullish(),
    device_limit: z.int().nullish(),
    squad_uuid: z.string().nullish(),
    connected_squads: z.array(z.string()).nullish(),
    replace_existing: z.boolean().default(false),
  })
  .meta({
    id: 'UserSubscriptionCreateRequest',
    example: { duration_days: 30, traffic_limit_gb: 100, device_limit: 2, squad_uuid: '0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77' },
  });
