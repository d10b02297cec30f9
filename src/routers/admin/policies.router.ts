import {
  createPolicy,
  deletePolicy,
  listPolicies,
  policyNotFound,
  policyOutOfReach,
  roleNotFound,
  updatePolicy,
} from '../../domain/access/policies.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
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

export const adminPoliciesRouter = router({
  list: adminProcedure('roles:read')
    .meta({
      openapi: { method: 'GET', path: PATH, tags, summary: 'List access policies' },
      description: 'Lists access policies, highest priority first.',
    })
    .input(fromWire(PolicyListQuery))
    .output(toWire(PolicyResponse.array()))
    .query(({ ctx, input }) => listPolicies(ctx.app, { ...input, roleId: input.roleId ?? null })),

  create: adminProcedure('roles:create')
    .meta({
      openapi: { method: 'POST', path: PATH, tags, summary: 'Create an access policy' },
      description:
        'Creates a policy that denies or allows actions of a section, for one role or for all, at certain times or addresses. Only denials have an effect.',
      refuses: [policyOutOfReach, roleNotFound],
    })
    .input(fromWire(PolicyCreateRequest))
    .output(toWire(PolicyResponse))
    .mutation(({ ctx, input }) => createPolicy(ctx.app, ctx.actor, input)),

  update: adminProcedure('roles:edit')
    .meta({
      openapi: { method: 'PUT', path: `${PATH}/{policy_id}`, tags, summary: 'Change an access policy' },
      description: 'Changes a policy; absent or null fields are not changed. The change applies immediately.',
      refuses: [policyOutOfReach, policyNotFound, roleNotFound],
    })
    .input(fromWire(withBody(PolicyPath, PolicyUpdateRequest)))
    .output(toWire(PolicyResponse))
    .mutation(({ ctx, input: { policyId, ...change } }) => updatePolicy(ctx.app, ctx.actor, policyId, change)),

  delete: adminProcedure('roles:delete')
    .meta({
      openapi: { method: 'DELETE', path: `${PATH}/{policy_id}`, tags, summary: 'Delete an access policy' },
      description: 'Deletes a policy; actions that it denied are allowed immediately.',
      refuses: [policyNotFound],
    })
    .input(fromWire(PolicyPath))
    .output(toWire(PolicyDeletedResponse))
    .mutation(async ({ ctx, input }) => {
      await deletePolicy(ctx.app, ctx.actor, input.policyId);
      return { message: 'Policy deleted', policyId: input.policyId };
    }),
});
