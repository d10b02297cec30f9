import type { AdminActor, TokenActor } from '../core/actor.ts';
import {
  changePromoGroup,
  createPromoGroup,
  defaultGroupNotDeletable,
  deletePromoGroup,
  listPromoGroupRecords,
  promoGroupNameTaken,
  promoGroupNotFound,
  readPromoGroup,
} from '../domain/promo-groups/promo-groups.ts';
import type { PromoGroupRecord } from '../domain/promo-groups/types.ts';
import { SuccessResponse } from './shared.schemas.ts';
import type { ProcedureFor, ReaderFor } from './trpc.ts';
import {
  type PromoGroupCreateRequest,
  PromoGroupListQuery,
  type PromoGroupListResponse,
  PromoGroupPath,
  type PromoGroupResponse,
  type PromoGroupUpdateRequest,
} from './web/promo-groups.schemas.ts';
import { fromWire, toWire, withBody } from './wire.ts';

type Procedure = ProcedureFor<TokenActor | AdminActor>;

interface Group {
  read: ReaderFor<TokenActor | AdminActor>;
  create: Procedure;
  edit: Procedure;
  delete: Procedure;
  base: `/${string}`;
  tag: string;
  schemas: {
    response: typeof PromoGroupResponse;
    list: typeof PromoGroupListResponse;
    createRequest: typeof PromoGroupCreateRequest;
    updateRequest: typeof PromoGroupUpdateRequest;
  };
  /** Whether fields without a value are left out of the answers. */
  omitsNull: boolean;
}

/** Promo groups, which API tokens and administrators manage in the same way. */
export function promoGroupProcedures({ base, tag, schemas, omitsNull, ...procedures }: Group) {
  const tags: [string] = [tag];
  const one = `${base}/{group_id}` as const;
  const Response = toWire(schemas.response);
  const shown = (group: PromoGroupRecord) =>
    omitsNull ? { ...group, autoAssignTotalSpentKopeks: group.autoAssignTotalSpentKopeks ?? undefined } : group;
  return {
    list: procedures.read
      .meta({
        openapi: { method: 'GET', path: base, tags, summary: 'List promo groups' },
        description: 'Lists promo groups by priority and name, with the number of users whose primary group each is.',
      })
      .input(PromoGroupListQuery)
      .output(toWire(schemas.list))
      .query(async ({ ctx, input }) => {
        const { items, total } = await listPromoGroupRecords(ctx.app, input);
        return { items: items.map(shown), total, ...input };
      }),

    create: procedures.create
      .meta({
        openapi: { method: 'POST', path: base, tags, summary: 'Create a promo group' },
        description:
          'Creates a promo group. The first group, or one with `is_default`, becomes the default one in place of another.',
        refuses: [promoGroupNameTaken],
      })
      .input(fromWire(schemas.createRequest))
      .output(Response)
      .mutation(async ({ ctx, input }) => shown(await createPromoGroup(ctx.app, ctx.actor, input))),

    get: procedures.read
      .meta({
        openapi: { method: 'GET', path: one, tags, summary: 'Read a promo group' },
        description: 'Returns a promo group with the number of its members.',
        refuses: [promoGroupNotFound],
      })
      .input(fromWire(PromoGroupPath))
      .output(Response)
      .query(async ({ ctx, input }) => shown(await readPromoGroup(ctx.app, input.groupId))),

    update: procedures.edit
      .meta({
        openapi: { method: 'PATCH', path: one, tags, summary: 'Change a promo group' },
        description:
          'Changes a promo group; null leaves a field unchanged. Prices of its members change immediately. Removing `is_default` makes another group the default one.',
        refuses: [promoGroupNameTaken, promoGroupNotFound],
      })
      .input(fromWire(withBody(PromoGroupPath, schemas.updateRequest)))
      .output(Response)
      .mutation(async ({ ctx, input: { groupId, ...changes } }) =>
        shown(await changePromoGroup(ctx.app, ctx.actor, groupId, changes)),
      ),

    delete: procedures.delete
      .meta({
        openapi: { method: 'DELETE', path: one, tags, summary: 'Delete a promo group; its members get the default one' },
        description: 'Deletes a promo group; its members join the default one. The default group itself cannot be deleted.',
        refuses: [defaultGroupNotDeletable, promoGroupNotFound],
      })
      .input(fromWire(PromoGroupPath))
      .output(SuccessResponse)
      .mutation(async ({ ctx, input }) => {
        await deletePromoGroup(ctx.app, ctx.actor, input.groupId);
        return { success: true as const };
      }),
  };
}
