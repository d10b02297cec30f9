import { z } from 'zod';
import { invalidServers } from '../../domain/subscriptions/errors.ts';
import { changeMiniappServers, noneSelected, serverUnavailable } from '../../domain/subscriptions/miniapp/change-servers.ts';
import { SUBSCRIPTION_ID_REFUSALS, subscriptionInactive } from '../../domain/subscriptions/miniapp/paid-guard.ts';
import {
  changeMiniappDevices,
  changeMiniappTraffic,
  deviceLimitTooLow,
  devicesLimitExceeded,
  readMiniappSettings,
  trafficAmountRequired,
} from '../../domain/subscriptions/miniapp/settings.ts';
import {
  insufficientFundsForTrafficSwitch,
  insufficientFundsInMiniapp,
  insufficientFundsRefusal,
} from '../../domain/subscriptions/purchase/insufficient-funds.ts';
import { trafficFixed, trafficOfTariff, trafficUnavailable } from '../../domain/subscriptions/switch-traffic.ts';
import { INIT_DATA_EXAMPLE, Timestamp } from '../shared.schemas.ts';
import { miniappProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { asMiniappUser, inMiniapp } from './as-miniapp-user.ts';
import { InitData, MiniAppConnectedServer } from './tariffs.schemas.ts';

/** Contract group `miniapp`: changes of servers, traffic and devices. */

const SubscriptionId = z.int().nullish();
const Uuids = z.array(z.string()).nullish();

const MiniAppSubscriptionSettingsRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    subscription_id: SubscriptionId.describe('Id of the subscription; null for none.'),
  })
  .meta({ id: 'MiniAppSubscriptionSettingsRequest', example: { initData: INIT_DATA_EXAMPLE } });

const MiniAppSubscriptionServerOption = z
  .object({
    uuid: z.string().describe('UUID in the panel.'),
    name: z.string().nullish().describe('Name of the server for display; null when unknown.'),
    price_kopeks: z.int().nullish().describe('Price in kopeks, after discounts; null where there is none.'),
    price_label: z.string().nullish().describe('Price for display, for example `990 ₽`.'),
    discount_percent: z.int().nullish().describe('Discount in percent; 0 or null for none.'),
    is_connected: z.boolean().default(false).describe('Whether the subscription has the server.'),
    is_available: z
      .boolean()
      .default(true)
      .describe('Whether the server can be chosen: it is connected already, or on sale with room for the user.'),
    disabled_reason: z.string().nullish().describe('Why the server cannot be chosen; null when it can.'),
  })
  .meta({ id: 'MiniAppSubscriptionServerOption' });

const MiniAppSubscriptionTrafficOption = z
  .object({
    value: z.int().nullish().describe('GB; 0 = unlimited.'),
    label: z.string().nullish().describe('Text for display.'),
    price_kopeks: z.int().nullish().describe('Price in kopeks, after discounts; null where there is none.'),
    price_label: z.string().nullish().describe('Price for display, for example `990 ₽`.'),
    is_current: z.boolean().default(false).describe('Whether it is the present traffic limit of the subscription.'),
    is_available: z.boolean().default(true).describe('Whether the limit can be chosen now.'),
    description: z.string().nullish().describe('Text beside the choice of traffic; null for none.'),
  })
  .meta({ id: 'MiniAppSubscriptionTrafficOption' });

const MiniAppSubscriptionDeviceOption = z
  .object({
    value: z.int().describe('Number of devices.'),
    label: z.string().nullish().describe('Text for display.'),
    price_kopeks: z.int().nullish().describe('Price in kopeks, after discounts; null where there is none.'),
    price_label: z.string().nullish().describe('Price for display, for example `990 ₽`.'),
  })
  .meta({ id: 'MiniAppSubscriptionDeviceOption' });

const MiniAppSubscriptionCurrentSettings = z
  .object({
    servers: z.array(MiniAppConnectedServer).default([]).describe('Servers.'),
    traffic_limit_gb: z
      .int()
      .nullish()
      .describe('Traffic limit in GB (1024³ bytes); 0 = unlimited. Null in a request for the default.'),
    traffic_limit_label: z.string().nullish().describe('Traffic limit for display.'),
    device_limit: z.int().default(0).describe('Number of devices that may be connected.'),
  })
  .meta({ id: 'MiniAppSubscriptionCurrentSettings' });

const MiniAppSubscriptionServersSettings = z
  .object({
    available: z
      .array(MiniAppSubscriptionServerOption)
      .default([])
      .describe('Servers of the subscription, then those that may be added.'),
    min: z.int().default(0).describe('Smallest number of servers.'),
    max: z.int().default(0).describe('Largest number of servers.'),
    can_update: z.boolean().default(true).describe('Whether it can be changed.'),
    hint: z.string().nullish().describe('Description for editors; null for none.'),
  })
  .meta({ id: 'MiniAppSubscriptionServersSettings' });

