import {
  changeMethod,
  listMethodConfigs,
  listMethodGroups,
  methodNotFound,
  readMethodConfig,
  reorderMethods,
} from '../../domain/payments/manage-methods.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  PaymentMethodConfigPath,
  PaymentMethodConfigResponse,
  PaymentMethodConfigUpdateRequest,
  PromoGroupSimple,
  SortOrderRequest,
} from './payment-methods.schemas.ts';

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

  reorder: adminProcedure('payment_methods:edit')
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

  update: adminProcedure('payment_methods:edit')
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
