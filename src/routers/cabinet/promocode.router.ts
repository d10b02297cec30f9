import { rublesOf } from '../../core/money.ts';
import { activatePromocode } from '../../domain/promo/codes/activate-promocode.ts';
import { deactivateMyDiscount } from '../../domain/promo/codes/deactivate-discount.ts';
import { cabinetProcedure, router } from '../trpc.ts';
import { fromWire, toWire } from '../wire.ts';
import { PromocodeActivateRequest, PromocodeActivateResponse, PromocodeDeactivateResponse } from './promocode.schemas.ts';

const tags: [string] = ['Cabinet Promocode'];

export const promocodeRouter = router({
  activate: cabinetProcedure
    .meta({
      openapi: { method: 'POST', path: '/cabinet/promocode/activate', tags, summary: 'Activate a promo code' },
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
    })
    .output(toWire(PromocodeDeactivateResponse))
    .mutation(async ({ ctx }) => {
      const { code, percent } = await deactivateMyDiscount(ctx.app, ctx.actor);
      return { success: true, message: 'Discount deactivated', deactivatedCode: code, discountPercent: percent };
    }),
});
