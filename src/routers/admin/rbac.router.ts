import { z } from 'zod';
import { permissionsBeyondGrantor, selfLockOut } from '../../domain/access/effective-access.ts';
import {
  assignedLevelTooHigh,
  assignmentNotFound,
  assignRole,
  listAdmins,
  listRoleUsers,
  revokedOutOfReach,
  revokeRole,
  superadminRole,
  targetUserNotFound,
} from '../../domain/access/manage-assignments.ts';
import {
  createRole,
  deleteRole,
  listPermissions,
  listRoles,
  permissionsUnknown,
  roleLevelTooHigh,
  roleNameTaken,
  roleNotFound,
  roleOutOfReach,
  systemRoleFixed,
  updateRole,
} from '../../domain/access/roles.ts';
import type { Assignment } from '../../domain/access/types.ts';
import { Timestamp, TimestampInput, utcDate } from '../shared.schemas.ts';
import { adminProcedure, freshAdminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';

/** Contract group `Admin RBAC`. */

const PermissionSection = z
  .object({
    section: z.string().describe('Section of the administration.'),
    actions: z.string().array().describe('Actions of the section.'),
  })
  .meta({ id: 'PermissionSection' });

const AdminWithRolesResponse = z
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

const UserRoleResponse = z
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
    is_active: z
      .boolean()
      .describe('Always true: assignments that were withdrawn are not returned. One past `expires_at` gives no permissions.'),
  })
  .meta({ id: 'UserRoleResponse' });

const REQUIRES_SECOND_FACTOR =
  'Whether its users must show a second factor in the session. Without effect while `SECOND_FACTOR_FOR` is `nobody`.';

const RoleResponse = z
  .object({
    id: z.int().describe('Id of the role.'),
    name: z.string().describe('Name of the role, unique.'),
    description: z.string().nullish().describe('Purpose of the role, for administrators; null for none.'),
    level: z.int().describe('Rank of the role. A role can be managed only by administrators above its level.'),
    permissions: z.string().array().default([]).describe('Patterns of permissions: `section:action`, `section:*` or `*:*`.'),
    color: z.string().nullish().describe('Colour as `#RRGGBB`; null when none is set.'),
    icon: z.string().nullish().describe('Emoji or icon name; null or empty when there is none.'),
    is_system: z.boolean().describe('Whether the role belongs to the service and cannot be deleted.'),
    is_active: z
      .boolean()
      .describe('Whether the role gives its permissions; an inactive one keeps its users and gives them nothing.'),
    requires_second_factor: z.boolean().default(false).describe(REQUIRES_SECOND_FACTOR),
    user_count: z.int().default(0).describe('Number of users with the role.'),
    created_at: Timestamp.nullish().describe('When the role was created (UTC).'),
  })
  .meta({ id: 'RoleResponse' });

const RoleListQuery = z.object({
  include_inactive: z.boolean().default(false).describe('Whether inactive records are listed too.'),
});
const RolePath = z.object({ role_id: z.int().describe('Id of the role.') });
const AssignmentPath = z.object({ assignment_id: z.int().describe('Id of the assignment.') });

const RoleCreateRequest = z
  .object({
    name: z.string().min(1).max(100).describe('Unique name of the role.'),
    description: z.string().nullish().describe('Purpose of the role, for administrators; null for none.'),
    level: z.int().min(0).max(998).describe('Rank of the role. A role can be managed only by administrators above its level.'),
    permissions: z.string().array().default([]).describe('Patterns of permissions: `section:action`, `section:*` or `*:*`.'),
    color: z.string().max(7).nullish().describe('Colour as `#RRGGBB`; null when none is set.'),
    icon: z.string().max(50).nullish().describe('Emoji or icon name; null or empty when there is none.'),
    requires_second_factor: z.boolean().default(false).describe(REQUIRES_SECOND_FACTOR),
  })
  .meta({
    id: 'RoleCreateRequest',
    example: { name: 'Support', description: 'Answers tickets', level: 10, permissions: ['tickets:read'], color: '#3b82f6' },
  });

const RoleUpdateRequest = z
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
      .describe('Rank of the role; null leaves it unchanged. A role can be managed only by administrators above its level.'),
    permissions: z
      .string()
      .array()
      .nullish()
      .describe(
        'Patterns of permissions: `section:action`, `section:*` or `*:*`. They replace the stored ones; null leaves them unchanged.',
      ),
    color: z.string().max(7).nullish().describe('Colour as `#RRGGBB`; null when none is set.'),
    icon: z.string().max(50).nullish().describe('Emoji or icon name; null or empty when there is none.'),
    is_active: z
      .boolean()
      .nullish()
      .describe('Whether the role gives its permissions to its users; null leaves it unchanged. Fixed for a system role.'),
    requires_second_factor: z.boolean().nullish().describe(`${REQUIRES_SECOND_FACTOR} Null leaves it unchanged.`),
  })
  .meta({ id: 'RoleUpdateRequest', example: { name: 'Support', permissions: ['tickets:read'], is_active: true } });

const RoleAssignRequest = z
  .object({
    user_id: z.int().describe('Internal id of the user.'),
    role_id: z.int().describe('Id of the role.'),
    expires_at: TimestampInput.nullish().describe('When the assignment ends (UTC); null for an assignment without end.'),
  })
  .meta({ id: 'RoleAssignRequest' });

