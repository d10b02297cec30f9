import { z } from 'zod';
import { FreeForm, Timestamp } from '../shared.schemas.ts';

/** Contract group `Admin RBAC Policies` (spec 01 section 13). */

/** `include_inactive` is ours: without it a policy that was switched off could not be found again. */
export const PolicyListQuery = z.object({
  role_id: z.int().nullish().describe('Only policies of this role.'),
  include_inactive: z.boolean().default(false).describe('Whether inactive records are listed too.'),
});
export const PolicyPath = z.object({ policy_id: z.int().describe('Id of the policy.') });

export const PolicyResponse = z
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
    is_active: z.boolean().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    created_by: z
      .int()
      .nullish()
      .describe('Who created the record: id of the user, or name of the API token; null when unknown.'),
    created_at: Timestamp.nullish().describe('When the policy was created (UTC).'),
  })
  .meta({ id: 'PolicyResponse' });

/** The contract has a pattern here and no list of values. */
const Effect = z.string().regex(/^(allow|deny)$/) as unknown as z.ZodType<'allow' | 'deny', string>;

export const PolicyCreateRequest = z
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

export const PolicyUpdateRequest = z
  .object({
    name: z.string().min(1).max(200).nullish().describe('New name of the policy, 1 to 200 characters; null leaves it unchanged.'),
    description: z.string().nullish().describe('New purpose of the policy; null removes it.'),
    role_id: z.int().nullish().describe('Id of the role; null for every role.'),
    priority: z.int().min(0).max(1000).nullish().describe('Rank; the highest decides where several apply.'),
    effect: Effect.nullish().describe('`allow` or `deny`. The first policy that denies decides.'),
    conditions: FreeForm.nullish().describe(
      'When the policy applies: `time_range`, `ip_whitelist`; empty for always, null unchanged.',
    ),
    resource: z.string().min(1).max(100).nullish().describe('Pattern of the section, for example `users` or `*`.'),
    actions: z.string().array().nullish().describe('Patterns of actions, for example `read` or `*`.'),
    is_active: z.boolean().nullish().describe('Whether it is active; an inactive record remains stored but has no effect.'),
  })
  .meta({ id: 'PolicyUpdateRequest', example: { name: 'Office hours', priority: 10, is_active: true } });

export const PolicyDeletedResponse = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  policy_id: z.int().describe('Id of the policy that was deleted.'),
});
