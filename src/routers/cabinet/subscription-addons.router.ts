import { refusal } from '../../core/errors.ts';
import {
  belowMinimum,
  forgetAllDevices,
  forgetDevice,
  listConnectedDevices,
  noPanelUser,
  notLower,
  panelFailure,
  readReductionInfo,
  reduceDevices,
  seenAt,
  trialRefusal,
} from '../../domain/subscriptions/connected-devices.ts';
import { noSubscription } from '../../domain/subscriptions/errors.ts';
import { insufficientFundsForTrafficSwitch } from '../../domain/subscriptions/purchase/insufficient-funds.ts';
import { quoteChanged } from '../../domain/subscriptions/purchase/signed-quote.ts';
import { noSubscriptionRefusal, purchaseDevices, readDevicePrice } from '../../domain/subscriptions/purchase-devices.ts';
import { paidSubscriptionRequired, purchaseTraffic, unlimitedTraffic } from '../../domain/subscriptions/purchase-traffic.ts';
import { noSubscriptionForCart, saveDevicesCart, saveTrafficCart } from '../../domain/subscriptions/save-cart.ts';
import {
  samePackage,
  switchNeedsPaidSubscription,
  switchTraffic,
  trafficOfTariff,
} from '../../domain/subscriptions/switch-traffic.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';
import {
  CartSavedResponse,
  ConnectedDevicesAnswer,
  DeviceAdditionAnswer,
  DeviceAddress,
  DeviceForgottenAnswer,
  DevicePriceAnswer,
  DevicePriceQuery,
  DevicePurchaseAnswer,
  DevicePurchaseRequest,
  DeviceReductionAnswer,
  DeviceReductionRequest,
  DevicesForgottenAnswer,
  ReductionInfoAnswer,
  TrafficPurchaseAnswer,
  TrafficPurchaseRequest,
  TrafficSwitchAnswer,
} from './subscription-addons.schemas.ts';

const invalidLimit = refusal('invalid_limit', 400, 'Invalid new_device_limit');

const tags: [string] = ['Cabinet Subscription'];
const ROOT = '/cabinet/subscription';

