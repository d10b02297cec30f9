import { z } from 'zod';
import { Moment } from '../shared.schemas.ts';

/** Contract group `Cabinet Admin Payment Methods` (spec 03 section 5.1). */

export const PaymentMethodConfigPath = z.object({ method_id: z.string() });

const MAX_SUB_OPTIONS = 20;
const MAX_SUB_OPTION_LENGTH = 50;

const SubOptions = z.record(z.string(), z.boolean()).superRefine((options, ctx) => {
  const ids = Object.keys(options);
  if (ids.length > MAX_SUB_OPTIONS) {
    ctx.addIssue({ code: 'custom', message: `sub_options must have at most ${MAX_SUB_OPTIONS} keys` });
  }
  if (ids.some((id) => id.length > MAX_SUB_OPTION_LENGTH)) {
    ctx.addIssue({ code: 'custom', message: `Keys of sub_options must have at most ${MAX_SUB_OPTION_LENGTH} characters` });
  }
});

export const PaymentMethodConfigUpdateRequest = z
  .object({
    is_enabled: z.boolean().nullish(),
    display_name: z.string().nullish(),
    sub_options: SubOptions.nullish(),
    min_amount_kopeks: z.int().min(0).nullish(),
    max_amount_kopeks: z.int().min(0).nullish(),
    user_type_filter: z
      .string()
      .regex(/^(all|messenger|email)$/)
      .nullish(),
    first_topup_filter: z
      .string()
      .regex(/^(any|yes|no)$/)
      .nullish(),
    promo_group_filter_mode: z
      .string()
      .regex(/^(all|selected)$/)
      .nullish(),
    allowed_promo_group_ids: z.int().array().nullish(),
    reset_display_name: z.boolean().default(false),
    reset_min_amount: z.boolean().default(false),
    reset_max_amount: z.boolean().default(false),
  })
  .meta({
    id: 'PaymentMethodConfigUpdateRequest',
    example: { is_enabled: true, display_name: 'Card', min_amount_kopeks: 10000, max_amount_kopeks: 5000000 },
  });

export const SortOrderRequest = z
  .object({ method_ids: z.string().array() })
  .meta({ id: 'SortOrderRequest', example: { method_ids: ['yookassa', 'cryptobot'] } });

export const SubOptionInfo = z.object({ id: z.string(), name: z.string() }).meta({ id: 'SubOptionInfo' });

export const PaymentMethodConfigResponse = z
  .object({
    method_id: z.string(),
    sort_order: z.int(),
    is_enabled: z.boolean(),
    display_name: z.string().nullish(),
    default_display_name: z.string(),
    sub_options: z.record(z.string(), z.boolean()).nullish(),
    available_sub_options: SubOptionInfo.array().nullish(),
    min_amount_kopeks: z.int().nullish(),
    max_amount_kopeks: z.int().nullish(),
    default_min_amount_kopeks: z.int(),
    default_max_amount_kopeks: z.int(),
    user_type_filter: z.string(),
    first_topup_filter: z.string(),
    promo_group_filter_mode: z.string(),
    allowed_promo_group_ids: z.int().array().default([]),
    is_provider_configured: z.boolean(),
    created_at: Moment.nullish(),
    updated_at: Moment.nullish(),
  })
  .meta({ id: 'PaymentMethodConfigResponse' });

export const PromoGroupSimple = z.object({ id: z.int(), name: z.string() }).meta({ id: 'PromoGroupSimple' });
