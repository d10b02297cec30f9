import { z } from 'zod';
import { GivenQuote, SignedQuote, Timestamp } from '../shared.schemas.ts';

/** Contract group `Cabinet Gift`. */

export const GiftConfigResponse = z
  .object({
    is_enabled: z.boolean().describe('Whether gifts are sold; while they are not, everything but the balance is empty.'),
    tariffs: z
      .object({
        id: z.int().describe('Id of the tariff.'),
        name: z.string().describe('Name of the tariff that can be given.'),
        description: z.string().nullish().describe('Text about the tariff, shown to users; null for none.'),
        traffic_limit_gb: z.int().describe('Traffic limit in GB (1024³ bytes); 0 = unlimited.'),
        device_limit: z.int().describe('Number of devices that may be connected.'),
        periods: z
          .object({
            days: z.int().describe('Length of the period of the gift in days.'),
            price_kopeks: z.int().describe('Price in kopeks, after discounts.'),
            price_label: z.string().describe('Price for display, for example `990 ₽`.'),
            original_price_kopeks: z
              .int()
              .nullish()
              .describe('Price before discounts in kopeks; null when there is no discount.'),
            discount_percent: z.int().nullish().describe('Discount in percent; 0 or null for none.'),
            quote: SignedQuote,
          })
          .meta({ id: 'GiftConfigTariffPeriod' })
          .array()
          .describe('Periods that can be bought, shortest first.'),
      })
      .meta({ id: 'GiftConfigTariff' })
      .array()
      .default([])
      .describe('Tariffs in the order of display.'),
    payment_methods: z
      .object({
        method_id: z.string().describe('Id of the payment method.'),
        display_name: z.string().describe('Name shown to users.'),
        description: z.string().nullish().describe('Text under the name of the payment method; null for none.'),
        icon_url: z.string().nullish().describe('Address of the icon; null for the default one.'),
        min_amount_kopeks: z
          .int()
          .nullish()
          .describe('Smallest amount of the method in kopeks; null if the method has no limit.'),
        max_amount_kopeks: z
          .int()
          .nullish()
          .describe('Greatest amount of the method in kopeks; null if the method has no limit.'),
        sub_options: z
          .object({
            id: z.string().describe('Id of the variant.'),
            name: z.string().describe('Name of the variant of the payment method, shown to users.'),
          })
          .meta({ id: 'GiftConfigSubOption' })
          .array()
          .nullish()
          .describe('Variants that can be chosen, as `{method_id}_{id}` in the purchase; null for none.'),
      })
      .meta({ id: 'GiftConfigPaymentMethod' })
      .array()
      .default([])
      .describe('Payment methods that are open to this user.'),
    balance_kopeks: z.int().default(0).describe('Own balance in kopeks.'),
    currency_symbol: z.string().default('₽').describe('Symbol of the currency of all amounts.'),
    promo_group_name: z
      .string()
      .nullish()
      .describe('Name of the own primary promo group, whose discount the prices contain; null for none.'),
    active_discount_percent: z
      .int()
      .nullish()
      .describe('Personal discount that the next purchase uses, percent, contained in the prices; null for none.'),
    active_discount_expires_at: Timestamp.nullish().describe(
      'When the personal discount ends (UTC); null for none, or without an end.',
    ),
  })
  .meta({ id: 'GiftConfigResponse' });

export const GiftPurchaseRequest = z
  .object({
    tariff_id: z.int().positive().describe('Id of the tariff.'),
    period_days: z.int().positive().max(3650).describe('Days, one of the periods of the tariff.'),
    recipient_type: z
      .string()
      .regex(/^(email|messenger)$/)
      .nullish()
      .describe(
        'How the recipient is reached: `email` or `messenger`. Given together with `recipient_value`; null for a gift that is only a code.',
      ),
    recipient_value: z
      .string()
      .max(255)
      .nullish()
      .describe('E-mail address or user name of the recipient, with or without `@`; null for a gift that is only a code.'),
    gift_message: z.string().max(1000).nullish().describe('Message to the recipient; null for none.'),
    payment_mode: z
      .string()
      .regex(/^(balance|gateway)$/)
      .describe('`balance`: paid at once from the own balance. `gateway`: an invoice at a provider.'),
    payment_method: z
      .string()
      .max(50)
      .nullish()
      .describe(
        'Id of a method of the gift configuration, or `{method_id}_{variant}`; required for `gateway`, ignored for `balance`.',
      ),
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
    status: z.string().describe('`ok`: paid from the balance. `created`: the invoice at `payment_url` has to be paid.'),
    purchase_token: z
      .string()
      .describe('Code of the gift: 22 characters, 12 for old gifts. It activates the gift, with or without `GIFT-` before it.'),
    payment_url: z.string().nullish().describe('Address where the user pays; null when there is none.'),
    warning: z
      .string()
      .nullish()
      .describe(
        '`messenger_unresolvable`: the messenger knows no person of this name, who gets the gift with the first sign-in from the messenger. Else null.',
      ),
  })
  .meta({ id: 'GiftPurchaseResponse' });

