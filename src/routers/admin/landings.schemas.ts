import { z } from 'zod';
import { Timestamp, TimestampInput } from '../shared.schemas.ts';
import {
  AllowedPeriods,
  BackgroundConfig,
  DiscountOverrides,
  LandingFeatureInput,
  LandingPaymentMethodInput,
  localeTexts,
} from './landing-fields.schemas.ts';

/** Contract group `Cabinet Admin Landings`. */

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
  subtitle: localeTexts(1000).nullish().describe('Subtitle by language; null for none.'),
  footer_text: localeTexts(5000).nullish().describe('Text at the foot of the page by language; null for none.'),
  custom_css: z.string().max(10000).nullish().describe('Style sheet of the page; null for none.'),
  meta_title: localeTexts(200).nullish().describe('Title for search engines by language; null for none.'),
  meta_description: localeTexts(500).nullish().describe('Description for search engines by language; null for none.'),
  discount_percent: z
    .int()
    .min(1)
    .max(99)
    .nullish()
    .describe('Discount of the page in percent, 1 to 99; null for none. Needs both dates.'),
  discount_overrides: DiscountOverrides.nullish().describe(
    'Other discounts for single tariffs: tariff id (as text) to percent; null for none.',
  ),
  discount_starts_at: TimestampInput.nullish().describe('Start of the discount (UTC); null for none.'),
  discount_ends_at: TimestampInput.nullish().describe('End of the discount (UTC); null for none.'),
  discount_badge_text: localeTexts(200).nullish().describe('Text beside the discount by language; null for none.'),
  background_config: BackgroundConfig.nullish().describe(
    'Animated background: `enabled`, `type`, `settings`, `opacity`, `blur`, `reducedOnMobile`; null for none.',
  ),
};

const EXAMPLE = {
  slug: 'spring',
  title: { ru: 'Весенняя скидка', en: 'Spring sale' },
  allowed_tariff_ids: [1],
  payment_methods: [{ method_id: 'yookassa', display_name: 'Bank card' }],
};

export const LandingCreateRequest = z
  .object({
    slug: Slug.describe('Last part of the address of the page: `a-z`, `0-9` and `-`, unique.'),
    title: localeTexts(500).prefault({ ru: '' }).describe('Title by language (`ru`, `en`, `zh`, `fa`).'),
    is_active: z.boolean().default(true).describe('Whether the page is open to buyers.'),
    features: Features.prefault([]).describe('Selling points shown on the page, in their order.'),
    allowed_tariff_ids: TariffIds.default([]).describe('Tariffs on sale on the page.'),
    allowed_periods: AllowedPeriods.default({}).describe(
      'Periods on sale: tariff id (as text) to lengths in days. A tariff that is missing sells all its periods.',
    ),
    payment_methods: Methods.default([]).describe('Payment methods of the page, in their order.'),
    gift_enabled: z.boolean().default(true).describe('Whether purchases for another person are possible.'),
    ...optionalFields,
  })
  .meta({ id: 'LandingCreateRequest', example: EXAMPLE });

export const LandingUpdateRequest = z
  .object({
    slug: Slug.nullish().describe(
      'Last part of the address of the page: `a-z`, `0-9` and `-`, unique; null leaves it unchanged.',
    ),
    title: localeTexts(500).nullish().describe('Title by language; absent or null leaves it unchanged.'),
    is_active: z.boolean().nullish().describe('Whether the page is open to buyers; null leaves it unchanged.'),
    features: Features.nullish().describe('Selling points shown on the page, in their order; null leaves them unchanged.'),
    allowed_tariff_ids: TariffIds.nullish().describe('Tariffs on sale on the page; null leaves them unchanged.'),
    allowed_periods: AllowedPeriods.nullish().describe(
      'Periods on sale: tariff id (as text) to lengths in days. A tariff that is missing sells all its periods. Null leaves them unchanged.',
    ),
    payment_methods: Methods.nullish().describe('Payment methods of the page, in their order; null leaves them unchanged.'),
    gift_enabled: z.boolean().nullish().describe('Whether purchases for another person are possible; null leaves it unchanged.'),
    ...optionalFields,
    subtitle: optionalFields.subtitle.describe('Subtitle by language; null removes it, absent leaves it unchanged.'),
    footer_text: optionalFields.footer_text.describe(
      'Text at the foot of the page by language; null removes it, absent leaves it unchanged.',
    ),
    custom_css: optionalFields.custom_css.describe('Style sheet of the page; null removes it, absent leaves it unchanged.'),
    meta_title: optionalFields.meta_title.describe(
      'Title for search engines by language; null removes it, absent leaves it unchanged.',
    ),
    meta_description: optionalFields.meta_description.describe(
      'Description for search engines by language; null removes it, absent leaves it unchanged.',
    ),
    discount_percent: optionalFields.discount_percent.describe(
      'Discount of the page in percent, 1 to 99; null removes the discount with its dates, overrides and badge, absent leaves it unchanged.',
    ),
    discount_overrides: optionalFields.discount_overrides.describe(
      'Other discounts for single tariffs: tariff id (as text) to percent; null removes them, absent leaves them unchanged.',
    ),
    discount_starts_at: optionalFields.discount_starts_at.describe(
      'Start of the discount (UTC); absent leaves it unchanged, null is refused while the page has a discount.',
    ),
    discount_ends_at: optionalFields.discount_ends_at.describe(
      'End of the discount (UTC); absent leaves it unchanged, null is refused while the page has a discount.',
    ),
    discount_badge_text: optionalFields.discount_badge_text.describe(
      'Text beside the discount by language; null removes it, absent leaves it unchanged.',
    ),
    background_config: optionalFields.background_config.describe(
      'Animated background: `enabled`, `type`, `settings`, `opacity`, `blur`, `reducedOnMobile`; null removes it, absent leaves it unchanged.',
    ),
  })
  .meta({ id: 'LandingUpdateRequest', example: { is_active: false } });

