import { userNotFound } from '../../domain/identity/errors.ts';
import { deactivateDiscountOf, noDiscount } from '../../domain/promo/codes/activate-promocode.ts';
import {
  codeTaken,
  limitBelowUses,
  promocodeNotFound,
  promoGroupUnknown,
  VALUE_REFUSALS,
} from '../../domain/promo/codes/errors.ts';
import {
  changePromocode,
  createPromocode,
  deletePromocode,
  listPromocodes,
  readPromocode,
} from '../../domain/promo/codes/promocodes.ts';
import { promocodeAnswer, withValidity } from '../promocode-answers.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { PromocodeListQuery, PromocodePath } from '../web/promocodes.schemas.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
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
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/promocodes', tags, summary: 'List promo codes, newest first' },
      description: 'Lists promo codes, newest first.',
    })
    .input(fromWire(PromocodeListQuery))
    .output(toWire(AdminPromocodeListResponse))
    .query(async ({ ctx, input }) => {
      const now = ctx.app.clock.now();
      const { items, total } = await listPromocodes(ctx.app, input);
      return { ...input, items: items.map((item) => promocodeAnswer(item, now)), total };
    }),

  create: adminProcedure('promocodes:create')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/promocodes', tags, summary: 'Create a promo code' },
      description:
        'Creates a promo code. Which fields are required depends on its type. The administrator is recorded as creator.',
      refuses: [
        VALUE_REFUSALS.bonus,
        VALUE_REFUSALS.code_empty,
        VALUE_REFUSALS.days,
        VALUE_REFUSALS.discount_hours,
        VALUE_REFUSALS.discount_percent,
        codeTaken,
        VALUE_REFUSALS.validity,
        promoGroupUnknown,
      ],
    })
    .input(fromWire(AdminPromocodeCreateRequest))
    .output(toWire(AdminPromocodeResponse))
    .mutation(async ({ ctx, input }) => {
      const { promoGroupId = null } = input;
      const request = { ...withValidity(input), promoGroupId, createdBy: ctx.actor.userId };
      return promocodeAnswer(await createPromocode(ctx.app, ctx.actor, request), ctx.app.clock.now());
    }),

  get: adminProcedure('promocodes:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/promocodes/{promocode_id}', tags, summary: 'A promo code and its uses' },
      description: 'Returns a promo code with the number of its uses and the ten newest ones.',
      refuses: [promocodeNotFound],
    })
    .input(fromWire(PromocodePath))
    .output(toWire(AdminPromocodeDetailResponse))
    .query(async ({ ctx, input }) => {
      const { promocode, ...uses } = await readPromocode(ctx.app, input.promocodeId);
      return { ...promocodeAnswer(promocode, ctx.app.clock.now()), ...uses };
    }),

  update: adminProcedure('promocodes:edit')
    .meta({
      openapi: { method: 'PATCH', path: '/cabinet/admin/promocodes/{promocode_id}', tags, summary: 'Change a promo code' },
      description:
        'Changes a promo code; null leaves a field unchanged. The same rules as for a new code apply to the result. Benefits that were given remain.',
      refuses: [
        VALUE_REFUSALS.bonus,
        VALUE_REFUSALS.code_empty,
        VALUE_REFUSALS.days,
        VALUE_REFUSALS.discount_hours,
        VALUE_REFUSALS.discount_percent,
        codeTaken,
        limitBelowUses,
        VALUE_REFUSALS.validity,
        promoGroupUnknown,
        promocodeNotFound,
      ],
    })
    .input(fromWire(withBody(PromocodePath, AdminPromocodeUpdateRequest)))
    .output(toWire(AdminPromocodeResponse))
    .mutation(async ({ ctx, input: { promocodeId: id, ...changes } }) =>
      promocodeAnswer(await changePromocode(ctx.app, ctx.actor, id, withValidity(changes)), ctx.app.clock.now()),
    ),

  delete: adminProcedure('promocodes:delete')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/cabinet/admin/promocodes/{promocode_id}',
        tags,
        summary: 'Delete a promo code and its uses',
      },
      description: 'Deletes a promo code and the records of its uses. A code that the fortune wheel gave cannot be deleted.',
      refuses: [promocodeNotFound],
    })
    .input(fromWire(PromocodePath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deletePromocode(ctx.app, ctx.actor, input.promocodeId);
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
      description: 'Ends the personal discount of a user. If a promo code gave it, the code counts as unused again.',
      refuses: [noDiscount, userNotFound],
    })
    .input(fromWire(DiscountUserPath))
    .output(toWire(DeactivateDiscountResponse))
    .mutation(async ({ ctx, input: { userId } }) => {
      const { code, percent } = await deactivateDiscountOf(ctx.app, ctx.actor, userId);
      const message = `Discount of user ${userId} deactivated`;
      return { success: true, message, deactivatedCode: code, discountPercent: percent, userId };
    }),
});
