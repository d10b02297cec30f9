import { z } from 'zod';
import { FreeForm, Moment } from '../shared.schemas.ts';

/** Contract group `Admin RBAC Policies` (spec 01 section 13). */

/** `include_inactive` is ours: without it a policy that was switched off could not be found again. */
export const PolicyListQuery = z.object({ role_id: z.int().nullish(), include_inactive: z.boolean().default(false) });
export const PolicyPath = z.object({ policy_id: z.int() });

export const PolicyResponse = z
  .object({
    id: z.int(),
    name: z.string(),
    description: z.string().nullish(),
    role_id: z.int().nullish(),
    role_name: z.string().nullish(),
    priority: z.int(),
    effect: z.string(),
    conditions: FreeForm.default({}),
    resource: z.string(),
    actions: z.string().array().default([]),
    is_active: z.boolean(),
    created_by: z.int().nullish(),
    created_at: Moment.nullish(),
  })
  .meta({ id: 'PolicyResponse' });

/** The contract has a pattern here and no list of values. */
const Effect = z.string().regex(/^(allow|deny)$/) as unknown as z.ZodType<'allow' | 'deny', string>;

export const PolicyCreateRequest = z
  .object({
    name: z.string().min(1).max(200),
    description: z.string().nullish(),
    role_id: z.int().nullish(),
    priority: z.int().min(0).max(1000).default(0),
    effect: Effect,
    conditions: FreeForm.default({}),
    resource: z.string().min(1).max(100),
    actions: z.string().array().default([]),
  })
  .meta({
    id: 'PolicyCreateRequest',
    example: { name: 'Office hours', effect: 'deny', resource: 'settings', actions: ['edit'], conditions: {} },
  });

export const PolicyUpdateRequest = z
  .object({
    name: z.string().min(1).max(200).nullish(),
    description: z.string().nullish(),
    role_id: z.int().nullish(),
    priority: z.int().min(0).max(1000).nullish(),
    effect: Effect.nullish(),
    conditions: FreeForm.nullish(),
    resource: z.string().min(1).max(100).nullish(),
    actions: z.string().array().nullish(),
    is_active: z.boolean().nullish(),
  })
  .meta({ id: 'PolicyUpdateRequest', example: { name: 'Office hours', priority: 10, is_active: true } });

export const PolicyDeletedResponse = z.object({ message: z.string(), policy_id: z.int() });
