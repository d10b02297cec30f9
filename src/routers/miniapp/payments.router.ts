import { topupRestricted } from '../../domain/payments/errors.ts';
import {
  amountOutOfLimits,
  amountRequired,
  createMiniappPayment,
  listMiniappMethods,
  type MiniappMethod,
  methodRequired,
  methodUnavailable,
  methodUnknown,
} from '../../domain/payments/miniapp/create-payment.ts';
import { readMiniappPayments } from '../../domain/payments/miniapp/read-status.ts';
import { miniappProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { asMiniappCaller } from './as-miniapp-user.ts';
import {
  MiniAppPaymentCreateRequest,
  MiniAppPaymentCreateResponse,
  MiniAppPaymentMethodsRequest,
  MiniAppPaymentMethodsResponse,
  MiniAppPaymentStatusRequest,
  MiniAppPaymentStatusResponse,
} from './payments.schemas.ts';

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
      refuses: [amountOutOfLimits, amountRequired, methodRequired, methodUnavailable, methodUnknown, topupRestricted],
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