export const LandingPath = z.object({ landing_id: z.int().describe('Id of the sales page.') });

export const LandingDetailResponse = z
  .object({
    id: z.int().describe('Id of the sales page.'),
    slug: z.string().describe('Last part of the address of the page: `a-z`, `0-9` and `-`, unique.'),
    title: Texts.describe('Title by language.'),
    subtitle: Texts.nullish().describe('Subtitle by language; null for none.'),
    is_active: z.boolean().describe('Whether the page is open to buyers.'),
    display_order: z.int().describe('Place in the list; smaller numbers come first.'),
    features: LandingFeatureInput.array().describe('Selling points shown on the page, in their order.'),
    footer_text: Texts.nullish().describe('Text at the foot of the page by language; null for none.'),
    allowed_tariff_ids: z.int().array().describe('Tariffs on sale on the page.'),
    allowed_periods: z
      .record(z.string(), z.int().array())
      .describe('Periods on sale: tariff id (as text) to lengths in days. A tariff that is missing sells all its periods.'),
    payment_methods: LandingPaymentMethodInput.array().describe('Payment methods of the page, in their order.'),
    gift_enabled: z.boolean().describe('Whether purchases for another person are possible.'),
    custom_css: z.string().nullish().describe('Style sheet of the page; null for none.'),
    meta_title: Texts.nullish().describe('Title for search engines by language; null for none.'),
    meta_description: Texts.nullish().describe('Description for search engines by language; null for none.'),
    discount_percent: z.int().nullish().describe('Discount of the page in percent; null for none.'),
    discount_overrides: z
      .record(z.string(), z.int())
      .nullish()
      .describe('Other discounts for single tariffs: tariff id (as text) to percent; null for none.'),
    discount_starts_at: Timestamp.nullish().describe('Start of the discount (UTC); null for none.'),
    discount_ends_at: Timestamp.nullish().describe('End of the discount (UTC); null for none.'),
    discount_badge_text: Texts.nullish().describe('Text beside the discount by language; null for none.'),
    background_config: z
      .record(z.string(), z.unknown())
      .nullish()
      .describe('Animated background: `enabled`, `type`, `settings`, `opacity`, `blur`, `reducedOnMobile`; null for none.'),
    created_at: Timestamp.nullish().describe('When the sales page was created (UTC).'),
    updated_at: Timestamp.nullish().describe('When the sales page or its place in the list was last changed (UTC).'),
  })
  .meta({ id: 'LandingDetailResponse' });

const PurchaseStats = z
  .object({
    total: z.int().default(0).describe('Number of all purchases.'),
    pending: z.int().default(0).describe('Number of purchases that wait for payment.'),
    paid: z.int().default(0).describe('Number of purchases that are paid and not delivered yet.'),
    delivered: z.int().default(0).describe('Number of delivered purchases.'),
    pending_activation: z.int().default(0).describe('Number of purchases that wait for their recipient.'),
    failed: z.int().default(0).describe('Number of failed purchases.'),
    expired: z.int().default(0).describe('Number of expired purchases.'),
  })
  .meta({ id: 'PurchaseStats' });

