import { z } from 'zod';

/** Contract group `Cabinet Promocode` (spec 04 sections 7.2 and 7.3). */

export const PromocodeActivateRequest = z
  .object({ code: z.string().min(1).max(50) })
  .meta({ id: 'PromocodeActivateRequest', example: { code: 'SPRING26' } });

export const PromocodeActivateResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    balance_before: z.number().default(0),
    balance_after: z.number().default(0),
    bonus_description: z.string().nullish(),
  })
  .meta({ id: 'PromocodeActivateResponse' });

export const PromocodeDeactivateResponse = z
  .object({
    success: z.boolean(),
    message: z.string(),
    deactivated_code: z.string().nullish(),
    discount_percent: z.int().default(0),
  })
  .meta({ id: 'PromocodeDeactivateResponse' });