const RoleDeletedResponse = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  role_id: z.int().describe('Id of the role.'),
});
const RoleRevokedResponse = z.object({
  message: z.string().describe('Sentence for people that describes the outcome. Not for programs.'),
  assignment_id: z.int().describe('Id of the assignment that was removed.'),
});

const tags: [string] = ['Admin RBAC'];

/** The contract has other names for the fields of the user. */
function toAssignment({ messengerId, username, firstName, email, ...assignment }: Assignment) {
  return {
    ...assignment,
    ...{ userMessengerId: messengerId, userUsername: username, userFirstName: firstName, userEmail: email },
  };
}

export const adminRbacRouter = router({
  permissions: adminProcedure('roles:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/rbac/permissions', tags, summary: 'List all permissions' },
      description: 'Lists all sections and their actions, from which permissions are made.',
    })
    .output(toWire(PermissionSection.array()))
    .query(() => listPermissions()),

  users: adminProcedure('roles:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/rbac/users', tags, summary: 'List administrators with their roles' },
      description: 'Lists users with active roles.',
    })
    .output(toWire(AdminWithRolesResponse.array()))
    .query(({ ctx }) => listAdmins(ctx.app)),

  roleUsers: adminProcedure('roles:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/rbac/roles/{role_id}/users', tags, summary: 'List the users of a role' },
      description: 'Lists the assignments of a role, newest first.',
      refuses: [roleNotFound],
    })
    .input(fromWire(RolePath))
    .output(toWire(UserRoleResponse.array()))
    .query(async ({ ctx, input }) => (await listRoleUsers(ctx.app, input.roleId)).map(toAssignment)),

  roles: adminProcedure('roles:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/rbac/roles', tags, summary: 'List roles' },
      description: 'Lists roles, highest level first.',
    })
    .input(fromWire(RoleListQuery))
    .output(toWire(RoleResponse.array()))
    .query(({ ctx, input }) => listRoles(ctx.app, input)),

  createRole: freshAdminProcedure('roles:create')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/rbac/roles', tags, summary: 'Create a role' },
      description: 'Creates a role below the level of the administrator, with permissions that the administrator has.',
      refuses: [permissionsUnknown, permissionsBeyondGrantor, roleLevelTooHigh, roleNameTaken],
    })
    .input(fromWire(RoleCreateRequest))
    .output(toWire(RoleResponse))
    .mutation(({ ctx, input }) => createRole(ctx.app, ctx.actor, input)),

  updateRole: freshAdminProcedure('roles:edit')
    .meta({
      openapi: { method: 'PUT', path: '/cabinet/admin/rbac/roles/{role_id}', tags, summary: 'Change a role' },
      description:
        'Changes a role below the level of the administrator. Level and state of a system role are fixed. The change applies immediately.',
      refuses: [
        permissionsUnknown,
        permissionsBeyondGrantor,
        roleLevelTooHigh,
        roleOutOfReach,
        selfLockOut,
        systemRoleFixed,
        roleNotFound,
        roleNameTaken,
      ],
    })
    .input(fromWire(withBody(RolePath, RoleUpdateRequest)))
    .output(toWire(RoleResponse))
    .mutation(({ ctx, input: { roleId, ...change } }) => updateRole(ctx.app, ctx.actor, roleId, change)),

  deleteRole: freshAdminProcedure('roles:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/admin/rbac/roles/{role_id}', tags, summary: 'Delete a role' },
      description:
        'Deletes a role below the level of the administrator with its assignments and policies. System roles cannot be deleted.',
      refuses: [roleOutOfReach, selfLockOut, systemRoleFixed, roleNotFound],
    })
    .input(fromWire(RolePath))
    .output(toWire(RoleDeletedResponse))
    .mutation(async ({ ctx, input }) => {
      await deleteRole(ctx.app, ctx.actor, input.roleId);
      return { message: 'Role deleted', roleId: input.roleId };
    }),

  assign: freshAdminProcedure('roles:assign')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/rbac/assignments', tags, summary: 'Assign a role to a user' },
      description:
        'Gives a role below the level of the administrator to a user, effective immediately. An existing assignment is renewed, so repeating the call is safe.',
      refuses: [assignedLevelTooHigh, permissionsBeyondGrantor, selfLockOut, superadminRole, roleNotFound, targetUserNotFound],
    })
    .input(fromWire(RoleAssignRequest))
    .output(toWire(UserRoleResponse))
    .mutation(async ({ ctx, input }) => {
      const expiresAt = input.expiresAt ? utcDate(input.expiresAt) : null;
      return toAssignment(await assignRole(ctx.app, ctx.actor, { ...input, expiresAt }));
    }),

  revoke: freshAdminProcedure('roles:assign')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/cabinet/admin/rbac/assignments/{assignment_id}',
        tags,
        summary: 'Revoke a role of a user',
      },
      description: 'Takes a role below the level of the administrator from a user, effective immediately.',
      refuses: [revokedOutOfReach, selfLockOut, superadminRole, assignmentNotFound],
    })
    .input(fromWire(AssignmentPath))
    .output(toWire(RoleRevokedResponse))
    .mutation(async ({ ctx, input }) => {
      await revokeRole(ctx.app, ctx.actor, input.assignmentId);
      return { message: 'Role revoked', assignmentId: input.assignmentId };
    }),
});
