import { z } from 'zod';
import { GivenQuote, Moment, SignedQuote } from '../shared.schemas.ts';

/** Contract group `Cabinet Gift` (spec 03 section 9). */

export const GiftConfigResponse = z
  .object({
    is_enabled: z.boolean(),
    tariffs: z
      .object({
        id: z.int(),
        name: z.string(),
        description: z.string().nullish(),
        traffic_limit_gb: z.int(),
        device_limit: z.int(),
        periods: z
          .object({
            days: z.int(),
            price_kopeks: z.int(),
            price_label: z.string(),
            original_price_kopeks: z.int().nullish(),
            discount_percent: z.int().nullish(),
            quote: SignedQuote,
          })
          .meta({ id: 'GiftConfigTariffPeriod' })
          .array(),
      })
      .meta({ id: 'GiftConfigTariff' })
      .array()
      .default([]),
    payment_methods: z
      .object({
        method_id: z.string(),
        display_name: z.string(),
        description: z.string().nullish(),
        icon_url: z.string().nullish(),
        min_amount_kopeks: z.int().nullish(),
        max_amount_kopeks: z.int().nullish(),
        sub_options: z.object({ id: z.string(), name: z.string() }).meta({ id: 'GiftConfigSubOption' }).array().nullish(),
      })
      .meta({ id: 'GiftConfigPaymentMethod' })
      .array()
      .default([]),
    balance_kopeks: z.int().default(0),
    currency_symbol: z.string().default('₽'),
    promo_group_name: z.string().nullish(),
    active_discount_percent: z.int().nullish(),
    active_discount_expires_at: Moment.nullish(),
  })
  .meta({ id: 'GiftConfigResponse' });

export const GiftPurchaseRequest = z
  .object({
    tariff_id: z.int().positive(),
    period_days: z.int().positive().max(3650),
    recipient_type: z
      .string()
      .regex(/^(email|messenger)$/)
      .nullish(),
    recipient_value: z.string().max(255).nullish(),
    gift_message: z.string().max(1000).nullish(),
    payment_mode: z.string().regex(/^(balance|gateway)$/),
    payment_method: z.string().max(50).nullish(),
    quote: GivenQuote,
  })
  .superRefine((body, ctx) => {
    // Errors of single fields are reported first, without the errors that follow from them.
    if (ctx.issues.length > 0) return;
    if (body.payment_mode === 'gateway' && !body.payment_method) {
      ctx.addIssue({ code: 'custom', path: ['payment_method'], message: 'payment_method is required for gateway mode' });
    }
    if (!body.recipient_type !== !body.recipient_value) {
      const missing = body.recipient_type ? 'recipient_value' : 'recipient_type';
      ctx.addIssue({ code: 'custom', path: [missing], message: 'A recipient needs type and value' });
    }
  })
  .meta({
    id: 'GiftPurchaseRequest',
    example: {
      tariff_id: 1,
      period_days: 30,
      recipient_type: 'email',
      recipient_value: 'friend@example.com',
      gift_message: 'Happy birthday!',
      payment_mode: 'balance',
    },
  });

export const GiftPurchaseResponse = z
  .object({
    status: z.string(),
    purchase_token: z.string(),
    payment_url: z.string().nullish(),
    warning: z.string().nullish(),
  })
  .meta({ id: 'GiftPurchaseResponse' });

export const PendingGiftResponse = z
  .object({
    token: z.string(),
    tariff_name: z.string().nullish(),
    period_days: z.int(),
    gift_message: z.string().nullish(),
    sender_display: z.string().nullish(),
    created_at: Moment.nullish(),
  })
  .meta({ id: 'PendingGiftResponse' });

export const SentGiftResponse = z
  .object({
    token: z.string(),
    tariff_name: z.string().nullish(),
    period_days: z.int(),
    device_limit: z.int().default(1),
    status: z.string(),
    gift_recipient_value: z.string().nullish(),
    gift_message: z.string().nullish(),
    activated_by_username: z.string().nullish(),
    created_at: Moment.nullish(),
  })
  .meta({ id: 'SentGiftResponse' });

export const ReceivedGiftResponse = z
  .object({
    token: z.string(),
    tariff_name: z.string().nullish(),
    period_days: z.int(),
    device_limit: z.int().default(1),
    status: z.string(),
    sender_display: z.string().nullish(),
    gift_message: z.string().nullish(),
    created_at: Moment.nullish(),
  })
  .meta({ id: 'ReceivedGiftResponse' });

export const GiftTokenPath = z.object({ token: z.string() });

export const GiftPurchaseStatusResponse = z
  .object({
    status: z.string(),
    is_gift: z.boolean().default(true),
    is_code_only: z.boolean().default(false),
    purchase_token: z.string().nullish(),
    recipient_contact_value: z.string().nullish(),
    gift_message: z.string().nullish(),
    tariff_name: z.string().nullish(),
    period_days: z.int().nullish(),
    warning: z.string().nullish(),
  })
  .meta({ id: 'GiftPurchaseStatusResponse' });

export const ActivateGiftRequest = z
  .object({ code: z.string().min(1).max(100) })
  .meta({ id: 'ActivateGiftRequest', example: { code: 'GIFT-Zq3vT9x_kLm2Rw-8bYc1Qe' } });

export const ActivateGiftResponse = z
  .object({ status: z.string(), tariff_name: z.string().nullish(), period_days: z.int().nullish() })
  .meta({ id: 'ActivateGiftResponse' });
