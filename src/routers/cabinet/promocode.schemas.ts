import { z } from 'zod';

/** Contract group `Cabinet Promocode` (spec 04 sections 7.2 and 7.3). */

export const PromocodeActivateRequest = z
  .object({ code: z.string().min(1).max(50).describe('The promo code; upper and lower case are the same.') })
  .meta({ id: 'PromocodeActivateRequest', example: { code: 'SPRING26' } });

export const PromocodeActivateResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    balance_before: z.number().default(0).describe('Balance before the activation in rubles.'),
    balance_after: z.number().default(0).describe('Balance after the activation in rubles.'),
    bonus_description: z.string().nullish().describe('What the code gave, for display; null when there is nothing to say.'),
  })
  .meta({ id: 'PromocodeActivateResponse' });

export const PromocodeDeactivateResponse = z
  .object({
    success: z.boolean().describe('Whether the operation was carried out. False comes with a message that says why.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    deactivated_code: z.string().nullish().describe('Promo code that had given the discount; null when it came from elsewhere.'),
    discount_percent: z.int().default(0).describe('Discount in percent; 0 for none.'),
  })
  .meta({ id: 'PromocodeDeactivateResponse' });
