import { z } from 'zod';
import { readContact } from '../../domain/storefront/purchases/rules.ts';
import { withBody } from '../wire.ts';

/** Contract group `Landing Pages` (spec 03 section 7.2). */

export const LandingPageQuery = z.object({ slug: z.string().max(100), lang: z.string().max(5).default('ru') });

export const LandingConfigResponse = z
  .object({
    slug: z.string(),
    title: z.string(),
    subtitle: z.string().nullish(),
    features: z
      .object({ icon: z.string().default(''), title: z.string().default(''), description: z.string().default('') })
      .meta({ id: 'LandingFeature' })
      .array(),
    footer_text: z.string().nullish(),
    tariffs: z
      .object({
        id: z.int(),
        name: z.string(),
        description: z.string().nullish(),
        traffic_limit_gb: z.int(),
        device_limit: z.int(),
        tier_level: z.int(),
        periods: z
          .object({
            days: z.int(),
            label: z.string(),
            price_kopeks: z.int(),
            price_label: z.string(),
            original_price_kopeks: z.int().nullish(),
            original_price_label: z.string().nullish(),
            discount_percent: z.int().nullish(),
          })
          .meta({ id: 'LandingTariffPeriod' })
          .array(),
      })
      .meta({ id: 'LandingTariff' })
      .array(),
    payment_methods: z
      .object({
        method_id: z.string(),
        display_name: z.string(),
        description: z.string().nullish(),
        icon_url: z.string().nullish(),
        sort_order: z.int().default(0),
        min_amount_kopeks: z.int().nullish(),
        max_amount_kopeks: z.int().nullish(),
        currency: z.string().nullish(),
        sub_options: z
          .object({ id: z.string(), name: z.string() })
          .meta({ id: 'LandingPaymentMethodSubOption' })
          .array()
          .nullish(),
      })
      .meta({ id: 'LandingPaymentMethod' })
      .array(),
    gift_enabled: z.boolean(),
    custom_css: z.string().nullish(),
    meta_title: z.string().nullish(),
    meta_description: z.string().nullish(),
    discount: z
      .object({ percent: z.int(), ends_at: z.string(), badge_text: z.string().nullish() })
      .meta({ id: 'LandingDiscountInfo' })
      .nullish(),
    background_config: z.record(z.string(), z.unknown()).nullish(),
  })
  .meta({ id: 'LandingConfigResponse' });

const ContactTypeField = z.string().regex(/^(email|messenger)$/);

const LandingPurchaseBody = z
  .object({
    tariff_id: z.int(),
    period_days: z.int(),
    contact_type: ContactTypeField,
    contact_value: z.string().min(1).max(255),
    payment_method: z
      .string()
      .min(1)
      .max(50)
      .regex(/^[a-z0-9_]+$/),
    is_gift: z.boolean().default(false),
    gift_recipient_type: ContactTypeField.nullish(),
    gift_recipient_value: z.string().max(255).nullish(),
    gift_message: z.string().max(1000).nullish(),
  })
  .meta({
    id: 'PurchaseRequest',
    example: {
      tariff_id: 1,
      period_days: 30,
      contact_type: 'email',
      contact_value: 'buyer@example.com',
      payment_method: 'yookassa_sbp',
    },
  });

export const LandingPurchaseRequest = withBody(z.object({ slug: z.string() }), LandingPurchaseBody).superRefine((body, ctx) => {
  // Errors of single fields are reported first, without the errors that follow from them.
  if (ctx.issues.length > 0) return;
  if (!readContact(body.contact_type as 'email', body.contact_value)) {
    ctx.addIssue({ code: 'custom', path: ['contact_value'], message: problemOf(body.contact_type) });
  }
  if (!body.is_gift) return;
  if (!body.gift_recipient_type || !body.gift_recipient_value) {
    ctx.addIssue({ code: 'custom', path: ['gift_recipient_value'], message: 'A gift needs a recipient: type and value' });
  } else if (!readContact(body.gift_recipient_type as 'email', body.gift_recipient_value)) {
    ctx.addIssue({ code: 'custom', path: ['gift_recipient_value'], message: problemOf(body.gift_recipient_type) });
  }
});

function problemOf(type: string): string {
  return type === 'email' ? 'Invalid email format' : 'Invalid messenger username format';
}

export const PurchaseResponse = z
  .object({ purchase_token: z.string(), payment_url: z.string() })
  .meta({ id: 'PurchaseResponse' });

export const PurchaseTokenPath = z.object({ token: z.string() });

export const PurchaseStatusResponse = z
  .object({
    status: z.string(),
    subscription_url: z.string().nullish(),
    subscription_crypto_link: z.string().nullish(),
    is_gift: z.boolean().default(false),
    contact_value: z.string().nullish(),
    recipient_contact_value: z.string().nullish(),
    period_days: z.int().nullish(),
    tariff_name: z.string().nullish(),
    gift_message: z.string().nullish(),
    contact_type: z.string().nullish(),
    cabinet_email: z.string().nullish(),
    cabinet_password: z.string().nullish(),
    auto_login_token: z.string().nullish(),
    recipient_in_bot: z.boolean().nullish(),
    bot_link: z.string().nullish(),
  })
  .meta({ id: 'PurchaseStatusResponse' });
