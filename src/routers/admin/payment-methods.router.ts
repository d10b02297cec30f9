import { z } from 'zod';
import {
  changeMethod,
  listMethodConfigs,
  listMethodGroups,
  methodNotFound,
  readMethodConfig,
  reorderMethods,
} from '../../domain/payments/manage-methods.ts';
import { SuccessResponse, Timestamp } from '../shared.schemas.ts';
import { adminProcedure, freshAdminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Cabinet Admin Payment Methods`. */

const PaymentMethodConfigPath = z.object({ method_id: z.string().describe('Id of the payment method.') });

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

const PaymentMethodConfigUpdateRequest = z
  .object({
    is_enabled: z.boolean().nullish().describe('Whether users are offered the method; null leaves it unchanged.'),
    display_name: z
      .string()
      .nullish()
      .describe('Name for users, at most 255 characters; a blank one is none. Null leaves it unchanged.'),
    sub_options: SubOptions.nullish().describe(
      'Replaces the map of sub-options: id to whether it is offered, at most 20. Null or empty leaves it unchanged.',
    ),
    min_amount_kopeks: z.int().min(0).nullish().describe('Smallest amount in kopeks. Null leaves it unchanged.'),
    max_amount_kopeks: z.int().min(0).nullish().describe('Greatest amount in kopeks. Null leaves it unchanged.'),
    user_type_filter: z
      .string()
      .regex(/^(all|messenger|email)$/)
      .nullish()
      .describe(
        'Who is offered the method: `all`, `messenger` (users with a messenger account) or `email` (users with an e-mail address); null leaves it unchanged.',
      ),
    first_topup_filter: z
      .string()
      .regex(/^(any|yes|no)$/)
      .nullish()
      .describe(
        '`any`, `yes` (only users without a completed top-up) or `no` (only users with one); null leaves it unchanged. It counts for top-ups of the balance.',
      ),
    promo_group_filter_mode: z
      .string()
      .regex(/^(all|selected)$/)
      .nullish()
      .describe(
        '`all`, or `selected`: only members of `allowed_promo_group_ids`, where that is not empty. Null leaves it unchanged.',
      ),
    allowed_promo_group_ids: z
      .int()
      .array()
      .nullish()
      .describe(
        'Ids of promo groups for the mode `selected`. They replace the stored ones, and unknown ids are ignored; null leaves them unchanged.',
      ),
    reset_display_name: z
      .boolean()
      .default(false)
      .describe('Puts the default name back; `display_name` of the same request is ignored.'),
    reset_min_amount: z
      .boolean()
      .default(false)
      .describe('Puts the default minimum back; `min_amount_kopeks` of the same request is ignored.'),
    reset_max_amount: z
      .boolean()
      .default(false)
      .describe('Puts the default maximum back; `max_amount_kopeks` of the same request is ignored.'),
  })
  .meta({
    id: 'PaymentMethodConfigUpdateRequest',
    example: { is_enabled: true, display_name: 'Card', min_amount_kopeks: 10000, max_amount_kopeks: 5000000 },
  });

const SortOrderRequest = z
  .object({ method_ids: z.string().array().describe('Ids of payment methods; the first one is shown first.') })
  .meta({ id: 'SortOrderRequest', example: { method_ids: ['yookassa', 'cryptobot'] } });

const SubOptionInfo = z
  .object({ id: z.string().describe('Id of the sub-option.'), name: z.string().describe('Name of the sub-option for display.') })
  .meta({ id: 'SubOptionInfo' });

const PaymentMethodConfigResponse = z
  .object({
    method_id: z.string().describe('Id of the payment method.'),
    sort_order: z.int().describe('Place in the list; smaller numbers come first.'),
    is_enabled: z
      .boolean()
      .describe('Whether users are offered the method; while its provider is not configured they never are.'),
    display_name: z.string().nullish().describe('Name shown to users; null where the original name is shown.'),
    default_display_name: z
      .string()
      .describe(
        'Name of the method that is shown while `display_name` is null. Administrators see a mark behind it where no public document confirms the interface of the provider.',
      ),
    sub_options: z
      .record(z.string(), z.boolean())
      .nullish()
      .describe('Sub-options with whether they are offered; one that is not in the map is offered. Null: users get no choice.'),
    available_sub_options: SubOptionInfo.array().nullish().describe('Sub-options that the method has now; null for none.'),
    min_amount_kopeks: z.int().nullish().describe('Smallest amount in kopeks; null: the default.'),
    max_amount_kopeks: z.int().nullish().describe('Greatest amount in kopeks; null: the default.'),
    default_min_amount_kopeks: z.int().describe('Smallest amount in kopeks that applies while `min_amount_kopeks` is null.'),
    default_max_amount_kopeks: z.int().describe('Greatest amount in kopeks that applies while `max_amount_kopeks` is null.'),
    user_type_filter: z
      .string()
      .describe(
        'Who is offered the method: `all`, `messenger` (users with a messenger account) or `email` (users with an e-mail address).',
      ),
    first_topup_filter: z
      .string()
      .describe(
        '`any`, `yes` (only users without a completed top-up) or `no` (only users with one). It counts for top-ups of the balance.',
      ),
    promo_group_filter_mode: z
      .string()
      .describe('`all`, or `selected`: only members of `allowed_promo_group_ids`, where that is not empty.'),
    allowed_promo_group_ids: z
      .int()
      .array()
      .default([])
      .describe(
        'Ids of promo groups for the mode `selected`. In a request they replace the stored ones, and unknown ids are ignored.',
      ),
    is_provider_configured: z
      .boolean()
      .describe('Whether the provider of the method is enabled and has its credentials. Users are offered no other methods.'),
    created_at: Timestamp.nullish().describe(
      'When the settings of the method were first saved (UTC); null while they never were.',
    ),
    updated_at: Timestamp.nullish().describe('When the settings of the method or its place were last changed (UTC).'),
  })
  .meta({ id: 'PaymentMethodConfigResponse' });

const PromoGroupSimple = z
  .object({
    id: z.int().describe('Id of the promo group.'),
    name: z.string().describe('Name of the promo group that a method can be limited to.'),
  })
  .meta({ id: 'PromoGroupSimple' });

const tags: [string] = ['Cabinet Admin Payment Methods'];
const base = '/cabinet/admin/payment-methods';
const one = `${base}/{method_id}` as const;

export const adminPaymentMethodsRouter = router({
  list: adminProcedure('payment_methods:read')
    .meta({
      openapi: { method: 'GET', path: base, tags, summary: 'List payment methods' },
      description:
        'Lists all payment methods in the order in which users see them, with what is stored and the defaults that apply where nothing is.',
    })
    .output(toWire(PaymentMethodConfigResponse.array()))
    .query(({ ctx }) => listMethodConfigs(ctx.app, ctx.actor)),

  promoGroups: adminProcedure('payment_methods:read')
    .meta({
      openapi: { method: 'GET', path: `${base}/promo-groups`, tags, summary: 'List promo groups to choose from' },
      description: 'Lists the promo groups that a method can be limited to, highest priority first.',
    })
    .output(toWire(PromoGroupSimple.array()))
    .query(({ ctx }) => listMethodGroups(ctx.app)),

  get: adminProcedure('payment_methods:read')
    .meta({
      openapi: { method: 'GET', path: one, tags, summary: 'Read a payment method' },
      description: 'Returns a payment method.',
      refuses: [methodNotFound],
    })
    .input(fromWire(PaymentMethodConfigPath))
    .output(toWire(PaymentMethodConfigResponse))
    .query(({ ctx, input }) => readMethodConfig(ctx.app, ctx.actor, input.methodId)),

  reorder: freshAdminProcedure('payment_methods:edit')
    .meta({
      openapi: { method: 'PUT', path: `${base}/order`, tags, summary: 'Put payment methods in order' },
      description: 'Puts the methods in the given order. Unknown ids are ignored; methods that are not named keep their place.',
    })
    .input(fromWire(SortOrderRequest))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await reorderMethods(ctx.app, ctx.actor, input.methodIds);
      return { success: true as const };
    }),

  update: freshAdminProcedure('payment_methods:edit')
    .meta({
      openapi: { method: 'PUT', path: one, tags, summary: 'Change a payment method' },
      description:
        'Changes a payment method; only fields that are sent and not null change. Users see it immediately. A minimum above the maximum, defaults included, is 422, and so is a sub-option that the method does not have.',
      refuses: [methodNotFound],
    })
    .input(fromWire(withBody(PaymentMethodConfigPath, PaymentMethodConfigUpdateRequest)))
    .output(toWire(PaymentMethodConfigResponse))
    .mutation(({ ctx, input: { methodId, ...changes } }) => changeMethod(ctx.app, ctx.actor, methodId, changes)),
});
