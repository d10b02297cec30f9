import { refusal } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { invalidServers } from '../../domain/subscriptions/errors.ts';
import { insufficientFundsWithCart } from '../../domain/subscriptions/purchase/insufficient-funds.ts';
import { quoteChanged } from '../../domain/subscriptions/purchase/signed-quote.ts';
import {
  classicModeDisabled,
  previewClassic,
  purchaseClassic,
  readClassicOptions,
} from '../../domain/subscriptions/purchase-classic.ts';
import { invalidPeriod, invalidTraffic } from '../../domain/subscriptions/rules/classic-selection.ts';
import { classicOptionsAnswer } from '../purchase-options-wire.ts';
import { miniappProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { asMiniappUser, inMiniapp } from './as-miniapp-user.ts';
import {
  MiniAppSubscriptionPurchaseOptionsRequest,
  MiniAppSubscriptionPurchaseOptionsResponse,
  MiniAppSubscriptionPurchasePreviewRequest,
  MiniAppSubscriptionPurchasePreviewResponse,
  MiniAppSubscriptionPurchaseRequest,
  MiniAppSubscriptionPurchaseResponse,
  selectionOf,
} from './classic.schemas.ts';

const validationError = refusal('validation_error', 400, 'Invalid selection');

const tags: [string] = ['miniapp'];
const ROOT = '/miniapp/subscription/purchase';

export const miniappClassicRouter = router({
  options: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/options`, tags, summary: 'Options of a classic subscription' },
      description: 'Returns periods, traffic, servers and devices that can be bought, with prices. For classic mode.',
      refuses: inMiniapp([classicModeDisabled]),
    })
    .input(MiniAppSubscriptionPurchaseOptionsRequest)
    .use(asMiniappUser())
    .output(toWire(MiniAppSubscriptionPurchaseOptionsResponse))
    .mutation(async ({ ctx }) => {
      const options = await readClassicOptions(ctx.app, ctx.actor);
      const { balanceKopeks, balanceLabel, subscriptionId } = options;
      return {
        success: true,
        currency: 'RUB',
        balanceKopeks,
        balanceLabel,
        subscriptionId,
        data: classicOptionsAnswer(options),
      };
    }),

  preview: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/preview`, tags, summary: 'Calculate the price of a selection' },
      description: 'Returns what a selection costs, part by part. For classic mode. Charges nothing.',
      refuses: inMiniapp([classicModeDisabled]),
    })
    .input(MiniAppSubscriptionPurchasePreviewRequest)
    .use(asMiniappUser())
    .output(toWire(MiniAppSubscriptionPurchasePreviewResponse))
    .mutation(async ({ ctx, input }) => {
      const preview = await previewClassic(ctx.app, ctx.actor, required(selectionOf(input)));
      return { success: true, preview, balanceKopeks: preview.balanceKopeks, balanceLabel: preview.balanceLabel };
    }),

  purchase: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: ROOT, tags, summary: 'Buy a selection from the balance' },
      description:
        'Buys a selection of period, traffic, servers and devices from the balance. For classic mode. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: inMiniapp([
        classicModeDisabled,
        invalidPeriod,
        invalidServers,
        invalidTraffic,
        validationError,
        insufficientFundsWithCart,
        quoteChanged,
      ]),
      idempotent: true,
    })
    .input(MiniAppSubscriptionPurchaseRequest)
    .use(asMiniappUser())
    .output(MiniAppSubscriptionPurchaseResponse)
    .mutation(async ({ ctx, input }) => {
      const order = { selection: required(selectionOf(input)), quote: input.quote, idempotencyKey: ctx.idempotencyKey };
      const { message, balanceKopeks, subscription } = await purchaseClassic(ctx.app, ctx.actor, order);
      const balanceLabel = formatPrice(balanceKopeks, ctx.app.settings.get('PRICE_ROUNDING_ENABLED'));
      return { success: true, message, balanceKopeks, balanceLabel, subscriptionId: subscription.id };
    }),
});

function required<T>(selection: T | null): T {
  if (selection === null) throw validationError();
  return selection;
}
