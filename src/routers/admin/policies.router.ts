import { createPolicy, deletePolicy, listPolicies, updatePolicy } from '../../domain/access/manage-policies.ts';
import { adminProcedure, router } from '../trpc.ts';
import {
  PolicyCreateRequest,
  PolicyDeletedResponse,
  PolicyListQuery,
  PolicyPath,
  PolicyResponse,
  PolicyUpdateRequest,
} from './policies.schemas.ts';

const tags: [string] = ['Admin RBAC Policies'];
const PATH = '/cabinet/admin/rbac/policies';

/** The schema has let nothing else through. */
type Effect = 'allow' | 'deny';

function toPolicy(policy: Awaited<ReturnType<typeof createPolicy>>) {
  return {
    id: policy.id,
    name: policy.name,
    description: policy.description,
    role_id: policy.roleId,
    role_name: policy.roleName,
    priority: policy.priority,
    effect: policy.effect,
    conditions: policy.conditions,
    resource: policy.resource,
    actions: policy.actions,
    is_active: policy.isActive,
    created_by: policy.createdBy,
    created_at: policy.createdAt,
  };
}

export const adminPoliciesRouter = router({
  list: adminProcedure('roles:read')
    .meta({ openapi: { method: 'GET', path: PATH, tags, summary: 'List access policies' } })
    .input(PolicyListQuery)
    .output(PolicyResponse.array())
    .query(async ({ ctx, input }) => {
      const filter = { roleId: input.role_id ?? null, includeInactive: input.include_inactive };
      return (await listPolicies(ctx.app, filter)).map(toPolicy);
    }),

  create: adminProcedure('roles:create')
    .meta({ openapi: { method: 'POST', path: PATH, tags, summary: 'Create an access policy' } })
    .input(PolicyCreateRequest)
    .output(PolicyResponse)
    .mutation(async ({ ctx, input }) =>
      toPolicy(
        await createPolicy(ctx.app, ctx.actor, {
          name: input.name,
          description: input.description ?? null,
          roleId: input.role_id ?? null,
          priority: input.priority,
          effect: input.effect as Effect,
          conditions: input.conditions,
          resource: input.resource,
          actions: input.actions,
        }),
      ),
    ),

  update: adminProcedure('roles:edit')
    .meta({ openapi: { method: 'PUT', path: `${PATH}/{policy_id}`, tags, summary: 'Change an access policy' } })
    .input(PolicyPath.extend(PolicyUpdateRequest.shape))
    .output(PolicyResponse)
    .mutation(async ({ ctx, input }) =>
      toPolicy(
        await updatePolicy(ctx.app, ctx.actor, input.policy_id, {
          name: input.name ?? undefined,
          description: input.description,
          roleId: input.role_id,
          priority: input.priority ?? undefined,
          effect: (input.effect ?? undefined) as Effect | undefined,
          conditions: input.conditions ?? undefined,
          resource: input.resource ?? undefined,
          actions: input.actions ?? undefined,
          isActive: input.is_active ?? undefined,
        }),
      ),
    ),

  delete: adminProcedure('roles:delete')
    .meta({ openapi: { method: 'DELETE', path: `${PATH}/{policy_id}`, tags, summary: 'Delete an access policy' } })
    .input(PolicyPath)
    .output(PolicyDeletedResponse)
    .mutation(async ({ ctx, input }) => {
      await deletePolicy(ctx.app, ctx.actor, input.policy_id);
      return { message: 'Policy deleted', policy_id: input.policy_id };
    }),
});
