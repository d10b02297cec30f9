import { z } from 'zod';
import { FreeForm, Timestamp } from '../shared.schemas.ts';

/** Contract group `Cabinet Promo` (spec 04 section 9.5). */

export const PromoOfferInfo = z
  .object({
    id: z.int().describe('Id of the promo offer.'),
    notification_type: z
      .string()
      .describe('Occasion of the offer, up to 50 characters. An unclaimed offer of the same type is replaced.'),
    discount_percent: z.int().nullish().describe('Discount in percent; 0 or null for none.'),
    effect_type: z.string().describe('`percent_discount` (a personal discount) or `test_access` (temporary access to servers).'),
    expires_at: Timestamp.describe('When it stops being valid (UTC).'),
    is_active: z.boolean().describe('Whether the offer can be claimed: not claimed and not expired.'),
    is_claimed: z.boolean().describe('Whether the offer was claimed.'),
    claimed_at: Timestamp.nullish().describe('When the offer was claimed (UTC); null while it was not.'),
    extra_data: FreeForm.nullish().describe('Further values as free-form object.'),
  })
  .meta({ id: 'PromoOfferInfo' });

export const ActiveDiscountInfo = z
  .object({
    discount_percent: z.int().describe('Discount in percent; 0 for none.'),
    source: z.string().nullish().describe('Where the discount came from, for example `promocode:{CODE}`; null for none.'),
    expires_at: Timestamp.nullish().describe('When it stops being valid (UTC); null when it never does.'),
    is_active: z.boolean().describe('Whether a personal discount applies to the next purchase.'),
  })
  .meta({ id: 'ActiveDiscountInfo' });

export const DiscountCleared = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
});

const PeriodDiscounts = z.record(z.string(), z.int()).default({});

export const PromoGroupDiscounts = z
  .object({
    group_name: z.string().nullish().describe('Name of the promo group; null when the user has none.'),
    server_discount_percent: z.int().default(0).describe('Discount on servers in percent, 0 to 100.'),
    traffic_discount_percent: z.int().default(0).describe('Discount on traffic in percent, 0 to 100.'),
    device_discount_percent: z.int().default(0).describe('Discount on devices in percent, 0 to 100.'),
    period_discounts: PeriodDiscounts.describe('Discounts on periods: length in days (as text) to percent.'),
  })
  .meta({ id: 'PromoGroupDiscounts' });

const LoyaltyTierInfo = z
  .object({
    id: z.int().describe('Id of the promo group.'),
    name: z.string().describe('Name of the promo group that this spending reaches.'),
    threshold_rubles: z.number().describe('Spending that the group needs, rubles.'),
    server_discount_percent: z.int().default(0).describe('Discount on servers in percent, 0 to 100.'),
    traffic_discount_percent: z.int().default(0).describe('Discount on traffic in percent, 0 to 100.'),
    device_discount_percent: z.int().default(0).describe('Discount on devices in percent, 0 to 100.'),
    period_discounts: PeriodDiscounts.describe('Discounts on periods: length in days (as text) to percent.'),
    is_current: z.boolean().default(false).describe('Whether it is the highest group that the spending of the user reaches.'),
    is_achieved: z.boolean().default(false).describe('Whether the spending suffices.'),
  })
  .meta({ id: 'LoyaltyTierInfo' });

export const LoyaltyTiersResponse = z
  .object({
    tiers: LoyaltyTierInfo.array().describe('Promo groups that are reached by spending, lowest first.'),
    current_spent_rubles: z.number().describe('What the user has spent on subscriptions, rubles.'),
    current_tier_name: z.string().nullish().describe('Highest group reached; null for none.'),
    next_tier_name: z.string().nullish().describe('Next group; null when all are reached.'),
    next_tier_threshold_rubles: z
      .number()
      .nullish()
      .describe('Spending that the next group needs, rubles; null when all are reached.'),
    progress_percent: z
      .number()
      .default(0)
      .describe('Spending in percent of what the next group needs; 100 when all are reached.'),
  })
  .meta({ id: 'LoyaltyTiersResponse' });

export const ClaimOfferRequest = z
  .object({ offer_id: z.int().describe('Id of the offer.') })
  .meta({ id: 'ClaimOfferRequest', example: { offer_id: 1 } });

export const ClaimOfferResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    discount_percent: z.int().nullish().describe('Discount in percent; 0 or null for none.'),
    expires_at: Timestamp.nullish().describe('When it stops being valid (UTC); null when it never does.'),
  })
  .meta({ id: 'ClaimOfferResponse' });
