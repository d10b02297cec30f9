import { z } from 'zod';
import { TimestampInput } from '../shared.schemas.ts';
import { PROMOCODE_EXAMPLE, PromoCodeResponse, PromocodeTypeField, PromocodeUseFields } from '../web/promocodes.schemas.ts';

/** Contract group `Admin Promocodes` (spec 04 section 7). */

export const AdminPromocodeResponse = PromoCodeResponse.extend({
  first_purchase_only: z.boolean().describe('Whether only users who never paid for a subscription can use it.'),
  promo_group_id: z.int().nullish().describe('Id of the promo group; null for none.'),
}).meta({ id: 'CabinetAdminPromocodesPromoCodeResponse' });

export const AdminPromocodeListResponse = z
  .object({
    items: AdminPromocodeResponse.array().describe('A page of promo codes, newest first.'),
    total: z.int().describe('Number of promo codes that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'CabinetAdminPromocodesPromoCodeListResponse' });

const AdminPromocodeRecentUse = PromocodeUseFields.extend({}).meta({
  id: 'CabinetAdminPromocodesPromoCodeRecentUse',
});

export const AdminPromocodeDetailResponse = AdminPromocodeResponse.extend({
  total_uses: z.int().describe('Number of uses.'),
  today_uses: z.int().describe('Number of uses since 00:00 UTC.'),
  recent_uses: AdminPromocodeRecentUse.array().default([]).describe('The ten newest uses.'),
}).meta({ id: 'CabinetAdminPromocodesPromoCodeDetailResponse' });

export const AdminPromocodeCreateRequest = z
  .object({
    code: z.string().min(1).max(50).describe('The code, up to 50 characters; stored in upper case, unique.'),
    type: PromocodeTypeField.describe(
      'What the code gives: `balance` (money), `subscription_days`, `trial_subscription`, `promo_group` or `discount` (in percent, for the next purchase).',
    ),
    balance_bonus_kopeks: z
      .int()
      .default(0)
      .describe('Kopeks added to the balance. For a code of type `discount`: the discount in percent, 1 to 100.'),
    subscription_days: z
      .int()
      .default(0)
      .describe(
        'Days added to the subscription. For a code of type `discount`: hours of validity, at least 1; older codes have 0, until the first purchase.',
      ),
    max_uses: z
      .int()
      .min(0)
      .default(1)
      .describe('How often the code can be used; 0 in a request for unlimited, which is answered as 999999.'),
    valid_from: TimestampInput.nullish().describe('Start of validity (UTC); null in a request for now.'),
    valid_until: TimestampInput.nullish().describe('End of validity (UTC); null for no end.'),
    is_active: z.boolean().default(true).describe('Whether it is active; an inactive record remains stored but has no effect.'),
    first_purchase_only: z.boolean().default(false).describe('Whether only users who never paid for a subscription can use it.'),
    promo_group_id: z.int().nullish().describe('Id of the promo group; null for none.'),
  })
  .meta({ id: 'CabinetAdminPromocodesPromoCodeCreateRequest', example: PROMOCODE_EXAMPLE });

export const AdminPromocodeUpdateRequest = z
  .object({
    code: z.string().min(1).max(50).nullish().describe('New code; null leaves it unchanged.'),
    type: PromocodeTypeField.nullish().describe(
      'What the code gives: `balance` (money), `subscription_days`, `trial_subscription`, `promo_group` or `discount` (in percent, for the next purchase). Null leaves it unchanged.',
    ),
    balance_bonus_kopeks: z
      .int()
      .nullish()
      .describe('Kopeks added to the balance. For a code of type `discount`: the discount in percent, 1 to 100.'),
    subscription_days: z
      .int()
      .nullish()
      .describe(
        'Days added to the subscription. For a code of type `discount`: hours of validity, at least 1; older codes have 0, until the first purchase.',
      ),
    max_uses: z
      .int()
      .min(0)
      .nullish()
      .describe('How often the code can be used; 0 in a request for unlimited, which is answered as 999999.'),
    valid_from: TimestampInput.nullish().describe('Start of validity (UTC); null in a request for now.'),
    valid_until: TimestampInput.nullish().describe('End of validity (UTC); null for no end.'),
    is_active: z.boolean().nullish().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    first_purchase_only: z.boolean().nullish().describe('Whether only users who never paid for a subscription can use it.'),
    promo_group_id: z.int().nullish().describe('Id of the promo group; null for none.'),
  })
  .meta({ id: 'CabinetAdminPromocodesPromoCodeUpdateRequest', example: PROMOCODE_EXAMPLE });

export const DiscountUserPath = z.object({ user_id: z.int().describe('Internal id of the user.') });

export const DeactivateDiscountResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    deactivated_code: z.string().nullish().describe('Promo code that had given the discount; null when it came from elsewhere.'),
    discount_percent: z.int().default(0).describe('Discount in percent; 0 for none.'),
    user_id: z.int().describe('Internal id of the user.'),
  })
  .meta({ id: 'DeactivateDiscountResponse' });
