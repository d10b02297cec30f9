import { z } from 'zod';
import { GivenQuote, publishedAsFreeForm, SignedQuote, Timestamp } from '../shared.schemas.ts';

/** Contract group `Cabinet Subscription`: traffic and devices (spec 02 sections 5.3 to 5.5 and 5.15). The contract types no answer. */

export const TrafficPurchaseRequest = z
  .object({
    gb: z.int().min(0).max(100_000).describe('Size of the traffic package in GB; 0 is the unlimited package.'),
    quote: GivenQuote,
  })
  .meta({ id: 'TrafficPurchaseRequest', example: { gb: 50 } });

export const DevicePurchaseRequest = z
  .object({ devices: z.int().min(1).max(100).describe('Number of devices.'), quote: GivenQuote })
  .meta({ id: 'DevicePurchaseRequest', example: { devices: 1 } });

/** Up to the maximum of one purchase (spec 02 H29). */
export const DevicePriceQuery = z.object({ devices: z.int().min(1).max(100).default(1).describe('Number of devices to add.') });

export const DeviceAddress = z.object({ hwid: z.string().describe('Hardware id of the device.') });

/** The body is a free map of whole numbers; `new_device_limit` is read from it. */
export const DeviceReductionRequest = z.object({ body: z.record(z.string(), z.int()) });

export const CartSavedResponse = z.record(z.string(), z.boolean());

/** Only with a discount. */
const discount = {
  discount_percent: z.number().optional(),
  discount_kopeks: z.int().optional(),
  base_price_kopeks: z.int().optional(),
};

export const TrafficPurchaseAnswer = publishedAsFreeForm(
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

export const TrafficSwitchAnswer = publishedAsFreeForm(
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

export const ConnectedDevicesAnswer = publishedAsFreeForm(
  z.object({
    devices: z.array(
      z.object({ hwid: z.string(), platform: z.string(), device_model: z.string(), created_at: Timestamp.nullable() }),
    ),
    total: z.int(),
    device_limit: z.int(),
  }),
);

export const DevicePriceAnswer = publishedAsFreeForm(
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

export const DevicePurchaseAnswer = publishedAsFreeForm(
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
export const DeviceAdditionAnswer = publishedAsFreeForm(
  z.object({
    message: z.string(),
    devices_added: z.int(),
    new_device_limit: z.int(),
    amount_paid_kopeks: z.int(),
    ...discount,
  }),
);

export const DevicesForgottenAnswer = publishedAsFreeForm(
  z.object({ success: z.literal(true), message: z.string(), deleted_count: z.int() }),
);

export const DeviceForgottenAnswer = publishedAsFreeForm(
  z.object({ success: z.literal(true), message: z.string(), deleted_hwid: z.string() }),
);

export const ReductionInfoAnswer = publishedAsFreeForm(
  z.object({
    available: z.boolean(),
    reason: z.string().optional(),
    current_device_limit: z.int(),
    min_device_limit: z.int(),
    can_reduce: z.int(),
    connected_devices_count: z.int(),
  }),
);

export const DeviceReductionAnswer = publishedAsFreeForm(
  z.object({
    success: z.literal(true),
    message: z.string(),
    old_device_limit: z.int(),
    new_device_limit: z.int(),
    devices_removed: z.int(),
  }),
);
