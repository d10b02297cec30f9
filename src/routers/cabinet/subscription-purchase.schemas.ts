import { z } from 'zod';

/** Contract group `Cabinet Subscription`: what is paid from the balance (spec 02 sections 5.2, 5.9 and 5.10). */

export const RenewalRequest = z.object({ period_days: z.int().min(1).max(3650) }).meta({ id: 'RenewalRequest' });

export const TariffPurchaseRequest = z
  .object({
    tariff_id: z.int(),
    period_days: z.int().min(1).max(3650),
    traffic_gb: z.int().min(0).max(100_000).nullish(),
  })
  .meta({ id: 'TariffPurchaseRequest' });

export const PurchaseSelectionRequest = z
  .object({
    period_id: z.string().nullish(),
    period_days: z.int().min(1).max(3650).nullish(),
    traffic_value: z.int().min(0).max(100_000).nullish(),
    servers: z.array(z.string()).nullable().default([]),
    devices: z.int().min(1).max(100).nullish(),
  })
  .meta({ id: 'PurchaseSelectionRequest' });

export const PurchasePreviewRequest = z.object({ selection: PurchaseSelectionRequest }).meta({ id: 'PurchasePreviewRequest' });
