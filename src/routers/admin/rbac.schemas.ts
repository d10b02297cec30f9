import { z } from 'zod';
import { MomentInput } from '../moment-input.ts';
import { Moment } from '../shared.schemas.ts';

/** Contract group `Admin RBAC` (spec 01 section 12). */

export const PermissionSection = z.object({ section: z.string(), actions: z.string().array() }).meta({ id: 'PermissionSection' });

export const AdminWithRolesResponse = z
  .object({
    user_id: z.int(),
    messenger_id: z.int().nullish(),
    username: z.string().nullish(),
    first_name: z.string().nullish(),
    last_name: z.string().nullish(),
    email: z.string().nullish(),
    role_names: z.string().array().default([]),
  })
  .meta({ id: 'AdminWithRolesResponse' });

export const UserRoleResponse = z
  .object({
    id: z.int(),
    user_id: z.int(),
    role_id: z.int(),
    role_name: z.string().nullish(),
    user_messenger_id: z.int().nullish(),
    user_username: z.string().nullish(),
    user_first_name: z.string().nullish(),
    user_email: z.string().nullish(),
    assigned_by: z.int().nullish(),
    assigned_at: Moment.nullish(),
    expires_at: Moment.nullish(),
    is_active: z.boolean(),
  })
  .meta({ id: 'UserRoleResponse' });

export const RoleResponse = z
  .object({
    id: z.int(),
    name: z.string(),
    description: z.string().nullish(),
    level: z.int(),
    permissions: z.string().array().default([]),
    color: z.string().nullish(),
    icon: z.string().nullish(),
    is_system: z.boolean(),
    is_active: z.boolean(),
    user_count: z.int().default(0),
    created_at: Moment.nullish(),
  })
  .meta({ id: 'RoleResponse' });

export const RoleListQuery = z.object({ include_inactive: z.boolean().default(false) });
export const RolePath = z.object({ role_id: z.int() });
export const AssignmentPath = z.object({ assignment_id: z.int() });

export const RoleCreateRequest = z
  .object({
    name: z.string().min(1).max(100),
    description: z.string().nullish(),
    level: z.int().min(0).max(998),
    permissions: z.string().array().default([]),
    color: z.string().max(7).nullish(),
    icon: z.string().max(50).nullish(),
  })
  .meta({
    id: 'RoleCreateRequest',
    example: { name: 'Support', description: 'Answers tickets', level: 10, permissions: ['tickets:read'], color: '#3b82f6' },
  });

export const RoleUpdateRequest = z
  .object({
    name: z.string().min(1).max(100).nullish(),
    description: z.string().nullish(),
    level: z.int().min(0).max(998).nullish(),
    permissions: z.string().array().nullish(),
    color: z.string().max(7).nullish(),
    icon: z.string().max(50).nullish(),
    is_active: z.boolean().nullish(),
  })
  .meta({ id: 'RoleUpdateRequest', example: { name: 'Support', permissions: ['tickets:read'], is_active: true } });

export const RoleAssignRequest = z
  .object({ user_id: z.int(), role_id: z.int(), expires_at: MomentInput.nullish() })
  .meta({ id: 'RoleAssignRequest' });

export const RoleDeletedResponse = z.object({ message: z.string(), role_id: z.int() });
export const RoleRevokedResponse = z.object({ message: z.string(), assignment_id: z.int() });
