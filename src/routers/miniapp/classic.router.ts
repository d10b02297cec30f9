import { z } from 'zod';
import { camelCase } from '../../core/camel-case.ts';
import { refusal } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { insufficientFundsWithCart } from '../../domain/subscriptions/purchase/insufficient-funds.ts';
import { quoteChanged } from '../../domain/subscriptions/purchase/signed-quote.ts';
import {
  classicModeDisabled,
  previewClassic,
  purchaseClassic,
  readClassicOptions,
} from '../../domain/subscriptions/purchase-classic.ts';
import { type ClassicSelection, SELECTION_REFUSALS } from '../../domain/subscriptions/rules/classic-selection.ts';
import { ClassicPreviewResponse } from '../cabinet/subscription-purchase.schemas.ts';
import { ClassicOptionsAnswer, classicOptionsAnswer } from '../purchase-options-wire.ts';
import { GivenQuote, INIT_DATA_EXAMPLE } from '../shared.schemas.ts';
import { miniappProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { asMiniappUser, inMiniapp } from './as-miniapp-user.ts';
import { InitData } from './tariffs.schemas.ts';

/** Contract group `miniapp`: classic purchase. A selection comes as one object, as single fields, or both. */

const MiniAppSubscriptionPurchaseOptionsRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
  })
  .meta({ id: 'MiniAppSubscriptionPurchaseOptionsRequest', example: { initData: INIT_DATA_EXAMPLE } });

const MiniAppSubscriptionPurchaseOptionsResponse = z
  .object({
    success: z.boolean().default(true).describe('Always true: a refused request is answered with an error status.'),
    currency: z.string().describe('ISO 4217 code of the currency.'),
    balanceKopeks: z.int().nullish().describe('Balance in kopeks; null where it is not known.'),
    balanceLabel: z.string().nullish().describe('Balance for display; null where it is not known.'),
    subscriptionId: z.int().nullish().describe('Id of the subscription; null for the own one, which is the only one.'),
    data: ClassicOptionsAnswer.optional()
      .meta({ default: {} })
      .describe('Periods, traffic, servers and devices that can be chosen, with prices, as free-form object.'),
  })
  .meta({ id: 'MiniAppSubscriptionPurchaseOptionsResponse' });

const selectionFields = {
  periodId: z.string().nullish().describe('Id of the period as the options returned it; null where `periodDays` names it.'),
  periodDays: z.int().nullish().describe('Length of the period in days; null where `periodId` or the selection names it.'),
  period: z.string().nullish().describe('Length of the period in days as text; another spelling of `periodDays`.'),
  trafficValue: z.int().nullish().describe('Traffic package in GB; 0 = unlimited; null for the default.'),
  traffic: z.int().nullish().describe('Another spelling of `trafficValue`.'),
  trafficGb: z.int().nullish().describe('Another spelling of `trafficValue`.'),
  servers: z.array(z.string()).nullish().describe('UUIDs of the servers; null or empty for the default selection.'),
  countries: z.array(z.string()).nullish().describe('Another spelling of `servers`.'),
  serverUuids: z.array(z.string()).nullish().describe('Another spelling of `servers`.'),
  devices: z.int().nullish().describe('Number of devices; null for the default.'),
  deviceLimit: z.int().nullish().describe('Another spelling of `devices`.'),
};

const purchaseFields = {
  initData: InitData.describe(
    'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
  ),
  subscriptionId: z.int().nullish().describe('Id of the subscription; null for the own one, which is the only one.'),
  selection: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('The whole selection as one object; null where its fields are sent on their own.'),
  ...selectionFields,
  quote: GivenQuote,
};

const MiniAppSubscriptionPurchasePreviewRequest = z.object(purchaseFields).meta({
  id: 'MiniAppSubscriptionPurchasePreviewRequest',
  example: {
    initData: INIT_DATA_EXAMPLE,
    periodDays: 30,
    trafficGb: 100,
    serverUuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'],
    devices: 2,
  },
});

const MiniAppSubscriptionPurchaseRequest = z.object(purchaseFields).meta({
  id: 'MiniAppSubscriptionPurchaseRequest',
  example: {
    initData: INIT_DATA_EXAMPLE,
    periodDays: 30,
    trafficGb: 100,
    serverUuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'],
    devices: 2,
  },
});

const MiniAppSubscriptionPurchasePreviewResponse = z
  .object({
    success: z.boolean().default(true).describe('Always true: a refused selection is answered with an error status.'),
    // The contract names an empty default; the service always sends a preview.
    preview: ClassicPreviewResponse.default({} as never).describe('Price of the selection and its parts, as free-form object.'),
    balanceKopeks: z.int().nullish().describe('Balance in kopeks; null where it is not known.'),
    balanceLabel: z.string().nullish().describe('Balance for display; null where it is not known.'),
  })
  .meta({ id: 'MiniAppSubscriptionPurchasePreviewResponse' });

const MiniAppSubscriptionPurchaseResponse = z
  .object({
    success: z.boolean().default(true).describe('Always true: a purchase that is refused is answered with an error status.'),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
    balanceKopeks: z.int().nullish().describe('Balance in kopeks; null where it is not known.'),
    balanceLabel: z.string().nullish().describe('Balance for display; null where it is not known.'),
    subscriptionId: z.int().nullish().describe('Id of the subscription; null for the own one, which is the only one.'),
  })
  .meta({ id: 'MiniAppSubscriptionPurchaseResponse' });

/**
 * The selection of a mini-app body: single fields have priority over the object's, whose keys may be of either spelling.
 * @returns null when a field of the object has a wrong type
 */
function selectionOf(input: z.output<typeof MiniAppSubscriptionPurchaseRequest>): ClassicSelection | null {
  const parsed = z.object(selectionFields).safeParse(inCamelCase(input.selection ?? {}));
  if (!parsed.success) return null;
  const given = parsed.data;
  const squads = [input.servers, input.countries, input.serverUuids, given.servers, given.countries, given.serverUuids];
  return {
    periodId: input.periodId ?? input.period ?? given.periodId ?? given.period ?? null,
    periodDays: input.periodDays ?? given.periodDays ?? null,
    trafficGb:
      input.trafficValue ?? input.traffic ?? input.trafficGb ?? given.trafficValue ?? given.traffic ?? given.trafficGb ?? null,
    squadUuids: squads.find((list) => list != null && list.length > 0) ?? [],
    devices: input.devices ?? input.deviceLimit ?? given.devices ?? given.deviceLimit ?? null,
  };
}

function inCamelCase(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [camelCase(key), value]));
}

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
      refuses: inMiniapp([classicModeDisabled, ...SELECTION_REFUSALS, validationError]),
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
      refuses: inMiniapp([classicModeDisabled, ...SELECTION_REFUSALS, validationError, insufficientFundsWithCart, quoteChanged]),
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
