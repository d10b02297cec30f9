import { z } from 'zod';

/** Contract group `Cabinet Subscription`: traffic and devices (spec 02 sections 5.3 to 5.5 and 5.15). */

export const TrafficPurchaseRequest = z.object({ gb: z.int().min(0).max(100_000) }).meta({ id: 'TrafficPurchaseRequest' });

export const DevicePurchaseRequest = z.object({ devices: z.int().min(1).max(100) }).meta({ id: 'DevicePurchaseRequest' });

/** As many as one purchase may have (spec 02 H29). */
export const DevicePriceQuery = z.object({ devices: z.int().min(1).max(100).default(1) });

export const DeviceAddress = z.object({ hwid: z.string() });

/** The body is a free map of whole numbers; `new_device_limit` is read from it. */
export const DeviceReductionRequest = z.object({ body: z.record(z.string(), z.int()) });

export const CartSavedResponse = z.record(z.string(), z.boolean());
