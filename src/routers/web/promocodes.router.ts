import { userNotFound } from '../../domain/identity/errors.ts';
import { CHANGE_REFUSES, CREATION_REFUSES, promocodeNotFound } from '../../domain/promo/codes/errors.ts';
import {
  changePromocode,
  createPromocode,
  deletePromocode,
  listPromocodes,
  readPromocode,
} from '../../domain/promo/codes/promocodes.ts';
import { promocodeAnswer, withValidity } from '../promocode-answers.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  PromoCodeCreateRequest,
  PromoCodeDetailResponse,
  PromoCodeListResponse,
  PromoCodeResponse,
  PromoCodeUpdateRequest,
  PromocodeListQuery,
  PromocodePath,
} from './promocodes.schemas.ts';

const tags: [string] = ['promo-codes'];

export const promocodesRouter = router({
  list: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/promo-codes', tags, summary: 'List promo codes, newest first' },
      description: 'Lists promo codes, newest first.',
    })
    .input(fromWire(PromocodeListQuery))
    .output(toWire(PromoCodeListResponse))
    .query(async ({ ctx, input }) => {
      const now = ctx.app.clock.now();
      const { items, total } = await listPromocodes(ctx.app, input);
      return { ...input, items: items.map((item) => promocodeAnswer(item, now)), total };
    }),

  create: auditedWebProcedure('promocodes:create')
    .meta({
      openapi: { method: 'POST', path: '/promo-codes', tags, summary: 'Create a promo code' },
      description: 'Creates a promo code. Which fields are required depends on its type.',
      refuses: [...CREATION_REFUSES, userNotFound],
    })
    .input(fromWire(PromoCodeCreateRequest))
    .output(toWire(PromoCodeResponse))
    .mutation(async ({ ctx, input }) => {
      const createdBy = input.createdBy && input.createdBy > 0 ? input.createdBy : null;
      const request = { ...withValidity(input), firstPurchaseOnly: false, promoGroupId: null, createdBy };
      return promocodeAnswer(await createPromocode(ctx.app, ctx.actor, request), ctx.app.clock.now());
    }),

  get: webProcedure
    .meta({
      openapi: { method: 'GET', path: '/promo-codes/{promocode_id}', tags, summary: 'A promo code and its uses' },
      description: 'Returns a promo code with the number of its uses and the ten newest ones.',
      refuses: [promocodeNotFound],
    })
    .input(fromWire(PromocodePath))
    .output(toWire(PromoCodeDetailResponse))
    .query(async ({ ctx, input }) => {
      const { promocode, ...uses } = await readPromocode(ctx.app, input.promocodeId);
      return { ...promocodeAnswer(promocode, ctx.app.clock.now()), ...uses };
    }),

  update: auditedWebProcedure('promocodes:edit')
    .meta({
      openapi: { method: 'PATCH', path: '/promo-codes/{promocode_id}', tags, summary: 'Change a promo code' },
      description:
        'Changes a promo code; null leaves a field unchanged. The same rules as for a new code apply to the result. Benefits that were given remain.',
      refuses: [...CHANGE_REFUSES],
    })
    .input(fromWire(withBody(PromocodePath, PromoCodeUpdateRequest)))
    .output(toWire(PromoCodeResponse))
    .mutation(async ({ ctx, input: { promocodeId: id, ...changes } }) =>
      promocodeAnswer(await changePromocode(ctx.app, ctx.actor, id, withValidity(changes)), ctx.app.clock.now()),
    ),

  delete: auditedWebProcedure('promocodes:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/promo-codes/{promocode_id}', tags, summary: 'Delete a promo code and its uses' },
      description: 'Deletes a promo code and the records of its uses. A code that the fortune wheel gave cannot be deleted.',
      refuses: [promocodeNotFound],
    })
    .input(fromWire(PromocodePath))
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deletePromocode(ctx.app, ctx.actor, input.promocodeId);
      return { success: true as const };
    }),
});
