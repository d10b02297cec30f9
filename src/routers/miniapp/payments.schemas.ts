import { z } from 'zod';
import { INIT_DATA_EXAMPLE, Timestamp } from '../shared.schemas.ts';
import { InitData } from './tariffs.schemas.ts';

/** Contract group `miniapp`: payments (spec 02 section 12.5). */

export const MiniAppPaymentMethodsRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
  })
  .meta({ id: 'MiniAppPaymentMethodsRequest', example: { initData: INIT_DATA_EXAMPLE } });

const MiniAppPaymentOption = z
  .object({
    id: z.string().describe('Id of the option, sent as `option` when a payment is created.'),
    icon: z.string().nullish().describe('Emoji or icon name; null or empty when there is none.'),
    title: z.string().nullish().describe('Name of the way to pay for display; null for none.'),
    description: z.string().nullish().describe('Text under the name of the payment method; null for none.'),
    titleKey: z.string().nullish().describe('Key of the title in the texts of the client.'),
    descriptionKey: z.string().nullish().describe('Key of the description in the texts of the client.'),
  })
  .meta({ id: 'MiniAppPaymentOption' });

const MiniAppPaymentIframeConfig = z
  .object({ expected_origin: z.string().describe('Origin from which the page of the provider sends its messages.') })
  .meta({ id: 'MiniAppPaymentIframeConfig' });

const MiniAppPaymentMethod = z
  .object({
    id: z.string().describe('Id of the payment method, sent as `method` when a payment is created.'),
    name: z.string().nullish().describe('Name of the payment method for display; null where clients have their own text.'),
    icon: z.string().nullish().describe('Emoji or icon name; null or empty when there is none.'),
    requires_amount: z.boolean().default(false).describe('Whether an amount must be given.'),
    currency: z.string().default('RUB').describe('ISO 4217 code of the currency.'),
    min_amount_kopeks: z.int().nullish().describe('Smallest amount of the method in kopeks; null if the method has no limit.'),
    max_amount_kopeks: z.int().nullish().describe('Greatest amount of the method in kopeks; null if the method has no limit.'),
    amount_step_kopeks: z.int().nullish().describe('Amounts are multiples of it, in kopeks; null for any amount.'),
    integration_type: z
      .enum(['iframe', 'redirect'])
      .describe('`redirect` to the page of the provider, or `iframe` inside the mini-app.'),
    options: z.array(MiniAppPaymentOption).default([]).describe('Answers to choose from, in their order.'),
    iframe_config: MiniAppPaymentIframeConfig.nullish().describe('For `iframe`; null otherwise.'),
  })
  .meta({ id: 'MiniAppPaymentMethod' });

export const MiniAppPaymentMethodsResponse = z
  .object({
    methods: z
      .array(MiniAppPaymentMethod)
      .default([])
      .describe('Methods that the user may pay with, in the order in which they are shown.'),
  })
  .meta({ id: 'MiniAppPaymentMethodsResponse' });

export const MiniAppPaymentCreateRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    method: z.string().describe('Id of the payment method.'),
    amountRubles: z
      .number()
      .nullish()
      .describe('Amount in rubles, used where `amountKopeks` is absent; halves of a kopek are rounded up.'),
    amountKopeks: z.int().nullish().describe('Amount in kopeks.'),
    option: z.string().nullish().describe('Id of an option of the method; null for its default.'),
  })
  .meta({
    id: 'MiniAppPaymentCreateRequest',
    example: { initData: INIT_DATA_EXAMPLE, method: 'yookassa', amountKopeks: 50000, option: 'sbp' },
  });

export const MiniAppPaymentCreateResponse = z
  .object({
    success: z
      .boolean()
      .default(true)
      .describe('Whether the operation was carried out. False comes with a message that says why.'),
    method: z.string().describe('Id of the payment method.'),
    payment_url: z.string().nullish().describe('Address where the user pays; null when there is none.'),
    amount_kopeks: z.int().nullish().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
    extra: z.record(z.string(), z.unknown()).default({}).describe('Further values of the event as free-form object.'),
  })
  .meta({ id: 'MiniAppPaymentCreateResponse' });

const MiniAppPaymentStatusQuery = z
  .object({
    method: z.string().describe('Id of the payment method.'),
    localPaymentId: z.int().nullish().describe('Id of the payment in the service, `extra.local_payment_id` of its creation.'),
    paymentLinkId: z.string().nullish().describe('Id of the payment link at the provider.'),
    invoiceId: z.string().nullish().describe('Id of the invoice at the provider; null when none was created.'),
    paymentId: z.string().nullish().describe('Id of the payment in the service; null when none was created.'),
    payload: z.string().nullish().describe('Body that was sent: the data of the event.'),
    amountKopeks: z
      .int()
      .nullish()
      .describe('Amount of the payment in kopeks; for Stars and Tribute the deposit is found by it.'),
    startedAt: z
      .string()
      .nullish()
      .describe('When the payment began, ISO 8601 or milliseconds since 1970; for Stars and Tribute.'),
  })
  .meta({ id: 'MiniAppPaymentStatusQuery' });

export const MiniAppPaymentStatusRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    payments: z.array(MiniAppPaymentStatusQuery).default([]).describe('The payments to look up, at most 20.'),
  })
  .meta({ id: 'MiniAppPaymentStatusRequest', example: { initData: INIT_DATA_EXAMPLE, payments: [] } });

const MiniAppPaymentStatusResult = z
  .object({
    method: z.string().describe('Id of the payment method.'),
    status: z
      .string()
      .describe('State of the payment: `paid`, `failed`, `pending` (waits for the payer) or `unknown` (no such payment).'),
    is_paid: z.boolean().default(false).describe('Whether the payment is completed.'),
    amount_kopeks: z.int().nullish().describe('Amount in kopeks (1 ruble = 100 kopeks).'),
    currency: z.string().nullish().describe('ISO 4217 code of the currency; null when none was recorded.'),
    completed_at: Timestamp.nullish().describe('When it was finished (UTC); null while it is not.'),
    transaction_id: z.int().nullish().describe('Movement of money that belongs to the event; null for none.'),
    external_id: z.string().nullish().describe('Id of the payment at the provider; null for movements without one.'),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
    extra: z.record(z.string(), z.unknown()).default({}).describe('Further values of the event as free-form object.'),
  })
  .meta({ id: 'MiniAppPaymentStatusResult' });

export const MiniAppPaymentStatusResponse = z
  .object({
    results: z.array(MiniAppPaymentStatusResult).default([]).describe('States of the payments, in the order of the request.'),
  })
  .meta({ id: 'MiniAppPaymentStatusResponse' });