export const subscriptionAddonsRouter = router({
  buyTraffic: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/traffic`, tags, summary: 'Buy a traffic package' },
      description:
        'Buys a traffic package for 30 days on top of the limit. A subscription that was closed because its traffic was used up becomes active again. If the balance does not suffice, the order is saved (402). The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: [paidSubscriptionRequired, unlimitedTraffic, noSubscription, quoteChanged],
      idempotent: true,
    })
    .input(TrafficPurchaseRequest)
    .output(toWire(TrafficPurchaseAnswer))
    .mutation(async ({ ctx, input }) => ({
      success: true,
      ...(await purchaseTraffic(ctx.app, ctx.actor, { ...input, idempotencyKey: ctx.idempotencyKey })),
    })),

  switchTraffic: cabinetProcedure
    .meta({
      openapi: {
        method: 'PUT',
        path: `${ROOT}/traffic`,
        tags,
        summary: 'Replace the current traffic package with another',
      },
      description:
        'Replaces the current traffic package with another. A more expensive one is charged for the remaining time, a cheaper one is free without refund. For paid subscriptions without tariff. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: [samePackage, trafficOfTariff, switchNeedsPaidSubscription, noSubscription],
      idempotent: true,
    })
    .input(TrafficPurchaseRequest)
    .output(toWire(TrafficSwitchAnswer))
    .mutation(async ({ ctx, input }) => ({
      success: true,
      ...(await switchTraffic(ctx.app, ctx.actor, { gb: input.gb, idempotencyKey: ctx.idempotencyKey })),
    })),

  saveTrafficCart: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/traffic/save-cart`, tags, summary: 'Save a traffic package for later' },
      description:
        'Saves the order of a traffic package, to be bought after a top-up. It replaces a saved order. Charges nothing.',
      refuses: [noSubscriptionForCart, paidSubscriptionRequired],
    })
    .input(TrafficPurchaseRequest)
    .output(CartSavedResponse)
    .mutation(async ({ ctx, input }) => {
      await saveTrafficCart(ctx.app, ctx.actor, input.gb);
      return { success: true, cart_saved: true };
    }),

  devices: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/devices`, tags, summary: 'The connected devices' },
      description: 'Lists the connected devices. A panel that does not answer gives an empty list.',
      refuses: [noSubscription],
    })
    .output(toWire(ConnectedDevicesAnswer))
    .query(async ({ ctx }) => {
      const { devices, deviceLimit } = await listConnectedDevices(ctx.app, ctx.actor);
      return {
        devices: devices.map((device) => ({
          hwid: device.hwid,
          platform: device.platform ?? 'Unknown',
          deviceModel: device.deviceModel ?? 'Unknown',
          createdAt: seenAt(device),
        })),
        total: devices.length,
        deviceLimit,
      };
    }),

  devicePrice: cabinetProcedure
    .meta({
      openapi: { method: 'GET', path: `${ROOT}/devices/price`, tags, summary: 'Calculate the price of additional devices' },
      description: 'Returns what more devices cost for the remaining time, or the reason why none can be bought.',
    })
    .input(DevicePriceQuery)
    .output(toWire(DevicePriceAnswer))
    .query(({ ctx, input }) => readDevicePrice(ctx.app, ctx.actor, input.devices)),

  purchaseDevices: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/devices/purchase`, tags, summary: 'Buy devices from the balance' },
      description:
        'Buys devices for the remaining time. If the balance does not suffice, the order is saved (402). The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: [noSubscriptionRefusal, insufficientFundsForTrafficSwitch, quoteChanged],
      idempotent: true,
    })
    .input(DevicePurchaseRequest)
    .output(toWire(DevicePurchaseAnswer))
    .mutation(async ({ ctx, input }) => ({
      success: true,
      ...(await purchaseDevices(ctx.app, ctx.actor, { ...input, idempotencyKey: ctx.idempotencyKey })),
    })),

  addDevices: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/devices`, tags, summary: 'Buy devices; for older clients' },
      description:
        'Buys devices for the remaining time, at the price of `POST /cabinet/subscription/devices/purchase`. For older clients; new ones use that operation. The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: [insufficientFundsForTrafficSwitch, noSubscription, quoteChanged],
      idempotent: true,
    })
    .input(DevicePurchaseRequest)
    .output(toWire(DeviceAdditionAnswer))
    .mutation(async ({ ctx, input }) => {
      const order = { ...input, idempotencyKey: ctx.idempotencyKey };
      const purchased = await purchaseDevices(ctx.app, ctx.actor, order, 404);
      return { ...purchased, amountPaidKopeks: purchased.priceKopeks };
    }),

  saveDevicesCart: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/devices/save-cart`, tags, summary: 'Save an order of devices for later' },
      description: 'Saves an order of devices, to be bought after a top-up. It replaces a saved order. Charges nothing.',
      refuses: [noSubscriptionForCart],
    })
    .input(DevicePurchaseRequest)
    .output(CartSavedResponse)
    .mutation(async ({ ctx, input }) => {
      await saveDevicesCart(ctx.app, ctx.actor, input.devices);
      return { success: true, cart_saved: true };
    }),

  forgetDevices: cabinetProcedure
    .meta({
      openapi: { method: 'DELETE', path: `${ROOT}/devices`, tags, summary: 'Delete all connected devices' },
      description: 'Removes all connected devices in the panel; each connects again with its next use.',
      refuses: [noPanelUser, noSubscription, panelFailure],
    })
    .output(toWire(DevicesForgottenAnswer))
    .mutation(async ({ ctx }) => ({ success: true, ...(await forgetAllDevices(ctx.app, ctx.actor)) })),

  forgetDevice: cabinetProcedure
    .meta({
      openapi: { method: 'DELETE', path: `${ROOT}/devices/{hwid}`, tags, summary: 'Delete a connected device' },
      description: 'Removes one connected device in the panel; it connects again with its next use.',
      refuses: [noPanelUser, noSubscription, panelFailure],
    })
    .input(DeviceAddress)
    .output(toWire(DeviceForgottenAnswer))
    .mutation(async ({ ctx, input }) => {
      const message = await forgetDevice(ctx.app, ctx.actor, input.hwid);
      return { success: true, message, deletedHwid: input.hwid };
    }),

  reductionInfo: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: `${ROOT}/devices/reduction-info`,
        tags,
        summary: 'Bounds of a lower device limit',
      },
      description: 'Returns how far the device limit can be lowered, and the number of connected devices.',
    })
    .output(toWire(ReductionInfoAnswer))
    .query(({ ctx }) => readReductionInfo(ctx.app, ctx.actor)),

  reduceDevices: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/devices/reduce`, tags, summary: 'Lower the device limit' },
      description:
        'Lowers the device limit without refund. Where more devices are connected, the most recently updated ones are removed. If the panel refuses the change, nothing changes (502).',
      refuses: [belowMinimum, invalidLimit, notLower, trialRefusal, panelFailure],
      wire: { wholeBodyKey: 'body' },
    })
    .input(DeviceReductionRequest)
    .output(toWire(DeviceReductionAnswer))
    .mutation(async ({ ctx, input }) => {
      const newLimit = input.body.new_device_limit;
      if (newLimit === undefined || newLimit < 1) throw invalidLimit();
      return { success: true, ...(await reduceDevices(ctx.app, ctx.actor, newLimit)) };
    }),
});
