import { z } from 'zod';
import { INIT_DATA_EXAMPLE, Moment } from '../shared.schemas.ts';
import { InitData } from './tariffs.schemas.ts';

/** Contract group `miniapp`: payments (spec 02 section 12.5). */

export const MiniAppPaymentMethodsRequest = z
  .object({ initData: InitData })
  .meta({ id: 'MiniAppPaymentMethodsRequest', example: { initData: INIT_DATA_EXAMPLE } });

export const MiniAppPaymentOption = z
  .object({
    id: z.string(),
    icon: z.string().nullish(),
    title: z.string().nullish(),
    description: z.string().nullish(),
    titleKey: z.string().nullish(),
    descriptionKey: z.string().nullish(),
  })
  .meta({ id: 'MiniAppPaymentOption' });

export const MiniAppPaymentIframeConfig = z.object({ expected_origin: z.string() }).meta({ id: 'MiniAppPaymentIframeConfig' });

export const MiniAppPaymentMethod = z
  .object({
    id: z.string(),
    name: z.string().nullish(),
    icon: z.string().nullish(),
    requires_amount: z.boolean().default(false),
    currency: z.string().default('RUB'),
    min_amount_kopeks: z.int().nullish(),
    max_amount_kopeks: z.int().nullish(),
    amount_step_kopeks: z.int().nullish(),
    integration_type: z.enum(['iframe', 'redirect']),
    options: z.array(MiniAppPaymentOption).default([]),
    iframe_config: MiniAppPaymentIframeConfig.nullish(),
  })
  .meta({ id: 'MiniAppPaymentMethod' });

export const MiniAppPaymentMethodsResponse = z
  .object({ methods: z.array(MiniAppPaymentMethod).default([]) })
  .meta({ id: 'MiniAppPaymentMethodsResponse' });

export const MiniAppPaymentCreateRequest = z
  .object({
    initData: InitData,
    method: z.string(),
    amountRubles: z.number().nullish(),
    amountKopeks: z.int().nullish(),
    option: z.string().nullish(),
  })
  .meta({
    id: 'MiniAppPaymentCreateRequest',
    example: { initData: INIT_DATA_EXAMPLE, method: 'yookassa', amountKopeks: 50000, option: 'sbp' },
  });

export const MiniAppPaymentCreateResponse = z
  .object({
    success: z.boolean().default(true),
    method: z.string(),
    payment_url: z.string().nullish(),
    amount_kopeks: z.int().nullish(),
    extra: z.record(z.string(), z.unknown()).default({}),
  })
  .meta({ id: 'MiniAppPaymentCreateResponse' });

export const MiniAppPaymentStatusQuery = z
  .object({
    method: z.string(),
    localPaymentId: z.int().nullish(),
    paymentLinkId: z.string().nullish(),
    invoiceId: z.string().nullish(),
    paymentId: z.string().nullish(),
    payload: z.string().nullish(),
    amountKopeks: z.int().nullish(),
    startedAt: z.string().nullish(),
  })
  .meta({ id: 'MiniAppPaymentStatusQuery' });

export const MiniAppPaymentStatusRequest = z
  .object({ initData: InitData, payments: z.array(MiniAppPaymentStatusQuery).default([]) })
  .meta({ id: 'MiniAppPaymentStatusRequest', example: { initData: INIT_DATA_EXAMPLE, payments: [] } });

export const MiniAppPaymentStatusResult = z
  .object({
    method: z.string(),
    status: z.string(),
    is_paid: z.boolean().default(false),
    amount_kopeks: z.int().nullish(),
    currency: z.string().nullish(),
    completed_at: Moment.nullish(),
    transaction_id: z.int().nullish(),
    external_id: z.string().nullish(),
    message: z.string().nullish(),
    extra: z.record(z.string(), z.unknown()).default({}),
  })
  .meta({ id: 'MiniAppPaymentStatusResult' });

export const MiniAppPaymentStatusResponse = z
  .object({ results: z.array(MiniAppPaymentStatusResult).default([]) })
  .meta({ id: 'MiniAppPaymentStatusResponse' });
