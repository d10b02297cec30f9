import { deactivateDiscountOf } from '../../domain/promo/codes/deactivate-discount.ts';
import { listPromocodes, readPromocode } from '../../domain/promo/codes/read-promocodes.ts';
import { changePromocode, createPromocode, deletePromocode } from '../../domain/promo/codes/save-promocode.ts';
import { toAdminPromocode, toNewPromocode, toPromocodeChanges, toUsesAnswer } from '../promocode-wire.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { PromocodeListQuery, PromocodePath } from '../web/promocodes.schemas.ts';
import {
  AdminPromocodeCreateRequest,
  AdminPromocodeDetailResponse,
  AdminPromocodeListResponse,
  AdminPromocodeResponse,
  AdminPromocodeUpdateRequest,
  DeactivateDiscountResponse,
  DiscountUserPath,
} from './promocodes.schemas.ts';

const tags: [string] = ['Admin Promocodes'];

export const adminPromocodesRouter = router({
  list: adminProcedure('promocodes:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/promocodes', tags, summary: 'List promo codes, newest first' } })
    .input(PromocodeListQuery)
    .output(AdminPromocodeListResponse)
    .query(async ({ ctx, input: { is_active: isActive = null, limit, offset } }) => {
      const now = ctx.app.clock.now();
      const { items, total } = await listPromocodes(ctx.app, { isActive, limit, offset });
      return { items: items.map((item) => toAdminPromocode(item, now)), total, limit, offset };
    }),

  create: adminProcedure('promocodes:create')
    .meta({ openapi: { method: 'POST', path: '/cabinet/admin/promocodes', tags, summary: 'Create a promo code' } })
    .input(AdminPromocodeCreateRequest)
    .output(AdminPromocodeResponse)
    .mutation(async ({ ctx, input }) => {
      const { first_purchase_only: firstPurchaseOnly, promo_group_id: promoGroupId = null } = input;
      const request = { ...toNewPromocode(input), firstPurchaseOnly, promoGroupId, createdBy: ctx.actor.userId };
      return toAdminPromocode(await createPromocode(ctx.app, ctx.actor, request), ctx.app.clock.now());
    }),

  get: adminProcedure('promocodes:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/promocodes/{promocode_id}', tags, summary: 'A promo code and its uses' },
    })
    .input(PromocodePath)
    .output(AdminPromocodeDetailResponse)
    .query(async ({ ctx, input }) => {
      const details = await readPromocode(ctx.app, input.promocode_id);
      return { ...toAdminPromocode(details.promocode, ctx.app.clock.now()), ...toUsesAnswer(details) };
    }),

  update: adminProcedure('promocodes:edit')
    .meta({
      openapi: { method: 'PATCH', path: '/cabinet/admin/promocodes/{promocode_id}', tags, summary: 'Change a promo code' },
    })
    .input(PromocodePath.extend(AdminPromocodeUpdateRequest.shape))
    .output(AdminPromocodeResponse)
    .mutation(async ({ ctx, input: { promocode_id: id, ...input } }) =>
      toAdminPromocode(await changePromocode(ctx.app, ctx.actor, id, toPromocodeChanges(input)), ctx.app.clock.now()),
    ),

  delete: adminProcedure('promocodes:delete')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/cabinet/admin/promocodes/{promocode_id}',
        tags,
        summary: 'Delete a promo code and its uses',
      },
    })
    .input(PromocodePath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deletePromocode(ctx.app, ctx.actor, input.promocode_id);
      return { success: true as const };
    }),

  deactivateDiscount: adminProcedure('promocodes:edit')
    .meta({
      openapi: {
        method: 'POST',
        path: '/cabinet/admin/promocodes/deactivate-discount/{user_id}',
        tags,
        summary: "End a user's personal discount",
      },
    })
    .input(DiscountUserPath)
    .output(DeactivateDiscountResponse)
    .mutation(async ({ ctx, input: { user_id: userId } }) => {
      const { code, percent } = await deactivateDiscountOf(ctx.app, ctx.actor, userId);
      const message = `Discount of user ${userId} deactivated`;
      return { success: true, message, deactivated_code: code, discount_percent: percent, user_id: userId };
    }),
});
