import { z } from 'zod';
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
import {
  insufficientFundsForTrafficSwitch,
  insufficientFundsWithCart,
} from '../../domain/subscriptions/purchase/insufficient-funds.ts';
import { quoteChanged } from '../../domain/subscriptions/purchase/signed-quote.ts';
import {
  DEVICES_REFUSES,
  noSubscriptionRefusal,
  purchaseDevices,
  readDevicePrice,
} from '../../domain/subscriptions/purchase-devices.ts';
import { PACKAGE_REFUSES, purchaseTraffic } from '../../domain/subscriptions/purchase-traffic.ts';
import { noSubscriptionForCart, saveDevicesCart, saveTrafficCart } from '../../domain/subscriptions/save-cart.ts';
import {
  samePackage,
  switchNeedsPaidSubscription,
  switchTraffic,
  trafficOfTariff,
} from '../../domain/subscriptions/switch-traffic.ts';
import { GivenQuote, publishedAsFreeForm, SignedQuote, Timestamp } from '../shared.schemas.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';

/** Contract group `Cabinet Subscription`: traffic and devices. The contract types no answer. */

const TrafficPurchaseRequest = z
  .object({
    gb: z.int().min(0).max(100_000).describe('Size of the traffic package in GB; 0 is the unlimited package.'),
    quote: GivenQuote.describe(
      'The `quote` of a preview, for `POST`: exactly its price is charged, or 409 `quote_changed` with a new quote; null or absent for the present price. Ignored where the package is replaced or saved.',
    ),
  })
  .meta({ id: 'TrafficPurchaseRequest', example: { gb: 50 } });

const DevicePurchaseRequest = z
  .object({ devices: z.int().min(1).max(100).describe('Number of devices.'), quote: GivenQuote })
  .meta({ id: 'DevicePurchaseRequest', example: { devices: 1 } });

/** Up to the maximum of one purchase (spec 02 H29). */
const DevicePriceQuery = z.object({ devices: z.int().min(1).max(100).default(1).describe('Number of devices to add.') });

const DeviceAddress = z.object({ hwid: z.string().describe('Hardware id of the device.') });

/** The body is a free map of whole numbers; `new_device_limit` is read from it. */
const DeviceReductionRequest = z.object({ body: z.record(z.string(), z.int()) });

const CartSavedResponse = z.record(z.string(), z.boolean());

/** Only with a discount. */
const discount = {
  discount_percent: z.number().optional(),
  discount_kopeks: z.int().optional(),
  base_price_kopeks: z.int().optional(),
};

const TrafficPurchaseAnswer = publishedAsFreeForm(
  z.object({
    success: z.literal(true),
    message: z.string(),
    gb_added: z.int(),
    new_traffic_limit_gb: z.int(),
    amount_paid_kopeks: z.int(),
    new_balance_kopeks: z.int(),
    ...discount,
  }),
);

const TrafficSwitchAnswer = publishedAsFreeForm(
  z.object({
    success: z.literal(true),
    message: z.string(),
    old_traffic_gb: z.int(),
    new_traffic_gb: z.int(),
    charged_kopeks: z.int(),
    balance_kopeks: z.int(),
    balance_label: z.string(),
  }),
);

const ConnectedDevicesAnswer = publishedAsFreeForm(
  z.object({
    devices: z.array(
      z.object({ hwid: z.string(), platform: z.string(), device_model: z.string(), created_at: Timestamp.nullable() }),
    ),
    total: z.int(),
    device_limit: z.int(),
  }),
);

const DevicePriceAnswer = publishedAsFreeForm(
  z.discriminatedUnion('available', [
    z.object({
      available: z.literal(true),
      devices: z.int(),
      price_per_device_kopeks: z.int(),
      price_per_device_label: z.string(),
      total_price_kopeks: z.int(),
      total_price_label: z.string(),
      current_device_limit: z.int(),
      max_device_limit: z.int().nullable(),
      can_add: z.int().nullable(),
      days_left: z.int(),
      base_device_price_kopeks: z.int(),
      discount_percent: z.number().optional(),
      discount_kopeks: z.int().optional(),
      base_total_price_kopeks: z.int().optional(),
      quote: SignedQuote,
    }),
    z.object({
      available: z.literal(false),
      reason: z.string(),
      current_device_limit: z.int().optional(),
      max_device_limit: z.int().optional(),
      can_add: z.int().optional(),
    }),
  ]),
);

const DevicePurchaseAnswer = publishedAsFreeForm(
  z.object({
    success: z.literal(true),
    message: z.string(),
    devices_added: z.int(),
    new_device_limit: z.int(),
    price_kopeks: z.int(),
    price_label: z.string(),
    balance_kopeks: z.int(),
    balance_label: z.string(),
    ...discount,
  }),
);

/** The deprecated purchase. */
const DeviceAdditionAnswer = publishedAsFreeForm(
  z.object({
    message: z.string(),
    devices_added: z.int(),
    new_device_limit: z.int(),
    amount_paid_kopeks: z.int(),
    ...discount,
  }),
);

const DevicesForgottenAnswer = publishedAsFreeForm(
  z.object({ success: z.literal(true), message: z.string(), deleted_count: z.int() }),
);

const DeviceForgottenAnswer = publishedAsFreeForm(
  z.object({ success: z.literal(true), message: z.string(), deleted_hwid: z.string() }),
);

const ReductionInfoAnswer = publishedAsFreeForm(
  z.object({
    available: z.boolean(),
    reason: z.string().optional(),
    current_device_limit: z.int(),
    min_device_limit: z.int(),
    can_reduce: z.int(),
    connected_devices_count: z.int(),
  }),
);

const DeviceReductionAnswer = publishedAsFreeForm(
  z.object({
    success: z.literal(true),
    message: z.string(),
    old_device_limit: z.int(),
    new_device_limit: z.int(),
    devices_removed: z.int(),
  }),
);

const invalidLimit = refusal('invalid_limit', 400, 'Invalid new_device_limit');

const tags: [string] = ['Cabinet Subscription'];
const ROOT = '/cabinet/subscription';

export const subscriptionAddonsRouter = router({
  buyTraffic: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: `${ROOT}/traffic`, tags, summary: 'Buy a traffic package' },
      description:
        'Buys a traffic package for 30 days on top of the limit. A subscription that was closed because its traffic was used up becomes active again. If the balance does not suffice, the order is saved (402). The balance is charged and the subscription changed in one step; the panel is updated afterwards. Emits `transaction.created`. Accepts `Idempotency-Key`.',
      refuses: [...PACKAGE_REFUSES, insufficientFundsWithCart, noSubscription, quoteChanged],
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
      refuses: [samePackage, trafficOfTariff, switchNeedsPaidSubscription, insufficientFundsForTrafficSwitch, noSubscription],
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
      refuses: [...PACKAGE_REFUSES, noSubscriptionForCart],
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
      refuses: [...DEVICES_REFUSES, noSubscriptionRefusal, insufficientFundsWithCart, quoteChanged],
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
      refuses: [...DEVICES_REFUSES, insufficientFundsWithCart, noSubscription, quoteChanged],
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
      refuses: [...DEVICES_REFUSES, noSubscriptionForCart],
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
