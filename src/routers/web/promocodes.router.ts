import { listPromocodes, readPromocode } from '../../domain/promo/codes/read-promocodes.ts';
import { changePromocode, createPromocode, deletePromocode } from '../../domain/promo/codes/save-promocode.ts';
import { toNewPromocode, toPromocodeAnswer, toPromocodeChanges, toUsesAnswer } from '../promocode-wire.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
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
    .meta({ openapi: { method: 'GET', path: '/promo-codes', tags, summary: 'List promo codes, newest first' } })
    .input(PromocodeListQuery)
    .output(PromoCodeListResponse)
    .query(async ({ ctx, input: { is_active: isActive = null, limit, offset } }) => {
      const now = ctx.app.clock.now();
      const { items, total } = await listPromocodes(ctx.app, { isActive, limit, offset });
      return { items: items.map((item) => toPromocodeAnswer(item, now)), total, limit, offset };
    }),

  create: auditedWebProcedure('promocodes:create')
    .meta({ openapi: { method: 'POST', path: '/promo-codes', tags, summary: 'Create a promo code' } })
    .input(PromoCodeCreateRequest)
    .output(PromoCodeResponse)
    .mutation(async ({ ctx, input }) => {
      const createdBy = input.created_by && input.created_by > 0 ? input.created_by : null;
      const request = { ...toNewPromocode(input), firstPurchaseOnly: false, promoGroupId: null, createdBy };
      return toPromocodeAnswer(await createPromocode(ctx.app, ctx.actor, request), ctx.app.clock.now());
    }),

  get: webProcedure
    .meta({ openapi: { method: 'GET', path: '/promo-codes/{promocode_id}', tags, summary: 'A promo code and its uses' } })
    .input(PromocodePath)
    .output(PromoCodeDetailResponse)
    .query(async ({ ctx, input }) => {
      const details = await readPromocode(ctx.app, input.promocode_id);
      return { ...toPromocodeAnswer(details.promocode, ctx.app.clock.now()), ...toUsesAnswer(details) };
    }),

  update: auditedWebProcedure('promocodes:edit')
    .meta({ openapi: { method: 'PATCH', path: '/promo-codes/{promocode_id}', tags, summary: 'Change a promo code' } })
    .input(PromocodePath.extend(PromoCodeUpdateRequest.shape))
    .output(PromoCodeResponse)
    .mutation(async ({ ctx, input: { promocode_id: id, ...input } }) =>
      toPromocodeAnswer(await changePromocode(ctx.app, ctx.actor, id, toPromocodeChanges(input)), ctx.app.clock.now()),
    ),

  delete: auditedWebProcedure('promocodes:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/promo-codes/{promocode_id}', tags, summary: 'Delete a promo code and its uses' },
    })
    .input(PromocodePath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deletePromocode(ctx.app, ctx.actor, input.promocode_id);
      return { success: true as const };
    }),
});
