import { refuse } from '../../core/errors.ts';
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
import { FreeForm } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import {
  CartSavedResponse,
  DeviceAddress,
  DevicePriceQuery,
  DevicePurchaseRequest,
  DeviceReductionRequest,
  TrafficPurchaseRequest,
} from './subscription-addons.schemas.ts';

const tags: [string] = ['Cabinet Subscription'];
const ROOT = '/cabinet/subscription';

export const subscriptionAddonsRouter = router({
  buyTraffic: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: `${ROOT}/traffic`, tags, summary: 'Buy a traffic package' }, idempotent: true })
    .input(TrafficPurchaseRequest)
    .output(FreeForm)
    .mutation(({ ctx, input }) => purchaseTraffic(ctx.app, ctx.actor, { gb: input.gb, idempotencyKey: ctx.idempotencyKey })),

  switchTraffic: cabinetProcedure
    .meta({
      openapi: {
        method: 'PUT',
        path: `${ROOT}/traffic`,
        tags,
        summary: 'Put another traffic package in place of the current one',
      },
      idempotent: true,
    })
    .input(TrafficPurchaseRequest)
    .output(FreeForm)
    .mutation(({ ctx, input }) => switchTraffic(ctx.app, ctx.actor, { gb: input.gb, idempotencyKey: ctx.idempotencyKey })),

  saveTrafficCart: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: `${ROOT}/traffic/save-cart`, tags, summary: 'Keep a traffic package for later' } })
    .input(TrafficPurchaseRequest)
    .output(CartSavedResponse)
    .mutation(async ({ ctx, input }) => {
      await saveTrafficCart(ctx.app, ctx.actor, input.gb);
      return { success: true, cart_saved: true };
    }),

  devices: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: `${ROOT}/devices`, tags, summary: 'The connected devices' } })
    .output(FreeForm)
    .query(async ({ ctx }) => {
      const { devices, deviceLimit } = await listConnectedDevices(ctx.app, ctx.actor);
      return {
        devices: devices.map((device) => ({
          hwid: device.hwid,
          platform: device.platform ?? 'Unknown',
          device_model: device.deviceModel ?? 'Unknown',
          created_at: seenAt(device),
        })),
        total: devices.length,
        device_limit: deviceLimit,
      };
    }),

  devicePrice: cabinetProcedure
    .meta({ openapi: { method: 'GET', path: `${ROOT}/devices/price`, tags, summary: 'What more devices cost' } })
    .input(DevicePriceQuery)
    .output(FreeForm)
    .query(({ ctx, input }) => readDevicePrice(ctx.app, ctx.actor, input.devices)),

  purchaseDevices: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/devices/purchase`, tags, summary: 'Buy devices from the balance' },
      idempotent: true,
    })
    .input(DevicePurchaseRequest)
    .output(FreeForm)
    .mutation(({ ctx, input }) =>
      purchaseDevices(ctx.app, ctx.actor, { devices: input.devices, idempotencyKey: ctx.idempotencyKey }),
    ),

  addDevices: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/devices`, tags, summary: 'Buy devices; kept for older clients' },
      idempotent: true,
    })
    .input(DevicePurchaseRequest)
    .output(FreeForm)
    .mutation(async ({ ctx, input }) => {
      const order = { devices: input.devices, idempotencyKey: ctx.idempotencyKey };
      const { success, price_kopeks, price_label, balance_kopeks, balance_label, ...bought } = await purchaseDevices(
        ctx.app,
        ctx.actor,
        order,
        404,
      );
      return { ...bought, amount_paid_kopeks: price_kopeks };
    }),

  saveDevicesCart: cabinetProcedure
    .meta({ openapi: { method: 'POST', path: `${ROOT}/devices/save-cart`, tags, summary: 'Keep an order of devices for later' } })
    .input(DevicePurchaseRequest)
    .output(CartSavedResponse)
    .mutation(async ({ ctx, input }) => {
      await saveDevicesCart(ctx.app, ctx.actor, input.devices);
      return { success: true, cart_saved: true };
    }),

  forgetDevices: cabinetProcedure
    .meta({ openapi: { method: 'DELETE', path: `${ROOT}/devices`, tags, summary: 'Forget all connected devices' } })
    .output(FreeForm)
    .mutation(async ({ ctx }) => {
      const { count, message } = await forgetAllDevices(ctx.app, ctx.actor);
      return { success: true, message, deleted_count: count };
    }),

  forgetDevice: cabinetProcedure
    .meta({ openapi: { method: 'DELETE', path: `${ROOT}/devices/{hwid}`, tags, summary: 'Forget one connected device' } })
    .input(DeviceAddress)
    .output(FreeForm)
    .mutation(async ({ ctx, input }) => {
      const message = await forgetDevice(ctx.app, ctx.actor, input.hwid);
      return { success: true, message, deleted_hwid: input.hwid };
    }),

  reductionInfo: cabinetProcedure
    .meta({
      openapi: {
        method: 'GET',
        path: `${ROOT}/devices/reduction-info`,
        tags,
        summary: 'How far the device limit can be lowered',
      },
    })
    .output(FreeForm)
    .query(async ({ ctx }) => {
      const info = await readReductionInfo(ctx.app, ctx.actor);
      return {
        available: info.reason === null,
        ...(info.reason === null ? {} : { reason: info.reason }),
        current_device_limit: info.currentLimit,
        min_device_limit: info.minLimit,
        can_reduce: info.reason === null ? info.currentLimit - info.minLimit : 0,
        connected_devices_count: info.connectedCount,
      };
    }),

  reduceDevices: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/devices/reduce`, tags, summary: 'Lower the device limit' },
      wire: { wholeBodyKey: 'body' },
    })
    .input(DeviceReductionRequest)
    .output(FreeForm)
    .mutation(async ({ ctx, input }) => {
      const newLimit = input.body.new_device_limit;
      if (newLimit === undefined || newLimit < 1) throw refuse('invalid_limit', 400, 'Invalid new_device_limit');
      const done = await reduceDevices(ctx.app, ctx.actor, newLimit);
      return {
        success: true,
        message: done.message,
        old_device_limit: done.oldLimit,
        new_device_limit: done.newLimit,
        devices_removed: done.removedCount,
      };
    }),
});
