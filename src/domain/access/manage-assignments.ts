import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import {
  type AdminUser,
  type Assignment,
  deleteAssignment,
  findAssignment,
  findAssignmentOf,
  listAdminUsers,
  listAssignmentsOfRole,
  lockAssignment,
  lockUserAgainstDeletion,
  upsertAssignment,
} from './assignment-repo.ts';
import { forgetAccess, keepActorRights, readGrantor, requireGrantable } from './effective-access.ts';
import { SUPERADMIN_LEVEL } from './permissions.ts';
import { recordLiftedDenials, sourcesOfGrantor } from './rights-sources.ts';
import { findRole, lockRoleForShare } from './role-repo.ts';
import { roleNotFound } from './roles.ts';

export const assignedLevelTooHigh = refusal('role_level_too_high', 403, 'Cannot assign a role with level >= your own role level');
export const targetUserNotFound = refusal('target_user_not_found', 404, 'Target user not found');
export const assignmentNotFound = refusal('assignment_not_found', 404, 'Role assignment not found');
const roleNotFoundRefusal = refusal('role_not_found', 404, 'Associated role not found');
export const revokedOutOfReach = refusal('role_out_of_reach', 403, 'Cannot revoke a role at or above your own level');

const SUPERADMINS_ELSEWHERE = 'Superadmin role is managed via ADMIN_IDS/ADMIN_EMAILS environment variables.';
export const superadminRole = refusal(
  'superadmin_role_fixed',
  403,
  'Superadmin role is managed via ADMIN_IDS/ADMIN_EMAILS environment variables. Add the user there and restart the bot.',
  (advice: string) => ({ detail: `${SUPERADMINS_ELSEWHERE} ${advice}` }),
);

/** Users with at least one role in effect, by id. */
export function listAdmins(app: App): Promise<AdminUser[]> {
  return listAdminUsers(app.db, app.clock.now());
}

/** Active assignments of a role, newest first. @throws AppError 404 'Role not found' */
export async function listRoleUsers(app: App, roleId: number): Promise<Assignment[]> {
  if (!(await findRole(app.db, roleId))) throw roleNotFound();
  return listAssignmentsOfRole(app.db, roleId);
}

/**
 * Assigns a role below the actor's level that has no permission beyond the actor's own; an existing assignment is updated and
 * activated (spec 01 section 12, H4).
 * @param request `expiresAt` null means no expiry
 * @throws AppError 403 | 404 'Role not found' | 404 'Target user not found'
 */
export async function assignRole(
  app: App,
  actor: AdminActor,
  request: { userId: number; roleId: number; expiresAt: Date | null },
): Promise<Assignment> {
  return inTransaction(app, (t) =>
    keepActorRights(t, actor, async () => {
      // Users are locked first (spec 00, lock order); the refusals come in the order of the interface.
      const isUser = await lockUserAgainstDeletion(t.db, request.userId);
      const role = await lockRoleForShare(t.db, request.roleId);
      if (!role) throw roleNotFound();
      if (role.level >= SUPERADMIN_LEVEL) throw superadminRole('Add the user there and restart the bot.');
      const grantor = await readGrantor(t, actor);
      if (role.level >= grantor.level) throw assignedLevelTooHigh();
      requireGrantable(grantor, role.permissions);
      if (!isUser) throw targetUserNotFound();
      const before = await findAssignmentOf(t.db, request.userId, role.id);
      const grantedThrough = await sourcesOfGrantor(t.db, actor);
      const id = await upsertAssignment(t.db, { ...request, assignedBy: actor.userId, grantedThrough, now: t.clock.now() });
      const after = await findAssignment(t.db, id);
      await forgetAccess(t, [request.userId]);
      t.audit?.record({ resourceId: id, before: termsOf(before), after: termsOf(after) });
      return after!;
    }),
  );
}

/** Revokes a role. @throws AppError 403 | 404 'Role assignment not found' */
export async function revokeRole(app: App, actor: AdminActor, assignmentId: number): Promise<void> {
  await inTransaction(app, (t) =>
    keepActorRights(t, actor, async () => {
      const isThere = await lockAssignment(t.db, assignmentId);
      const assignment = isThere ? await findAssignment(t.db, assignmentId) : null;
      if (!assignment) throw assignmentNotFound();
      const role = await lockRoleForShare(t.db, assignment.roleId);
      if (!role) throw roleNotFoundRefusal();
      if (role.level >= SUPERADMIN_LEVEL) throw superadminRole('Remove the user from env and restart the bot.');
      const grantor = await readGrantor(t, actor);
      if (role.level >= grantor.level) throw revokedOutOfReach();
      await recordLiftedDenials(t, actor, { roleId: role.id, userId: assignment.userId });
      await deleteAssignment(t.db, assignmentId);
      await forgetAccess(t, [assignment.userId]);
      t.audit?.record({ resourceId: assignmentId, before: termsOf(assignment), after: null });
    }),
  );
}

function termsOf(assignment: Assignment | null): object | null {
  if (!assignment) return null;
  const { userId, roleId, roleName, assignedBy, expiresAt, isActive } = assignment;
  return { userId, roleId, roleName, assignedBy, expiresAt, isActive };
}