export const PendingGiftResponse = z
  .object({
    token: z
      .string()
      .describe('Code of the gift: 22 characters, 12 for old gifts. It activates the gift, with or without `GIFT-` before it.'),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
    period_days: z.int().describe('Length of the period in days.'),
    gift_message: z.string().nullish().describe('Message to the recipient; null for none.'),
    sender_display: z.string().nullish().describe('Contact of the buyer: e-mail address, `@` user name or `id:` with a number.'),
    created_at: Timestamp.nullish().describe('When the gift was created (UTC).'),
  })
  .meta({ id: 'PendingGiftResponse' });

export const SentGiftResponse = z
  .object({
    token: z
      .string()
      .describe('Code of the gift: 22 characters, 12 for old gifts. It activates the gift, with or without `GIFT-` before it.'),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
    period_days: z.int().describe('Length of the period in days.'),
    device_limit: z.int().default(1).describe('Number of devices of the tariff; 1 when the tariff no longer exists.'),
    status: z
      .string()
      .describe(
        'State of the gift: `pending` (not paid), `paid` (paid; a code waits to be activated), `pending_activation` (waits for the consent of the recipient, or is being activated), `delivered`, `failed` or `expired` (not paid in time).',
      ),
    gift_recipient_value: z
      .string()
      .nullish()
      .describe('Address or `@` user name of the recipient; null for a gift that is only a code.'),
    gift_message: z.string().nullish().describe('Message to the recipient; null for none.'),
    activated_by_username: z
      .string()
      .nullish()
      .describe('`@` user name of who got the gift, when it is delivered; null otherwise, and without a user name.'),
    created_at: Timestamp.nullish().describe('When the gift was created (UTC).'),
  })
  .meta({ id: 'SentGiftResponse' });

export const ReceivedGiftResponse = z
  .object({
    token: z
      .string()
      .describe('Code of the gift: 22 characters, 12 for old gifts. It activates the gift, with or without `GIFT-` before it.'),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
    period_days: z.int().describe('Length of the period in days.'),
    device_limit: z.int().default(1).describe('Number of devices of the tariff; 1 when the tariff no longer exists.'),
    status: z
      .string()
      .describe(
        'State of the gift: `pending` (not paid), `paid` (paid; a code waits to be activated), `pending_activation` (waits for the consent of the recipient, or is being activated), `delivered`, `failed` or `expired` (not paid in time).',
      ),
    sender_display: z.string().nullish().describe('`@` user name of the buyer, else the contact.'),
    gift_message: z.string().nullish().describe('Message to the recipient; null for none.'),
    created_at: Timestamp.nullish().describe('When the gift was created (UTC).'),
  })
  .meta({ id: 'ReceivedGiftResponse' });

export const GiftTokenPath = z.object({
  token: z.string().describe('Code of the gift, as the purchase returned it, or the whole token of the purchase.'),
});

export const GiftPurchaseStatusResponse = z
  .object({
    status: z
      .string()
      .describe(
        'State of the gift: `pending` (not paid), `paid` (paid; a code waits to be activated), `pending_activation` (waits for the consent of the recipient, or is being activated), `delivered`, `failed` or `expired` (not paid in time).',
      ),
    is_gift: z.boolean().default(true).describe('Whether the purchase is for another person.'),
    is_code_only: z.boolean().default(false).describe('Whether the gift has no recipient and is activated by its code.'),
    purchase_token: z
      .string()
      .nullish()
      .describe(
        'Code of the gift: 22 characters, 12 for old gifts. It activates the gift, with or without `GIFT-` before it. Null for a gift with a recipient.',
      ),
    recipient_contact_value: z
      .string()
      .nullish()
      .describe('Address or `@` user name of the recipient; null for a gift that is only a code.'),
    gift_message: z.string().nullish().describe('Message to the recipient; null for none.'),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
    period_days: z.int().nullish().describe('Length of the period in days; null for none.'),
    warning: z
      .string()
      .nullish()
      .describe('`messenger_unresolvable`: the messenger knew no person of this name when the gift was bought. Else null.'),
  })
  .meta({ id: 'GiftPurchaseStatusResponse' });

export const ActivateGiftRequest = z
  .object({
    code: z
      .string()
      .min(1)
      .max(100)
      .describe('Code of the gift, with or without `GIFT-` before it; blanks around it are ignored.'),
  })
  .meta({ id: 'ActivateGiftRequest', example: { code: 'GIFT-Zq3vT9x_kLm2Rw-8bYc1Qe' } });

export const ActivateGiftResponse = z
  .object({
    status: z.string().describe('Always `activated`: the gift is now the subscription of the user.'),
    tariff_name: z.string().nullish().describe('Name of the tariff; null for none.'),
    period_days: z.int().nullish().describe('Length of the period in days; null for none.'),
  })
  .meta({ id: 'ActivateGiftResponse' });
