import { z } from 'zod';
import { rublesOf } from '../../core/money.ts';
import {
  activatePromocode,
  deactivateMyDiscount,
  discountExpired,
  noDiscount,
} from '../../domain/promo/codes/activate-promocode.ts';
import { ACTIVATION_REFUSES } from '../../domain/promo/codes/errors.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';

/** Contract group `Cabinet Promocode`. */

const PromocodeActivateRequest = z
  .object({ code: z.string().min(1).max(50).describe('The promo code; upper and lower case are the same.') })
  .meta({ id: 'PromocodeActivateRequest', example: { code: 'SPRING26' } });

const PromocodeActivateResponse = z
  .object({
    success: z.boolean().describe('Always true: a code that cannot be activated is answered with an error status.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    balance_before: z.number().default(0).describe('Balance before the activation in rubles.'),
    balance_after: z.number().default(0).describe('Balance after the activation in rubles.'),
    bonus_description: z.string().nullish().describe('What the code gave, for display; null when there is nothing to say.'),
  })
  .meta({ id: 'PromocodeActivateResponse' });

const PromocodeDeactivateResponse = z
  .object({
    success: z.boolean().describe('Always true: where there is no such discount, the answer has an error status.'),
    message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
    deactivated_code: z.string().nullish().describe('Promo code that had given the discount; null when it came from elsewhere.'),
    discount_percent: z.int().default(0).describe('Discount in percent; 0 for none.'),
  })
  .meta({ id: 'PromocodeDeactivateResponse' });

const tags: [string] = ['Cabinet Promocode'];

export const promocodeRouter = router({
  activate: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/promocode/activate', tags, summary: 'Activate a promo code' },
      description:
        'Activates a promo code: money, days, a trial, a promo group or a discount, by its type. A user can use a code once, and five codes a day; repeated wrong codes are limited (429). If days are given, the panel is updated afterwards. Accepts `Idempotency-Key`.',
      refuses: [...ACTIVATION_REFUSES],
      idempotent: true,
    })
    .input(fromWire(PromocodeActivateRequest))
    .output(toWire(PromocodeActivateResponse))
    .mutation(async ({ ctx, input }) => {
      const activated = await activatePromocode(ctx.app, ctx.actor, input.code, ctx.idempotencyKey);
      return {
        success: true,
        message: 'Promo code activated successfully',
        balanceBefore: rublesOf(activated.balanceBeforeKopeks),
        balanceAfter: rublesOf(activated.balanceAfterKopeks),
        bonusDescription: activated.bonusDescription,
      };
    }),

  deactivateDiscount: cabinetProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/promocode/deactivate-discount',
        tags,
        summary: 'Deactivate the discount of a promo code',
      },
      description:
        'Removes an unused discount that a promo code gave. The code counts as unused again, and the user leaves a promo group that the code gave.',
      refuses: [noDiscount, discountExpired],
    })
    .output(toWire(PromocodeDeactivateResponse))
    .mutation(async ({ ctx }) => {
      const { code, percent } = await deactivateMyDiscount(ctx.app, ctx.actor);
      return { success: true, message: 'Discount deactivated', deactivatedCode: code, discountPercent: percent };
    }),
});
