import { z } from 'zod';
import { Timestamp, TimestampInput } from '../shared.schemas.ts';

/** Contract group `Admin RBAC` (spec 01 section 12). */

export const PermissionSection = z
  .object({
    section: z.string().describe('Section of the administration.'),
    actions: z.string().array().describe('Actions of the section.'),
  })
  .meta({ id: 'PermissionSection' });

export const AdminWithRolesResponse = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    username: z.string().nullish().describe('User name in the messenger, without `@`; null when the user has none.'),
    first_name: z.string().nullish().describe('First name; null when unknown.'),
    last_name: z.string().nullish().describe('Last name; null when unknown.'),
    email: z.string().nullish().describe('E-mail address; null when the account has none.'),
    role_names: z.string().array().default([]).describe('Names of the roles of the user.'),
  })
  .meta({ id: 'AdminWithRolesResponse' });

export const UserRoleResponse = z
  .object({
    id: z.int().describe('Id of the assignment of the role.'),
    user_id: z.int().describe('Internal id of the user.'),
    role_id: z.int().describe('Id of the role.'),
    role_name: z.string().nullish().describe('Name of the role; null for every role.'),
    user_messenger_id: z.int().nullish().describe('Id of the user in the messenger; null for an account without messenger.'),
    user_username: z.string().nullish().describe('User name in the messenger; null when the user has none.'),
    user_first_name: z.string().nullish().describe('First name of the user; null when unknown.'),
    user_email: z.string().nullish().describe('E-mail address of the user; null for none.'),
    assigned_by: z.int().nullish().describe('Internal id of the user who assigned the role; null for the service itself.'),
    assigned_at: Timestamp.nullish().describe('When the role was assigned (UTC); null when unknown.'),
    expires_at: Timestamp.nullish().describe('When the assignment ends (UTC); null for an assignment without end.'),
    is_active: z.boolean().describe('Whether it is active; an inactive record remains stored but has no effect.'),
  })
  .meta({ id: 'UserRoleResponse' });

export const RoleResponse = z
  .object({
    id: z.int().describe('Id of the role.'),
    name: z.string().describe('Name of the role, unique.'),
    description: z.string().nullish().describe('Purpose of the role, for administrators; null for none.'),
    level: z.int().describe('Rank of the role. A role can be managed only by administrators above its level.'),
    permissions: z.string().array().default([]).describe('Patterns of permissions: `section:action`, `section:*` or `*:*`.'),
    color: z.string().nullish().describe('Colour as `#RRGGBB`; null when none is set.'),
    icon: z.string().nullish().describe('Emoji or icon name; null or empty when there is none.'),
    is_system: z.boolean().describe('Whether the role belongs to the service and cannot be deleted.'),
    is_active: z.boolean().describe('Whether it is active; an inactive record remains stored but has no effect.'),
    user_count: z.int().default(0).describe('Number of users with the role.'),
    created_at: Timestamp.nullish().describe('When the role was created (UTC).'),
  })
  .meta({ id: 'RoleResponse' });

export const RoleListQuery = z.object({
  include_inactive: z.boolean().default(false).describe('Whether inactive records are listed too.'),
});
export const RolePath = z.object({ role_id: z.int().describe('Id of the role.') });
export const AssignmentPath = z.object({ assignment_id: z.int().describe('Id of the assignment.') });

export const RoleCreateRequest = z
  .object({
    name: z.string().min(1).max(100).describe('Unique name of the role.'),
    description: z.string().nullish().describe('Purpose of the role, for administrators; null for none.'),
    level: z.int().min(0).max(998).describe('Rank of the role. A role can be managed only by administrators above its level.'),
    permissions: z.string().array().default([]).describe('Patterns of permissions: `section:action`, `section:*` or `*:*`.'),
    color: z.string().max(7).nullish().describe('Colour as `#RRGGBB`; null when none is set.'),
    icon: z.string().max(50).nullish().describe('Emoji or icon name; null or empty when there is none.'),
  })
  .meta({
    id: 'RoleCreateRequest',
    example: { name: 'Support', description: 'Answers tickets', level: 10, permissions: ['tickets:read'], color: '#3b82f6' },
  });

export const RoleUpdateRequest = z
  .object({
    name: z
      .string()
      .min(1)
      .max(100)
      .nullish()
      .describe('New unique name of the role, 1 to 100 characters; null leaves it unchanged.'),
    description: z.string().nullish().describe('New purpose of the role; null removes it.'),
    level: z
      .int()
      .min(0)
      .max(998)
      .nullish()
      .describe('Rank of the role. A role can be managed only by administrators above its level.'),
    permissions: z.string().array().nullish().describe('Patterns of permissions: `section:action`, `section:*` or `*:*`.'),
    color: z.string().max(7).nullish().describe('Colour as `#RRGGBB`; null when none is set.'),
    icon: z.string().max(50).nullish().describe('Emoji or icon name; null or empty when there is none.'),
    is_active: z.boolean().nullish().describe('Whether it is active; an inactive record remains stored but has no effect.'),
  })
  .meta({ id: 'RoleUpdateRequest', example: { name: 'Support', permissions: ['tickets:read'], is_active: true } });

export const RoleAssignRequest = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    role_id: z.int().describe('Id of the role.'),
    expires_at: TimestampInput.nullish().describe('When the assignment ends (UTC); null for an assignment without end.'),
  })
  .meta({ id: 'RoleAssignRequest' });

export const RoleDeletedResponse = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  role_id: z.int().describe('Id of the role.'),
});
export const RoleRevokedResponse = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  assignment_id: z.int().describe('Id of the assignment that was removed.'),
});
