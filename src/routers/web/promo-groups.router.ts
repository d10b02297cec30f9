import { deletePromoGroup } from '../../domain/promo-groups/delete-promo-group.ts';
import { listPromoGroupRecords, readPromoGroup } from '../../domain/promo-groups/read-promo-groups.ts';
import { changePromoGroup, createPromoGroup } from '../../domain/promo-groups/save-promo-group.ts';
import type { PromoGroupRecord } from '../../domain/promo-groups/types.ts';
import { toNewPromoGroup, toPromoGroupAnswer, toPromoGroupChanges } from '../promo-group-wire.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { auditedWebProcedure, router, webProcedure } from '../trpc.ts';
import {
  PromoGroupCreateRequest,
  PromoGroupListQuery,
  PromoGroupListResponse,
  PromoGroupPath,
  PromoGroupResponse,
  PromoGroupUpdateRequest,
} from './promo-groups.schemas.ts';

const tags: [string] = ['promo-groups'];

/** Fields without value are left out here (spec 04 section 8.4). */
function toAnswer(group: PromoGroupRecord) {
  const { auto_assign_total_spent_kopeks: threshold, ...answer } = toPromoGroupAnswer(group);
  return threshold === null ? answer : { ...answer, auto_assign_total_spent_kopeks: threshold };
}

export const promoGroupsRouter = router({
  list: webProcedure
    .meta({ openapi: { method: 'GET', path: '/promo-groups', tags, summary: 'List promo groups' } })
    .input(PromoGroupListQuery)
    .output(PromoGroupListResponse)
    .query(async ({ ctx, input }) => {
      const { items, total } = await listPromoGroupRecords(ctx.app, input);
      return { items: items.map(toAnswer), total, limit: input.limit, offset: input.offset };
    }),

  create: auditedWebProcedure('promo_groups:create')
    .meta({ openapi: { method: 'POST', path: '/promo-groups', tags, summary: 'Create a promo group' } })
    .input(PromoGroupCreateRequest)
    .output(PromoGroupResponse)
    .mutation(async ({ ctx, input }) => toAnswer(await createPromoGroup(ctx.app, ctx.actor, toNewPromoGroup(input)))),

  get: webProcedure
    .meta({ openapi: { method: 'GET', path: '/promo-groups/{group_id}', tags, summary: 'Read a promo group' } })
    .input(PromoGroupPath)
    .output(PromoGroupResponse)
    .query(async ({ ctx, input }) => toAnswer(await readPromoGroup(ctx.app, input.group_id))),

  update: auditedWebProcedure('promo_groups:edit')
    .meta({ openapi: { method: 'PATCH', path: '/promo-groups/{group_id}', tags, summary: 'Change a promo group' } })
    .input(PromoGroupPath.extend(PromoGroupUpdateRequest.shape))
    .output(PromoGroupResponse)
    .mutation(async ({ ctx, input: { group_id: id, ...input } }) =>
      toAnswer(await changePromoGroup(ctx.app, ctx.actor, id, toPromoGroupChanges(input))),
    ),

  delete: auditedWebProcedure('promo_groups:delete')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/promo-groups/{group_id}',
        tags,
        summary: 'Delete a promo group; its members get the default one',
      },
    })
    .input(PromoGroupPath)
    .output(SuccessResponse)
    .mutation(async ({ ctx, input }) => {
      await deletePromoGroup(ctx.app, ctx.actor, input.group_id);
      return { success: true as const };
    }),
});