export const LandingListItem = z
  .object({
    id: z.int().describe('Id of the sales page.'),
    slug: z.string().describe('Last part of the address of the page: `a-z`, `0-9` and `-`, unique.'),
    title: Texts.describe('Title by language.'),
    is_active: z.boolean().describe('Whether the page is open to buyers.'),
    display_order: z.int().describe('Place in the list; smaller numbers come first.'),
    gift_enabled: z.boolean().describe('Whether purchases for another person are possible.'),
    tariff_count: z.int().describe('Number of tariffs on the page.'),
    method_count: z.int().describe('Number of payment methods on the page.'),
    purchase_stats: PurchaseStats.describe('Number of purchases by state.'),
    has_active_discount: z.boolean().default(false).describe('Whether a discount runs now.'),
    created_at: Timestamp.nullish().describe('When the sales page was created (UTC).'),
    updated_at: Timestamp.nullish().describe('When the sales page or its place in the list was last changed (UTC).'),
  })
  .meta({ id: 'LandingListItem' });

export const LandingOrderRequest = z
  .object({ landing_ids: z.int().array().describe('All ids in the wanted order.') })
  .meta({ id: 'OrderRequest', example: { landing_ids: [2, 1] } });

export const LandingStatsResponse = z
  .object({
    total_purchases: z.int().describe('Number of all purchases.'),
    total_revenue_kopeks: z.int().describe('Revenue of the whole period in kopeks.'),
    total_gifts: z.int().describe('Number of successful purchases for another person.'),
    total_regular: z.int().describe('Number of successful purchases for the buyer.'),
    avg_purchase_kopeks: z.int().describe('Revenue divided by the successful purchases, kopeks, rounded down.'),
    total_created: z.int().describe('Number of all purchases.'),
    total_successful: z.int().describe('Number of purchases that are paid, delivered or wait for their recipient.'),
    conversion_rate: z.number().describe('Successful purchases in percent of all, one decimal.'),
    daily_stats: z
      .object({
        date: z.string().describe('Calendar day in UTC, `YYYY-MM-DD`.'),
        created: z.int().default(0).describe('Number of purchases begun on that day.'),
        purchases: z.int().describe('Number of successful purchases.'),
        revenue_kopeks: z.int().describe('Revenue in kopeks.'),
        gifts: z.int().describe('Number of successful purchases for another person.'),
      })
      .meta({ id: 'LandingDailyStat' })
      .array()
      .describe('One entry a day for 31 days, oldest first; days without purchases are zero.'),
    tariff_stats: z
      .object({
        tariff_id: z.int().nullable().describe('Id of the tariff; null for none.'),
        tariff_name: z.string().describe('Name of the tariff.'),
        purchases: z.int().describe('Number of successful purchases.'),
        revenue_kopeks: z.int().describe('Revenue in kopeks.'),
      })
      .meta({ id: 'LandingTariffStat' })
      .array()
      .describe('Purchases by tariff, most revenue first.'),
  })
  .meta({ id: 'LandingStatsResponse' });

export const LandingPurchasesQuery = LandingPath.extend({
  offset: z.int().min(0).default(0).describe('Number of records to skip.'),
  limit: z.int().min(1).max(100).default(20).describe('Greatest number of records in the answer.'),
  status: z
    .enum(['pending', 'paid', 'delivered', 'pending_activation', 'failed', 'expired'])
    .nullish()
    .describe(
      'Only purchases in this state: `pending`, `paid`, `pending_activation`, `delivered`, `failed` or `expired`; null for all.',
    ),
});

export const LandingPurchaseListResponse = z
  .object({
    items: z
      .object({
        id: z.int().describe('Id of the purchase.'),
        token: z.string().describe('First 8 characters of the token of the purchase.'),
        contact_type: z.string().describe('How the buyer is reached: `email` or `messenger`.'),
        contact_value: z.string().describe('E-mail address or user name of the buyer; masked on public answers.'),
        is_gift: z.boolean().describe('Whether the purchase is for another person.'),
        gift_recipient_type: z
          .string()
          .nullish()
          .describe('How the recipient is reached: `email` or `messenger`; required for a gift, null otherwise.'),
        gift_recipient_value: z
          .string()
          .nullish()
          .describe('E-mail address or user name of the recipient; required for a gift, null otherwise.'),
        tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
        period_days: z.int().describe('Length of the period in days.'),
        amount_kopeks: z.int().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
        currency: z.string().describe('ISO 4217 code of the currency.'),
        payment_method: z.string().nullish().describe('Method that the buyer chose; null when none is recorded.'),
        status: z
          .string()
          .describe(
            'State of the purchase: `pending` (not paid), `paid` (money received, access not given yet), `pending_activation` (the recipient has a running subscription and must agree), `delivered`, `failed` or `expired`.',
          ),
        created_at: Timestamp.nullish().describe('When the purchase was started (UTC).'),
        paid_at: Timestamp.nullish().describe('When the payment arrived (UTC); null while it has not.'),
      })
      .meta({ id: 'LandingPurchaseItem' })
      .array()
      .describe('A page of purchases of the sales page, newest first.'),
    total: z.int().describe('Number of purchases of the sales page that match the filters, on all pages.'),
  })
  .meta({ id: 'LandingPurchaseListResponse' });
