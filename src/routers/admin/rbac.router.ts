import { permissionsBeyondGrantor } from '../../domain/access/effective-access.ts';
import {
  assignmentNotFound,
  assignRole,
  listAdmins,
  listRoleUsers,
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
  roleNameTaken,
  roleNotFound,
  systemRoleFixed,
  updateRole,
} from '../../domain/access/roles.ts';
import type { Assignment } from '../../domain/access/types.ts';
import { utcDate } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
import { fromWire, toWire, withBody } from '../wire.ts';
import {
  AdminWithRolesResponse,
  AssignmentPath,
  PermissionSection,
  RoleAssignRequest,
  RoleCreateRequest,
  RoleDeletedResponse,
  RoleListQuery,
  RolePath,
  RoleResponse,
  RoleRevokedResponse,
  RoleUpdateRequest,
  UserRoleResponse,
} from './rbac.schemas.ts';

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

  createRole: adminProcedure('roles:create')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/rbac/roles', tags, summary: 'Create a role' },
      description: 'Creates a role below the level of the administrator, with permissions that the administrator has.',
      refuses: [permissionsUnknown, permissionsBeyondGrantor, roleNameTaken],
    })
    .input(fromWire(RoleCreateRequest))
    .output(toWire(RoleResponse))
    .mutation(({ ctx, input }) => createRole(ctx.app, ctx.actor, input)),

  updateRole: adminProcedure('roles:edit')
    .meta({
      openapi: { method: 'PUT', path: '/cabinet/admin/rbac/roles/{role_id}', tags, summary: 'Change a role' },
      description:
        'Changes a role below the level of the administrator. Level and state of a system role are fixed. The change applies immediately.',
      refuses: [permissionsUnknown, roleNotFound, roleNameTaken],
    })
    .input(fromWire(withBody(RolePath, RoleUpdateRequest)))
    .output(toWire(RoleResponse))
    .mutation(({ ctx, input: { roleId, ...change } }) => updateRole(ctx.app, ctx.actor, roleId, change)),

  deleteRole: adminProcedure('roles:delete')
    .meta({
      openapi: { method: 'DELETE', path: '/cabinet/admin/rbac/roles/{role_id}', tags, summary: 'Delete a role' },
      description:
        'Deletes a role below the level of the administrator with its assignments and policies. System roles cannot be deleted.',
      refuses: [systemRoleFixed, roleNotFound],
    })
    .input(fromWire(RolePath))
    .output(toWire(RoleDeletedResponse))
    .mutation(async ({ ctx, input }) => {
      await deleteRole(ctx.app, ctx.actor, input.roleId);
      return { message: 'Role deleted', roleId: input.roleId };
    }),

  assign: adminProcedure('roles:assign')
    .meta({
      openapi: { method: 'POST', path: '/cabinet/admin/rbac/assignments', tags, summary: 'Assign a role to a user' },
      description:
        'Gives a role below the level of the administrator to a user, effective immediately. An existing assignment is renewed, so repeating the call is safe.',
      refuses: [superadminRole, roleNotFound, targetUserNotFound],
    })
    .input(fromWire(RoleAssignRequest))
    .output(toWire(UserRoleResponse))
    .mutation(async ({ ctx, input }) => {
      const expiresAt = input.expiresAt ? utcDate(input.expiresAt) : null;
      return toAssignment(await assignRole(ctx.app, ctx.actor, { ...input, expiresAt }));
    }),

  revoke: adminProcedure('roles:assign')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/cabinet/admin/rbac/assignments/{assignment_id}',
        tags,
        summary: 'Revoke a role of a user',
      },
      description: 'Takes a role below the level of the administrator from a user, effective immediately.',
      refuses: [assignmentNotFound],
    })
    .input(fromWire(AssignmentPath))
    .output(toWire(RoleRevokedResponse))
    .mutation(async ({ ctx, input }) => {
      await revokeRole(ctx.app, ctx.actor, input.assignmentId);
      return { message: 'Role revoked', assignmentId: input.assignmentId };
    }),
});
