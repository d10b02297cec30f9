import { z } from 'zod';
import { Timestamp, TimestampInput } from '../shared.schemas.ts';

/** Contract group `promo-codes`. */

export const PromocodeTypeField = z.enum(['balance', 'subscription_days', 'trial_subscription', 'promo_group', 'discount']);

export const PromocodePath = z.object({ promocode_id: z.int().describe('Id of the promo code.') });

export const PromocodeListQuery = z.object({
  limit: z.int().min(1).max(200).default(50).describe('Greatest number of records in the answer.'),
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  is_active: z.boolean().nullish().describe('Only active records, or only inactive ones.'),
});

export const PromoCodeResponse = z
  .object({
    id: z.int().describe('Id of the promo code.'),
    code: z.string().describe('The code, in upper case.'),
    type: PromocodeTypeField.describe(
      'What the code gives: `balance` (money), `subscription_days`, `trial_subscription`, `promo_group` or `discount` (in percent, for the next purchase).',
    ),
    balance_bonus_kopeks: z
      .int()
      .describe('Kopeks added to the balance. For a code of type `discount`: the discount in percent, 1 to 100.'),
    balance_bonus_rubles: z.number().describe('The same in rubles: kopeks / 100.'),
    subscription_days: z
      .int()
      .describe(
        'Days added to the subscription. For a code of type `discount`: hours of validity, at least 1; older codes have 0, until the first purchase.',
      ),
    max_uses: z.int().describe('How often the code can be used; 0 in a request for unlimited, which is answered as 999999.'),
    current_uses: z.int().describe('Number of uses of the code.'),
    uses_left: z.int().describe('How often the code can still be used.'),
    is_active: z.boolean().describe('Whether the code can be activated within its dates and uses; an inactive one is refused.'),
    is_valid: z.boolean().describe('Whether the code can be used now: active, within its dates, with uses left.'),
    valid_from: Timestamp.describe('Start of validity (UTC).'),
    valid_until: Timestamp.nullish().describe('End of validity (UTC); null for no end.'),
    created_by: z
      .int()
      .nullish()
      .describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
    created_at: Timestamp.describe('When the promo code was created (UTC).'),
    updated_at: Timestamp.describe('When the promo code was last changed (UTC); uses do not count.'),
  })
  .meta({ id: 'PromoCodeResponse' });

export const PromoCodeListResponse = z
  .object({
    items: PromoCodeResponse.array().describe('A page of promo codes, newest first.'),
    total: z.int().describe('Number of promo codes that match the filters, on all pages.'),
    limit: z.int().describe('Page size that was applied.'),
    offset: z.int().describe('Number of records skipped before this page.'),
  })
  .meta({ id: 'PromoCodeListResponse' });

export const PromocodeUseFields = z.object({
  id: z.int().describe('Id of the use of the code.'),
  user_id: z.int().describe('Internal id of the user.'),
  user_username: z.string().nullish().describe('User name in the messenger; null when the user has none.'),
  user_full_name: z.string().nullish().describe('Name of the user for display; null when unknown.'),
  user_messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
  used_at: Timestamp.describe('When the code was used (UTC).'),
});

const PromoCodeRecentUse = PromocodeUseFields.meta({ id: 'PromoCodeRecentUse' });

export const PromoCodeDetailResponse = PromoCodeResponse.extend({
  total_uses: z.int().describe('Number of uses.'),
  today_uses: z.int().describe('Number of uses since 00:00 UTC.'),
  recent_uses: PromoCodeRecentUse.array().default([]).describe('The ten newest uses.'),
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
    code: z.string().describe('The code, up to 50 characters; stored in upper case, unique.'),
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
    is_active: z.boolean().default(true).describe('Whether the code can be activated as soon as it is valid.'),
    created_by: z.int().nullish().describe('Internal id of the user to record as creator; null for none.'),
  })
  .meta({ id: 'PromoCodeCreateRequest', example: PROMOCODE_EXAMPLE });

export const PromoCodeUpdateRequest = z
  .object({
    code: z.string().nullish().describe('New code; null leaves it unchanged.'),
    type: PromocodeTypeField.nullish().describe(
      'What the code gives: `balance` (money), `subscription_days`, `trial_subscription`, `promo_group` or `discount` (in percent, for the next purchase). Null leaves it unchanged.',
    ),
    balance_bonus_kopeks: z
      .int()
      .nullish()
      .describe(
        'Kopeks added to the balance. For a code of type `discount`: the discount in percent, 1 to 100. Null leaves it unchanged.',
      ),
    subscription_days: z
      .int()
      .nullish()
      .describe(
        'Days added to the subscription. For a code of type `discount`: hours of validity, at least 1; older codes have 0, until the first purchase. Null leaves it unchanged.',
      ),
    max_uses: z
      .int()
      .min(0)
      .nullish()
      .describe(
        'How often the code can be used, not less than its present uses; 0 for unlimited, which is answered as 999999. Null leaves it unchanged.',
      ),
    valid_from: TimestampInput.nullish().describe('Start of validity (UTC); null leaves it unchanged.'),
    valid_until: TimestampInput.nullish().describe(
      'End of validity (UTC); null leaves it unchanged, so that an end cannot be removed.',
    ),
    is_active: z.boolean().nullish().describe('Whether the code can be activated; null leaves it unchanged.'),
  })
  .meta({ id: 'PromoCodeUpdateRequest', example: PROMOCODE_EXAMPLE });