const MiniAppSubscriptionTrafficSettings = z
  .object({
    options: z.array(MiniAppSubscriptionTrafficOption).default([]).describe('Answers to choose from, in their order.'),
    can_update: z.boolean().default(true).describe('Whether it can be changed.'),
    current_value: z.int().nullish().describe('Current traffic limit in GB; 0 = unlimited.'),
  })
  .meta({ id: 'MiniAppSubscriptionTrafficSettings' });

const MiniAppSubscriptionDevicesSettings = z
  .object({
    options: z.array(MiniAppSubscriptionDeviceOption).default([]).describe('Answers to choose from, in their order.'),
    can_update: z.boolean().default(true).describe('Whether it can be changed.'),
    min: z.int().default(0).describe('Smallest number of devices.'),
    max: z.int().default(0).describe('Largest number of devices; 0 = no maximum.'),
    step: z.int().default(1).describe('Step between numbers of devices.'),
    current: z.int().default(0).describe('Value of the current period.'),
    price_kopeks: z.int().nullish().describe('Price in kopeks, after discounts; null where there is none.'),
    price_label: z.string().nullish().describe('Price for display, for example `990 ₽`.'),
  })
  .meta({ id: 'MiniAppSubscriptionDevicesSettings' });

const MiniAppSubscriptionBillingContext = z
  .object({
    months_remaining: z.int().default(1).describe('Started months of the paid time, at least 1.'),
    period_hint_days: z.int().nullish().describe('Whole days of the paid time; null when none is left.'),
    renews_at: Timestamp.nullish().describe('End of the paid time (UTC).'),
  })
  .meta({ id: 'MiniAppSubscriptionBillingContext' });

const MiniAppSubscriptionSettings = z
  .object({
    subscription_id: z.int().describe('Id of the subscription.'),
    currency: z.string().default('RUB').describe('ISO 4217 code of the currency.'),
    current: MiniAppSubscriptionCurrentSettings.describe('Value of the current period.'),
    servers: MiniAppSubscriptionServersSettings.describe('Servers.'),
    traffic: MiniAppSubscriptionTrafficSettings.describe('Another spelling of `trafficValue`.'),
    devices: MiniAppSubscriptionDevicesSettings.describe('Number of devices.'),
    billing: MiniAppSubscriptionBillingContext.nullish().describe(
      'The rest of the paid time, on which prices depend; null when unknown.',
    ),
  })
  .meta({ id: 'MiniAppSubscriptionSettings' });

const MiniAppSubscriptionSettingsResponse = z
  .object({
    success: z
      .boolean()
      .default(true)
      .describe('Always true: a subscription that cannot be changed is answered with an error status.'),
    settings: MiniAppSubscriptionSettings.describe('What can be changed.'),
  })
  .meta({ id: 'MiniAppSubscriptionSettingsResponse' });

/** The lists are merged. */
const MiniAppSubscriptionServersUpdateRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    subscription_id: SubscriptionId.describe('Id of the subscription; null for none.'),
    servers: Uuids.describe('UUIDs of the servers that the subscription is to have; merged with the other lists.'),
    squads: Uuids.describe('UUIDs of servers; merged with the other lists.'),
    server_uuids: Uuids.describe('UUIDs of servers; merged with the other lists.'),
    squad_uuids: Uuids.describe('UUIDs of servers; merged with the other lists.'),
  })
  .meta({
    id: 'MiniAppSubscriptionServersUpdateRequest',
    example: { initData: INIT_DATA_EXAMPLE, squad_uuids: ['0198a2c4-7b1e-7c3a-9d54-3f2b1c0e8a77'] },
  });

const MiniAppSubscriptionTrafficUpdateRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    subscription_id: SubscriptionId.describe('Id of the subscription; null for none.'),
    traffic: z.int().nullish().describe('Another spelling of `trafficValue`.'),
    traffic_gb: z.int().nullish().describe('Traffic in GB.'),
  })
  .meta({ id: 'MiniAppSubscriptionTrafficUpdateRequest', example: { initData: INIT_DATA_EXAMPLE, traffic_gb: 250 } });

const MiniAppSubscriptionDevicesUpdateRequest = z
  .object({
    initData: InitData.describe(
      'Signed launch data of the messenger mini-app: the credential of the request. At most 24 hours old.',
    ),
    subscription_id: SubscriptionId.describe('Id of the subscription; null for none.'),
    devices: z.int().nullish().describe('Number of devices.'),
    device_limit: z.int().nullish().describe('Number of devices that may be connected; null in a request for the default.'),
  })
  .meta({ id: 'MiniAppSubscriptionDevicesUpdateRequest', example: { initData: INIT_DATA_EXAMPLE, devices: 3 } });

