import { rublesOf } from '../../core/money.ts';
import { activatePromocode } from '../../domain/promo/codes/activate-promocode.ts';
import { deactivateOwnDiscount } from '../../domain/promo/codes/deactivate-discount.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { PromocodeActivateRequest, PromocodeActivateResponse, PromocodeDeactivateResponse } from './promocode.schemas.ts';

const tags: [string] = ['Cabinet Promocode'];

export const promocodeRouter = router({
  activate: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/promocode/activate', tags, summary: 'Activate a promo code' },
      idempotent: true,
    })
    .input(PromocodeActivateRequest)
    .output(PromocodeActivateResponse)
    .mutation(async ({ ctx, input }) => {
      const activated = await activatePromocode(ctx.app, ctx.actor, input.code, ctx.idempotencyKey);
      return {
        success: true,
        message: 'Promo code activated successfully',
        balance_before: rublesOf(activated.balanceBeforeKopeks),
        balance_after: rublesOf(activated.balanceAfterKopeks),
        bonus_description: activated.bonusDescription,
      };
    }),

  deactivateDiscount: cabinetProcedure
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/promocode/deactivate-discount',
        tags,
        summary: 'Give back the discount of a promo code',
      },
    })
    .output(PromocodeDeactivateResponse)
    .mutation(async ({ ctx }) => {
      const { code, percent } = await deactivateOwnDiscount(ctx.app, ctx.actor);
      return { success: true, message: 'Discount deactivated', deactivated_code: code, discount_percent: percent };
    }),
});
