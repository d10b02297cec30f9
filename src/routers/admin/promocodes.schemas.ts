import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';
import { PROMOCODE_EXAMPLE, PromoCodeResponse, PromocodeTypeField, PromocodeUseFields } from '../web/promocodes.schemas.ts';

/** Contract group `Admin Promocodes` (spec 04 section 7). */

export const AdminPromocodeResponse = PromoCodeResponse.extend({
  first_purchase_only: z.boolean(),
  promo_group_id: z.int().nullish(),
}).meta({ id: 'CabinetAdminPromocodesPromoCodeResponse' });

export const AdminPromocodeListResponse = z
  .object({ items: AdminPromocodeResponse.array(), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'CabinetAdminPromocodesPromoCodeListResponse' });

export const AdminPromocodeRecentUse = PromocodeUseFields.extend({}).meta({
  id: 'CabinetAdminPromocodesPromoCodeRecentUse',
});

export const AdminPromocodeDetailResponse = AdminPromocodeResponse.extend({
  total_uses: z.int(),
  today_uses: z.int(),
  recent_uses: AdminPromocodeRecentUse.array().default([]),
}).meta({ id: 'CabinetAdminPromocodesPromoCodeDetailResponse' });

export const AdminPromocodeCreateRequest = z
  .object({
    code: z.string().min(1).max(50),
    type: PromocodeTypeField,
    balance_bonus_kopeks: z.int().default(0),
    subscription_days: z.int().default(0),
    max_uses: z.int().min(0).default(1),
    valid_from: MomentInput.nullish(),
    valid_until: MomentInput.nullish(),
    is_active: z.boolean().default(true),
    first_purchase_only: z.boolean().default(false),
    promo_group_id: z.int().nullish(),
  })
  .meta({ id: 'CabinetAdminPromocodesPromoCodeCreateRequest', example: PROMOCODE_EXAMPLE });

export const AdminPromocodeUpdateRequest = z
  .object({
    code: z.string().min(1).max(50).nullish(),
    type: PromocodeTypeField.nullish(),
    balance_bonus_kopeks: z.int().nullish(),
    subscription_days: z.int().nullish(),
    max_uses: z.int().min(0).nullish(),
    valid_from: MomentInput.nullish(),
    valid_until: MomentInput.nullish(),
    is_active: z.boolean().nullish(),
    first_purchase_only: z.boolean().nullish(),
    promo_group_id: z.int().nullish(),
  })
  .meta({ id: 'CabinetAdminPromocodesPromoCodeUpdateRequest', example: PROMOCODE_EXAMPLE });

export const DiscountUserPath = z.object({ user_id: z.int() });

export const DeactivateDiscountResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    deactivated_code: z.string().nullish(),
    discount_percent: z.int().default(0),
    user_id: z.int(),
  })
  .meta({ id: 'DeactivateDiscountResponse' });
