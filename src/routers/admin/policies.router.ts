import { z } from 'zod';
import { selfLockOut } from '../../domain/access/effective-access.ts';
import {
  createPolicy,
  deletePolicy,
  listPolicies,
  policyNotFound,
  policyOutOfReach,
  roleNotFound,
  updatePolicy,
} from '../../domain/access/policies.ts';
import { FreeForm, Timestamp } from '../shared.schemas.ts';
import { adminProcedure, freshAdminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Admin RBAC Policies`. */

/** `include_inactive` is ours: without it a policy that was switched off could not be found again. */
const PolicyListQuery = z.object({
  role_id: z.int().nullish().describe('Only policies of this role.'),
  include_inactive: z.boolean().default(false).describe('Whether inactive records are listed too.'),
});
const PolicyPath = z.object({ policy_id: z.int().describe('Id of the policy.') });

const PolicyResponse = z
  .object({
    id: z.int().describe('Id of the policy.'),
    name: z.string().describe('Name of the policy.'),
    description: z.string().nullish().describe('Purpose of the policy, for administrators; null for none.'),
    role_id: z.int().nullish().describe('Id of the role; null for every role.'),
    role_name: z.string().nullish().describe('Name of the role; null for every role.'),
    priority: z.int().describe('Rank; the highest decides where several apply.'),
    effect: z.string().describe('`allow` or `deny`. The first policy that denies decides.'),
    conditions: FreeForm.default({}).describe('When the policy applies: `time_range`, `ip_whitelist`; empty for always.'),
    resource: z.string().describe('Pattern of the section, for example `users` or `*`.'),
    actions: z.string().array().default([]).describe('Patterns of actions, for example `read` or `*`.'),
    is_active: z.boolean().describe('Whether the policy is evaluated; an inactive one denies nothing.'),
    created_by: z
      .int()
      .nullish()
      .describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
    created_at: Timestamp.nullish().describe('When the policy was created (UTC).'),
  })
  .meta({ id: 'PolicyResponse' });

/** The contract has a pattern here and no list of values. */
const Effect = z.string().regex(/^(allow|deny)$/) as unknown as z.ZodType<'allow' | 'deny', string>;

const PolicyCreateRequest = z
  .object({
    name: z.string().min(1).max(200).describe('Name of the policy, 1 to 200 characters.'),
    description: z.string().nullish().describe('Purpose of the policy, for administrators; null for none.'),
    role_id: z.int().nullish().describe('Id of the role; null for every role.'),
    priority: z.int().min(0).max(1000).default(0).describe('Order of evaluation, highest first.'),
    effect: Effect.describe('`allow` or `deny`. The first policy that denies decides.'),
    conditions: FreeForm.default({}).describe('When the policy applies: `time_range`, `ip_whitelist`; empty for always.'),
    resource: z.string().min(1).max(100).describe('Pattern of the section, for example `users` or `*`.'),
    actions: z.string().array().default([]).describe('Patterns of actions, for example `read` or `*`.'),
  })
  .meta({
    id: 'PolicyCreateRequest',
    example: { name: 'Office hours', effect: 'deny', resource: 'settings', actions: ['edit'], conditions: {} },
  });

const PolicyUpdateRequest = z
  .object({
    name: z.string().min(1).max(200).nullish().describe('New name of the policy, 1 to 200 characters; null leaves it unchanged.'),
    description: z.string().nullish().describe('New purpose of the policy; null removes it, absent leaves it unchanged.'),
    role_id: z.int().nullish().describe('Id of the role; null makes the policy apply to every role, absent leaves it unchanged.'),
    priority: z
      .int()
      .min(0)
      .max(1000)
      .nullish()
      .describe('Rank; the highest decides where several apply. Null leaves it unchanged.'),
    effect: Effect.nullish().describe('`allow` or `deny`. The first policy that denies decides. Null leaves it unchanged.'),
    conditions: FreeForm.nullish().describe(
      'When the policy applies: `time_range`, `ip_whitelist`; empty for always, null unchanged.',
    ),
    resource: z
      .string()
      .min(1)
      .max(100)
      .nullish()
      .describe('Pattern of the section, for example `users` or `*`; null leaves it unchanged.'),
    actions: z
      .string()
      .array()
      .nullish()
      .describe('Patterns of actions, for example `read` or `*`; they replace the stored ones, null leaves them unchanged.'),
    is_active: z
      .boolean()
      .nullish()
      .describe('Whether the policy is evaluated; an inactive one denies nothing, null leaves it unchanged.'),
  })
  .meta({ id: 'PolicyUpdateRequest', example: { name: 'Office hours', priority: 10, is_active: true } });

const PolicyDeletedResponse = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  policy_id: z.int().describe('Id of the policy that was deleted.'),
});

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

  create: freshAdminProcedure('roles:create')
    .meta({
      openapi: { method: 'POST', path: PATH, tags, summary: 'Create an access policy' },
      description:
        'Creates a policy that denies or allows actions of a section, for one role or for all, at certain times or addresses. Only denials have an effect.',
      refuses: [policyOutOfReach, selfLockOut, roleNotFound],
    })
    .input(fromWire(PolicyCreateRequest))
    .output(toWire(PolicyResponse))
    .mutation(({ ctx, input }) => createPolicy(ctx.app, ctx.actor, input)),

  update: freshAdminProcedure('roles:edit')
    .meta({
      openapi: { method: 'PUT', path: `${PATH}/{policy_id}`, tags, summary: 'Change an access policy' },
      description: 'Changes a policy; absent or null fields are not changed. The change applies immediately.',
      refuses: [policyOutOfReach, selfLockOut, policyNotFound, roleNotFound],
    })
    .input(fromWire(withBody(PolicyPath, PolicyUpdateRequest)))
    .output(toWire(PolicyResponse))
    .mutation(({ ctx, input: { policyId, ...change } }) => updatePolicy(ctx.app, ctx.actor, policyId, change)),

  delete: freshAdminProcedure('roles:delete')
    .meta({
      openapi: { method: 'DELETE', path: `${PATH}/{policy_id}`, tags, summary: 'Delete an access policy' },
      description: 'Deletes a policy; actions that it denied are allowed immediately.',
      refuses: [policyOutOfReach, policyNotFound],
    })
    .input(fromWire(PolicyPath))
    .output(toWire(PolicyDeletedResponse))
    .mutation(async ({ ctx, input }) => {
      await deletePolicy(ctx.app, ctx.actor, input.policyId);
      return { message: 'Policy deleted', policyId: input.policyId };
    }),
});
