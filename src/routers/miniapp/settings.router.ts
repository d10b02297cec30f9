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
import { trafficOfTariff, trafficUnavailable } from '../../domain/subscriptions/switch-traffic.ts';
import { miniappProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import { asMiniappUser, inMiniapp } from './as-miniapp-user.ts';
import {
  MiniAppSubscriptionDevicesUpdateRequest,
  MiniAppSubscriptionServersUpdateRequest,
  MiniAppSubscriptionSettingsRequest,
  MiniAppSubscriptionSettingsResponse,
  MiniAppSubscriptionTrafficUpdateRequest,
  MiniAppSubscriptionUpdateResponse,
} from './settings.schemas.ts';

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
