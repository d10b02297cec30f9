import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';
import { Moment } from '../shared.schemas.ts';
import {
  AllowedPeriods,
  BackgroundConfig,
  DiscountOverrides,
  LandingFeatureInput,
  LandingPaymentMethodInput,
  localeTexts,
} from './landing-fields.schemas.ts';

/** Contract group `Cabinet Admin Landings` (spec 03 section 7.3). */

const Slug = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[a-z0-9-]+$/);
const Features = LandingFeatureInput.array().max(20);
const TariffIds = z.int().array().max(50);
const Methods = LandingPaymentMethodInput.array().max(10);
const Texts = z.record(z.string(), z.string());

const optionalFields = {
  subtitle: localeTexts(1000).nullish(),
  footer_text: localeTexts(5000).nullish(),
  custom_css: z.string().max(10000).nullish(),
  meta_title: localeTexts(200).nullish(),
  meta_description: localeTexts(500).nullish(),
  discount_percent: z.int().min(1).max(99).nullish(),
  discount_overrides: DiscountOverrides.nullish(),
  discount_starts_at: MomentInput.nullish(),
  discount_ends_at: MomentInput.nullish(),
  discount_badge_text: localeTexts(200).nullish(),
  background_config: BackgroundConfig.nullish(),
};

const EXAMPLE = {
  slug: 'spring',
  title: { ru: 'Весенняя скидка', en: 'Spring sale' },
  allowed_tariff_ids: [1],
  payment_methods: [{ method_id: 'yookassa', display_name: 'Bank card' }],
};

export const LandingCreateRequest = z
  .object({
    slug: Slug,
    title: localeTexts(500).prefault({ ru: '' }),
    is_active: z.boolean().default(true),
    features: Features.prefault([]),
    allowed_tariff_ids: TariffIds.default([]),
    allowed_periods: AllowedPeriods.default({}),
    payment_methods: Methods.default([]),
    gift_enabled: z.boolean().default(true),
    ...optionalFields,
  })
  .meta({ id: 'LandingCreateRequest', example: EXAMPLE });

export const LandingUpdateRequest = z
  .object({
    slug: Slug.nullish(),
    title: localeTexts(500).nullish(),
    is_active: z.boolean().nullish(),
    features: Features.nullish(),
    allowed_tariff_ids: TariffIds.nullish(),
    allowed_periods: AllowedPeriods.nullish(),
    payment_methods: Methods.nullish(),
    gift_enabled: z.boolean().nullish(),
    ...optionalFields,
  })
  .meta({ id: 'LandingUpdateRequest', example: { is_active: false } });

export const LandingPath = z.object({ landing_id: z.int() });

export const LandingDetailResponse = z
  .object({
    id: z.int(),
    slug: z.string(),
    title: Texts,
    subtitle: Texts.nullish(),
    is_active: z.boolean(),
    display_order: z.int(),
    features: LandingFeatureInput.array(),
    footer_text: Texts.nullish(),
    allowed_tariff_ids: z.int().array(),
    allowed_periods: z.record(z.string(), z.int().array()),
    payment_methods: LandingPaymentMethodInput.array(),
    gift_enabled: z.boolean(),
    custom_css: z.string().nullish(),
    meta_title: Texts.nullish(),
    meta_description: Texts.nullish(),
    discount_percent: z.int().nullish(),
    discount_overrides: z.record(z.string(), z.int()).nullish(),
    discount_starts_at: Moment.nullish(),
    discount_ends_at: Moment.nullish(),
    discount_badge_text: Texts.nullish(),
    background_config: z.record(z.string(), z.unknown()).nullish(),
    created_at: Moment.nullish(),
    updated_at: Moment.nullish(),
  })
  .meta({ id: 'LandingDetailResponse' });

export const PurchaseStats = z
  .object({
    total: z.int().default(0),
    pending: z.int().default(0),
    paid: z.int().default(0),
    delivered: z.int().default(0),
    pending_activation: z.int().default(0),
    failed: z.int().default(0),
    expired: z.int().default(0),
  })
  .meta({ id: 'PurchaseStats' });

export const LandingListItem = z
  .object({
    id: z.int(),
    slug: z.string(),
    title: Texts,
    is_active: z.boolean(),
    display_order: z.int(),
    gift_enabled: z.boolean(),
    tariff_count: z.int(),
    method_count: z.int(),
    purchase_stats: PurchaseStats,
    has_active_discount: z.boolean().default(false),
    created_at: Moment.nullish(),
    updated_at: Moment.nullish(),
  })
  .meta({ id: 'LandingListItem' });

export const LandingOrderRequest = z
  .object({ landing_ids: z.int().array() })
  .meta({ id: 'OrderRequest', example: { landing_ids: [2, 1] } });

export const LandingStatsResponse = z
  .object({
    total_purchases: z.int(),
    total_revenue_kopeks: z.int(),
    total_gifts: z.int(),
    total_regular: z.int(),
    avg_purchase_kopeks: z.int(),
    total_created: z.int(),
    total_successful: z.int(),
    conversion_rate: z.number(),
    daily_stats: z
      .object({
        date: z.string(),
        created: z.int().default(0),
        purchases: z.int(),
        revenue_kopeks: z.int(),
        gifts: z.int(),
      })
      .meta({ id: 'LandingDailyStat' })
      .array(),
    tariff_stats: z
      .object({ tariff_id: z.int().nullable(), tariff_name: z.string(), purchases: z.int(), revenue_kopeks: z.int() })
      .meta({ id: 'LandingTariffStat' })
      .array(),
  })
  .meta({ id: 'LandingStatsResponse' });

export const LandingPurchasesQuery = LandingPath.extend({
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).max(100).default(20),
  status: z.enum(['pending', 'paid', 'delivered', 'pending_activation', 'failed', 'expired']).nullish(),
});

export const LandingPurchaseListResponse = z
  .object({
    items: z
      .object({
        id: z.int(),
        token: z.string(),
        contact_type: z.string(),
        contact_value: z.string(),
        is_gift: z.boolean(),
        gift_recipient_type: z.string().nullish(),
        gift_recipient_value: z.string().nullish(),
        tariff_name: z.string().nullish(),
        period_days: z.int(),
        amount_kopeks: z.int(),
        currency: z.string(),
        payment_method: z.string().nullish(),
        status: z.string(),
        created_at: Moment.nullish(),
        paid_at: Moment.nullish(),
      })
      .meta({ id: 'LandingPurchaseItem' })
      .array(),
    total: z.int(),
  })
  .meta({ id: 'LandingPurchaseListResponse' });