const MiniAppSubscriptionUpdateResponse = z
  .object({
    success: z
      .boolean()
      .default(true)
      .describe('Always true: a refused change of the subscription is answered with an error status.'),
    message: z.string().nullish().describe('Sentence for people that describes the outcome. Not for programs.'),
  })
  .meta({ id: 'MiniAppSubscriptionUpdateResponse' });

const tags: [string] = ['miniapp'];
const ROOT = '/miniapp/subscription';

export const miniappSettingsRouter = router({
  settings: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/settings`, tags, summary: 'What of the subscription can be changed' },
      description: 'Returns what of the subscription can be changed: servers, traffic and devices, with prices per 30 days.',
      refuses: inMiniapp([...SUBSCRIPTION_ID_REFUSALS, subscriptionInactive]),
    })
    .input(MiniAppSubscriptionSettingsRequest)
    .use(asMiniappUser())
    .output(toWire(MiniAppSubscriptionSettingsResponse))
    .mutation(async ({ ctx, input }) => {
      const found = await readMiniappSettings(ctx.app, ctx.actor, input.subscription_id ?? null);
      return { success: true, settings: settingsAnswer(found) };
    }),

  changeServers: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/servers`, tags, summary: 'Replace the servers' },
      description:
        'Replaces the servers of the subscription. Added ones cost their price for the rest of the paid time; removing is free. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: inMiniapp([
        ...SUBSCRIPTION_ID_REFUSALS,
        invalidServers,
        serverUnavailable,
        noneSelected,
        insufficientFundsRefusal,
        subscriptionInactive,
      ]),
      idempotent: true,
    })
    .input(MiniAppSubscriptionServersUpdateRequest)
    .use(asMiniappUser())
    .output(MiniAppSubscriptionUpdateResponse)
    .mutation(async ({ ctx, input }) => {
      const lists = [input.servers, input.squads, input.server_uuids, input.squad_uuids];
      const uuids = lists.flatMap((list) => list ?? []);
      return { success: true, message: await changeMiniappServers(ctx.app, ctx.actor, uuids, changeOf(ctx, input)) };
    }),

  changeTraffic: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/traffic`, tags, summary: 'Replace the traffic package' },
      description:
        'Replaces the traffic package. The difference to a dearer one is charged for the whole days left, at least one; packages bought on top stay. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: inMiniapp([
        ...SUBSCRIPTION_ID_REFUSALS,
        trafficOfTariff,
        trafficFixed,
        trafficUnavailable,
        trafficAmountRequired,
        insufficientFundsForTrafficSwitch,
        subscriptionInactive,
      ]),
      idempotent: true,
    })
    .input(MiniAppSubscriptionTrafficUpdateRequest)
    .use(asMiniappUser())
    .output(MiniAppSubscriptionUpdateResponse)
    .mutation(async ({ ctx, input }) => {
      const gb = input.traffic ?? input.traffic_gb ?? null;
      return { success: true, message: await changeMiniappTraffic(ctx.app, ctx.actor, gb, changeOf(ctx, input)) };
    }),

  changeDevices: miniappProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/devices`, tags, summary: 'Set the device limit' },
      description:
        'Sets the device limit. Devices above the included number cost their price for the rest of the paid time; fewer are free. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: inMiniapp([
        ...SUBSCRIPTION_ID_REFUSALS,
        devicesLimitExceeded,
        deviceLimitTooLow,
        insufficientFundsInMiniapp,
        subscriptionInactive,
      ]),
      idempotent: true,
    })
    .input(MiniAppSubscriptionDevicesUpdateRequest)
    .use(asMiniappUser())
    .output(MiniAppSubscriptionUpdateResponse)
    .mutation(async ({ ctx, input }) => {
      const limit = input.devices ?? input.device_limit ?? null;
      return { success: true, message: await changeMiniappDevices(ctx.app, ctx.actor, limit, changeOf(ctx, input)) };
    }),
});

function changeOf(ctx: { idempotencyKey: string | null }, input: { subscription_id?: number | null | undefined }) {
  return { subscriptionId: input.subscription_id ?? null, idempotencyKey: ctx.idempotencyKey };
}

function settingsAnswer(found: Awaited<ReturnType<typeof readMiniappSettings>>) {
  const { subscription, connected, servers, traffic, devices, billing } = found;
  return {
    subscriptionId: subscription.id,
    currency: 'RUB',
    current: {
      servers: connected,
      trafficLimitGb: subscription.trafficLimitGb,
      trafficLimitLabel: null,
      deviceLimit: subscription.deviceLimit,
    },
    servers: { available: servers, min: servers.length > 0 ? 1 : 0, max: servers.length, canUpdate: true, hint: null },
    traffic: { ...traffic, currentValue: subscription.trafficLimitGb },
    devices: { ...devices, min: 1, step: 1 },
    billing: { ...billing, renewsAt: subscription.endDate },
  };
}
