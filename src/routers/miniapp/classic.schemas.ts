import { z } from 'zod';
import { camelCase } from '../../core/camel-case.ts';
import type { ClassicSelection } from '../../domain/subscriptions/rules/classic-selection.ts';
import { ClassicPreviewResponse } from '../cabinet/subscription-purchase.schemas.ts';
import { ClassicOptionsAnswer } from '../purchase-options-wire.ts';
import { GivenQuote, INIT_DATA_EXAMPLE } from '../shared.schemas.ts';
import { InitData } from './tariffs.schemas.ts';

/** Contract group `miniapp`: classic purchase (spec 02 section 12.2). A selection comes as one object, as single fields, or both. */

export const MiniAppSubscriptionPurchaseOptionsRequest = z
  .object({ initData: InitData })
  .meta({ id: 'MiniAppSubscriptionPurchaseOptionsRequest', example: { initData: INIT_DATA_EXAMPLE } });

export const MiniAppSubscriptionPurchaseOptionsResponse = z
  .object({
    success: z.boolean().default(true),
    currency: z.string(),
    balanceKopeks: z.int().nullish(),
    balanceLabel: z.string().nullish(),
    subscriptionId: z.int().nullish(),
    data: ClassicOptionsAnswer.optional().meta({ default: {} }),
  })
  .meta({ id: 'MiniAppSubscriptionPurchaseOptionsResponse' });

const selectionFields = {
  periodId: z.string().nullish(),
  periodDays: z.int().nullish(),
  period: z.string().nullish(),
  trafficValue: z.int().nullish(),
  traffic: z.int().nullish(),
  trafficGb: z.int().nullish(),
  servers: z.array(z.string()).nullish(),
  countries: z.array(z.string()).nullish(),
  serverUuids: z.array(z.string()).nullish(),
  devices: z.int().nullish(),
  deviceLimit: z.int().nullish(),
};

const purchaseFields = {
  initData: InitData,
  subscriptionId: z.int().nullish(),
  selection: z.record(z.string(), z.unknown()).nullish(),
  ...selectionFields,
  quote: GivenQuote,
};

export const MiniAppSubscriptionPurchasePreviewRequest = z.object(purchaseFields).meta({
  id: 'MiniAppSubscriptionPurchasePreviewRequest',
  example: {
    initData: INIT_DATA_EXAMPLE,
    periodDays: 30,
    trafficGb: 100,
    serverUuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'],
    devices: 2,
  },
});

export const MiniAppSubscriptionPurchaseRequest = z.object(purchaseFields).meta({
  id: 'MiniAppSubscriptionPurchaseRequest',
  example: {
    initData: INIT_DATA_EXAMPLE,
    periodDays: 30,
    trafficGb: 100,
    serverUuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'],
    devices: 2,
  },
});

export const MiniAppSubscriptionPurchasePreviewResponse = z
  .object({
    success: z.boolean().default(true),
    // The contract names an empty default; the service always sends a preview.
    preview: ClassicPreviewResponse.default({} as never),
    balanceKopeks: z.int().nullish(),
    balanceLabel: z.string().nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionPurchasePreviewResponse' });

export const MiniAppSubscriptionPurchaseResponse = z
  .object({
    success: z.boolean().default(true),
    message: z.string().nullish(),
    balanceKopeks: z.int().nullish(),
    balanceLabel: z.string().nullish(),
    subscriptionId: z.int().nullish(),
  })
  .meta({ id: 'MiniAppSubscriptionPurchaseResponse' });

/**
 * The selection of a mini-app body: single fields have priority over the object's, whose keys may be of either spelling.
 * @returns null when a field of the object has a wrong type
 */
export function selectionOf(input: z.output<typeof MiniAppSubscriptionPurchaseRequest>): ClassicSelection | null {
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
