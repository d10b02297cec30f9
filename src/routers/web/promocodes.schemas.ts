import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';
import { Moment } from '../shared.schemas.ts';

/** Contract group `promo-codes` (spec 04 section 7). */

export const PromocodeTypeField = z.enum(['balance', 'subscription_days', 'trial_subscription', 'promo_group', 'discount']);

export const PromocodePath = z.object({ promocode_id: z.int() });

export const PromocodeListQuery = z.object({
  limit: z.int().min(1).max(200).default(50),
  offset: z.int().min(0).default(0),
  is_active: z.boolean().nullish(),
});

export const PromoCodeResponse = z
  .object({
    id: z.int(),
    code: z.string(),
    type: PromocodeTypeField,
    balance_bonus_kopeks: z.int(),
    balance_bonus_rubles: z.number(),
    subscription_days: z.int(),
    max_uses: z.int(),
    current_uses: z.int(),
    uses_left: z.int(),
    is_active: z.boolean(),
    is_valid: z.boolean(),
    valid_from: Moment,
    valid_until: Moment.nullish(),
    created_by: z.int().nullish(),
    created_at: Moment,
    updated_at: Moment,
  })
  .meta({ id: 'PromoCodeResponse' });

export const PromoCodeListResponse = z
  .object({ items: PromoCodeResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'PromoCodeListResponse' });

export const PromocodeUseFields = z.object({
  id: z.int(),
  user_id: z.int(),
  user_username: z.string().nullish(),
  user_full_name: z.string().nullish(),
  user_messenger_id: z.int().nullish(),
  used_at: Moment,
});

export const PromoCodeRecentUse = PromocodeUseFields.meta({ id: 'PromoCodeRecentUse' });

export const PromoCodeDetailResponse = PromoCodeResponse.extend({
  total_uses: z.int(),
  today_uses: z.int(),
  recent_uses: PromoCodeRecentUse.array().default([]),
}).meta({ id: 'PromoCodeDetailResponse' });

export const PROMOCODE_EXAMPLE = {
  code: 'SPRING',
  type: 'balance',
  balance_bonus_kopeks: 10_000,
  subscription_days: 0,
  max_uses: 100,
  is_active: true,
};

export const PromoCodeCreateRequest = z
  .object({
    code: z.string(),
    type: PromocodeTypeField,
    balance_bonus_kopeks: z.int().default(0),
    subscription_days: z.int().default(0),
    max_uses: z.int().min(0).default(1),
    valid_from: MomentInput.nullish(),
    valid_until: MomentInput.nullish(),
    is_active: z.boolean().default(true),
    created_by: z.int().nullish(),
  })
  .meta({ id: 'PromoCodeCreateRequest', example: PROMOCODE_EXAMPLE });

export const PromoCodeUpdateRequest = z
  .object({
    code: z.string().nullish(),
    type: PromocodeTypeField.nullish(),
    balance_bonus_kopeks: z.int().nullish(),
    subscription_days: z.int().nullish(),
    max_uses: z.int().min(0).nullish(),
    valid_from: MomentInput.nullish(),
    valid_until: MomentInput.nullish(),
    is_active: z.boolean().nullish(),
  })
  .meta({ id: 'PromoCodeUpdateRequest', example: PROMOCODE_EXAMPLE });
