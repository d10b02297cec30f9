import { assignRole, listAdmins, listRoleUsers, revokeRole } from '../../domain/access/manage-assignments.ts';
import { createRole, deleteRole, listPermissions, listRoles, updateRole } from '../../domain/access/manage-roles.ts';
import { utcDate } from '../shared.schemas.ts';
import { adminProcedure, router } from '../trpc.ts';
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

function toRole(role: Awaited<ReturnType<typeof createRole>>) {
  return {
    id: role.id,
    name: role.name,
    description: role.description,
    level: role.level,
    permissions: role.permissions,
    color: role.color,
    icon: role.icon,
    is_system: role.isSystem,
    is_active: role.isActive,
    user_count: role.userCount,
    created_at: role.createdAt,
  };
}

function toAssignment(assignment: Awaited<ReturnType<typeof assignRole>>) {
  return {
    id: assignment.id,
    user_id: assignment.userId,
    role_id: assignment.roleId,
    role_name: assignment.roleName,
    user_messenger_id: assignment.messengerId,
    user_username: assignment.username,
    user_first_name: assignment.firstName,
    user_email: assignment.email,
    assigned_by: assignment.assignedBy,
    assigned_at: assignment.assignedAt,
    expires_at: assignment.expiresAt,
    is_active: assignment.isActive,
  };
}

export const adminRbacRouter = router({
  permissions: adminProcedure('roles:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/rbac/permissions', tags, summary: 'List all permissions' } })
    .output(PermissionSection.array())
    .query(() => listPermissions().map(({ section, actions }) => ({ section, actions: [...actions] }))),

  users: adminProcedure('roles:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/rbac/users', tags, summary: 'List administrators with their roles' },
    })
    .output(AdminWithRolesResponse.array())
    .query(async ({ ctx }) =>
      (await listAdmins(ctx.app)).map((admin) => ({
        user_id: admin.userId,
        messenger_id: admin.messengerId,
        username: admin.username,
        first_name: admin.firstName,
        last_name: admin.lastName,
        email: admin.email,
        role_names: admin.roleNames,
      })),
    ),

  roleUsers: adminProcedure('roles:read')
    .meta({
      openapi: { method: 'GET', path: '/cabinet/admin/rbac/roles/{role_id}/users', tags, summary: 'List the holders of a role' },
    })
    .input(RolePath)
    .output(UserRoleResponse.array())
    .query(async ({ ctx, input }) => (await listRoleUsers(ctx.app, input.role_id)).map(toAssignment)),

  roles: adminProcedure('roles:read')
    .meta({ openapi: { method: 'GET', path: '/cabinet/admin/rbac/roles', tags, summary: 'List roles' } })
    .input(RoleListQuery)
    .output(RoleResponse.array())
    .query(async ({ ctx, input }) => (await listRoles(ctx.app, { includeInactive: input.include_inactive })).map(toRole)),

  createRole: adminProcedure('roles:create')
    .meta({ openapi: { method: 'POST', path: '/cabinet/admin/rbac/roles', tags, summary: 'Create a role' } })
    .input(RoleCreateRequest)
    .output(RoleResponse)
    .mutation(async ({ ctx, input }) =>
      toRole(
        await createRole(ctx.app, ctx.actor, {
          ...input,
          description: input.description ?? null,
          color: input.color ?? null,
          icon: input.icon ?? null,
        }),
      ),
    ),

  updateRole: adminProcedure('roles:edit')
    .meta({ openapi: { method: 'PUT', path: '/cabinet/admin/rbac/roles/{role_id}', tags, summary: 'Change a role' } })
    .input(RolePath.extend(RoleUpdateRequest.shape))
    .output(RoleResponse)
    .mutation(async ({ ctx, input }) =>
      toRole(
        await updateRole(ctx.app, ctx.actor, input.role_id, {
          name: input.name ?? undefined,
          description: input.description,
          level: input.level ?? undefined,
          permissions: input.permissions ?? undefined,
          color: input.color,
          icon: input.icon,
          isActive: input.is_active ?? undefined,
        }),
      ),
    ),

  deleteRole: adminProcedure('roles:delete')
    .meta({ openapi: { method: 'DELETE', path: '/cabinet/admin/rbac/roles/{role_id}', tags, summary: 'Delete a role' } })
    .input(RolePath)
    .output(RoleDeletedResponse)
    .mutation(async ({ ctx, input }) => {
      await deleteRole(ctx.app, ctx.actor, input.role_id);
      return { message: 'Role deleted', role_id: input.role_id };
    }),

  assign: adminProcedure('roles:assign')
    .meta({ openapi: { method: 'POST', path: '/cabinet/admin/rbac/assignments', tags, summary: 'Give a role to a user' } })
    .input(RoleAssignRequest)
    .output(UserRoleResponse)
    .mutation(async ({ ctx, input }) => {
      const expiresAt = input.expires_at ? utcDate(input.expires_at) : null;
      return toAssignment(await assignRole(ctx.app, ctx.actor, { userId: input.user_id, roleId: input.role_id, expiresAt }));
    }),

  revoke: adminProcedure('roles:assign')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/cabinet/admin/rbac/assignments/{assignment_id}',
        tags,
        summary: 'Take a role from a user',
      },
    })
    .input(AssignmentPath)
    .output(RoleRevokedResponse)
    .mutation(async ({ ctx, input }) => {
      await revokeRole(ctx.app, ctx.actor, input.assignment_id);
      return { message: 'Role revoked', assignment_id: input.assignment_id };
    }),
});
