import { refusal } from '../../core/errors.ts';
import {
  forgetAllDevices,
  forgetDevice,
  listConnectedDevices,
  readReductionInfo,
  reduceDevices,
  seenAt,
} from '../../domain/subscriptions/connected-devices.ts';
import { purchaseDevices, readDevicePrice } from '../../domain/subscriptions/purchase-devices.ts';
import { purchaseTraffic } from '../../domain/subscriptions/purchase-traffic.ts';
import { saveDevicesCart, saveTrafficCart } from '../../domain/subscriptions/save-cart.ts';
import { switchTraffic } from '../../domain/subscriptions/switch-traffic.ts';
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
    .meta({ openapi: { method: 'POST', path: `${ROOT}/traffic`, tags, summary: 'Buy a traffic package' }, idempotent: true })
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
      idempotent: true,
    })
    .input(TrafficPurchaseRequest)
    .output(toWire(TrafficSwitchAnswer))
    .mutation(async ({ ctx, input }) => ({
      success: true,
      ...(await switchTraffic(ctx.app, ctx.actor, { gb: input.gb, idempotencyKey: ctx.idempotencyKey })),
    })),

  saveTrafficCart: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: `${ROOT}/traffic/save-cart`, tags, summary: 'Save a traffic package for later' } })
    .input(TrafficPurchaseRequest)
    .output(CartSavedResponse)
    .mutation(async ({ ctx, input }) => {
      await saveTrafficCart(ctx.app, ctx.actor, input.gb);
      return { success: true, cart_saved: true };
    }),

  devices: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: `${ROOT}/devices`, tags, summary: 'The connected devices' } })
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
    })
    .input(DevicePriceQuery)
    .output(toWire(DevicePriceAnswer))
    .query(({ ctx, input }) => readDevicePrice(ctx.app, ctx.actor, input.devices)),

  purchaseDevices: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/devices/purchase`, tags, summary: 'Buy devices from the balance' },
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
    .meta({ openapi: { method: 'POST', path: `${ROOT}/devices/save-cart`, tags, summary: 'Save an order of devices for later' } })
    .input(DevicePurchaseRequest)
    .output(CartSavedResponse)
    .mutation(async ({ ctx, input }) => {
      await saveDevicesCart(ctx.app, ctx.actor, input.devices);
      return { success: true, cart_saved: true };
    }),

  forgetDevices: cabinetProcedure
    .meta({ openapi: { method: 'DELETE', path: `${ROOT}/devices`, tags, summary: 'Delete all connected devices' } })
    .output(toWire(DevicesForgottenAnswer))
    .mutation(async ({ ctx }) => ({ success: true, ...(await forgetAllDevices(ctx.app, ctx.actor)) })),

  forgetDevice: cabinetProcedure
    .meta({ openapi: { method: 'DELETE', path: `${ROOT}/devices/{hwid}`, tags, summary: 'Delete a connected device' } })
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
    })
    .output(toWire(ReductionInfoAnswer))
    .query(({ ctx }) => readReductionInfo(ctx.app, ctx.actor)),

  reduceDevices: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/devices/reduce`, tags, summary: 'Lower the device limit' },
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
