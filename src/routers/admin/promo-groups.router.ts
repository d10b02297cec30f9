import { deletePromoGroup } from '../../domain/promo-groups/delete-promo-group.ts';
import { listPromoGroupRecords, readPromoGroup } from '../../domain/promo-groups/read-promo-groups.ts';
import { changePromoGroup, createPromoGroup } from '../../domain/promo-groups/save-promo-group.ts';
import { toNewPromoGroup, toPromoGroupAnswer, toPromoGroupChanges } from '../promo-group-wire.ts';
import { SuccessResponse } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { PromoGroupListQuery, PromoGroupPath } from '../web/promo-groups.schemas.ts';
import {
  AdminPromoGroupCreateRequest,
  AdminPromoGroupListResponse,
  AdminPromoGroupResponse,
  AdminPromoGroupUpdateRequest,
} from './promo-groups.schemas.ts';

const tags: [string] = ['Admin Promo Groups'];

export const adminPromoGroupsRouter = router({
  list: adminProcedure('promo_groups:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/promo-groups', tags, summary: 'List promo groups' } })
    .input(PromoGroupListQuery)
    .output(AdminPromoGroupListResponse)
    .query(async ({ ctx, input }) => {
      const { items, total } = await listPromoGroupRecords(ctx.app, input);
      return { items: items.map(toPromoGroupAnswer), total, limit: input.limit, offset: input.offset };
    }),

  create: adminProcedure('promo_groups:create')
    .meta({ openapi: { method: 'POST', path: '/cabinet/admin/promo-groups', tags, summary: 'Create a promo group' } })
    .input(AdminPromoGroupCreateRequest)
    .output(AdminPromoGroupResponse)
    .mutation(async ({ ctx, input }) => toPromoGroupAnswer(await createPromoGroup(ctx.app, ctx.actor, toNewPromoGroup(input)))),

  get: adminProcedure('promo_groups:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/promo-groups/{group_id}', tags, summary: 'Read a promo group' } })
    .input(PromoGroupPath)
    .output(AdminPromoGroupResponse)
    .query(async ({ ctx, input }) => toPromoGroupAnswer(await readPromoGroup(ctx.app, input.group_id))),

  update: adminProcedure('promo_groups:edit')
    .meta({ openapi: { method: 'PATCH', path: '/cabinet/admin/promo-groups/{group_id}', tags, summary: 'Change a promo group' } })
    .input(PromoGroupPath.extend(AdminPromoGroupUpdateRequest.shape))
    .output(AdminPromoGroupResponse)
    .mutation(async ({ ctx, input: { group_id: id, ...input } }) =>
      toPromoGroupAnswer(await changePromoGroup(ctx.app, ctx.actor, id, toPromoGroupChanges(input))),
    ),

  delete: adminProcedure('promo_groups:delete')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/cabinet/admin/promo-groups/{group_id}',
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
