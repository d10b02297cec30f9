import { z } from 'zod';
import {
  createMiniappPayment,
  listMiniappMethods,
  MINIAPP_PAYMENT_REFUSES,
  type MiniappMethod,
} from '../../domain/payments/miniapp/create-payment.ts';
import { readMiniappPayments } from '../../domain/payments/miniapp/read-status.ts';
import { INIT_DATA_EXAMPLE, Timestamp } from '../shared.schemas.ts';
import { miniappProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { asMiniappCaller } from './as-miniapp-user.ts';
import { InitData } from './tariffs.schemas.ts';

/** Contract group `miniapp`: payments. */

const MiniAppPaymentMethodsRequest = z
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

const MiniAppPaymentMethodsResponse = z
  .object({
    methods: z
      .array(MiniAppPaymentMethod)
      .default([])
      .describe('Methods that the user may pay with, in the order in which they are shown.'),
  })
  .meta({ id: 'MiniAppPaymentMethodsResponse' });

const MiniAppPaymentCreateRequest = z
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

const MiniAppPaymentCreateResponse = z
  .object({
    success: z
      .boolean()
      .default(true)
      .describe('Always true: a payment that cannot be created is answered with an error status.'),
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

const MiniAppPaymentStatusRequest = z
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

const MiniAppPaymentStatusResponse = z
  .object({
    results: z.array(MiniAppPaymentStatusResult).default([]).describe('States of the payments, in the order of the request.'),
  })
  .meta({ id: 'MiniAppPaymentStatusResponse' });

const tags: [string] = ['miniapp'];
const ROOT = '/miniapp/payments';

export const miniappPaymentsRouter = router({
  paymentMethods: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/methods`, tags, summary: 'List payment methods of the user' },
      description: 'Lists the payment methods that the user may use, with limits and options.',
    })
    .input(MiniAppPaymentMethodsRequest)
    .use(asMiniappCaller())
    .output(MiniAppPaymentMethodsResponse)
    .mutation(async ({ ctx }) => ({ methods: (await listMiniappMethods(ctx.app, ctx.actor.userId)).map(methodAnswer) })),

  createPayment: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/create`, tags, summary: 'Start a top-up at a payment provider' },
      description:
        'Starts a top-up of the balance and returns the address where it is paid. At most 10 a minute. Accepts `Idempotency-Key`.',
      refuses: [...MINIAPP_PAYMENT_REFUSES],
      idempotent: true,
    })
    .input(MiniAppPaymentCreateRequest)
    .use(asMiniappCaller())
    .output(toWire(MiniAppPaymentCreateResponse))
    .mutation(async ({ ctx, input }) => {
      const { method, option = null } = input;
      const amountKopeks = input.amountKopeks ?? kopeksOf(input.amountRubles ?? null);
      const order = { method, option, amountKopeks, idempotencyKey: ctx.idempotencyKey, ip: ctx.ip };
      return { success: true, ...(await createMiniappPayment(ctx.app, ctx.actor, order)) };
    }),

  paymentStatus: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/status`, tags, summary: 'States of own payments' },
      description:
        'Returns the states of own payments; some providers are asked. A payment of another user is answered like an unknown one.',
    })
    .input(MiniAppPaymentStatusRequest)
    .use(asMiniappCaller())
    .output(toWire(MiniAppPaymentStatusResponse))
    .mutation(async ({ ctx, input }) => ({ results: await readMiniappPayments(ctx.app, ctx.actor, input.payments) })),
});

/** Halves of a kopek up, as the decimal is written. */
function kopeksOf(rubles: number | null): number | null {
  if (rubles === null || !Number.isFinite(rubles)) return null;
  const kopeks = Math.round(Number((rubles * 100).toFixed(6)));
  return Number.isSafeInteger(kopeks) ? kopeks : Number.MAX_SAFE_INTEGER;
}

function methodAnswer(method: MiniappMethod) {
  const key = (option: string) => `topup.method.${method.id}.option.${option}`;
  return {
    id: method.id,
    name: method.name,
    icon: method.icon,
    requires_amount: method.requiresAmount,
    currency: method.currency,
    min_amount_kopeks: method.minAmountKopeks,
    max_amount_kopeks: method.maxAmountKopeks,
    amount_step_kopeks: method.amountStepKopeks,
    integration_type: method.iframeOrigin === null ? ('redirect' as const) : ('iframe' as const),
    options: method.options.map((option) => ({
      ...option,
      titleKey: `${key(option.id)}.title`,
      descriptionKey: `${key(option.id)}.description`,
    })),
    iframe_config: method.iframeOrigin === null ? null : { expected_origin: method.iframeOrigin },
  };
}
