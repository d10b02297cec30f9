import { z } from 'zod';
import { FreeForm, Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Promo` (spec 04 section 9.5). */

export const PromoOfferInfo = z
  .object({
    id: z.int(),
    notification_type: z.string(),
    discount_percent: z.int().nullish(),
    effect_type: z.string(),
    expires_at: Moment,
    is_active: z.boolean(),
    is_claimed: z.boolean(),
    claimed_at: Moment.nullish(),
    extra_data: FreeForm.nullish(),
  })
  .meta({ id: 'PromoOfferInfo' });

export const ActiveDiscountInfo = z
  .object({
    discount_percent: z.int(),
    source: z.string().nullish(),
    expires_at: Moment.nullish(),
    is_active: z.boolean(),
  })
  .meta({ id: 'ActiveDiscountInfo' });

export const DiscountCleared = z.object({ message: z.string() });

const PeriodDiscounts = z.record(z.string(), z.int()).default({});

export const PromoGroupDiscounts = z
  .object({
    group_name: z.string().nullish(),
    server_discount_percent: z.int().default(0),
    traffic_discount_percent: z.int().default(0),
    device_discount_percent: z.int().default(0),
    period_discounts: PeriodDiscounts,
  })
  .meta({ id: 'PromoGroupDiscounts' });

const LoyaltyTierInfo = z
  .object({
    id: z.int(),
    name: z.string(),
    threshold_rubles: z.number(),
    server_discount_percent: z.int().default(0),
    traffic_discount_percent: z.int().default(0),
    device_discount_percent: z.int().default(0),
    period_discounts: PeriodDiscounts,
    is_current: z.boolean().default(false),
    is_achieved: z.boolean().default(false),
  })
  .meta({ id: 'LoyaltyTierInfo' });

export const LoyaltyTiersResponse = z
  .object({
    tiers: LoyaltyTierInfo.array(),
    current_spent_rubles: z.number(),
    current_tier_name: z.string().nullish(),
    next_tier_name: z.string().nullish(),
    next_tier_threshold_rubles: z.number().nullish(),
    progress_percent: z.number().default(0),
  })
  .meta({ id: 'LoyaltyTiersResponse' });

export const ClaimOfferRequest = z.object({ offer_id: z.int() }).meta({ id: 'ClaimOfferRequest', example: { offer_id: 1 } });

export const ClaimOfferResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    discount_percent: z.int().nullish(),
    expires_at: Moment.nullish(),
  })
  .meta({ id: 'ClaimOfferResponse' });
