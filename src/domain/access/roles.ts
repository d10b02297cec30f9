import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { isUniqueViolation } from '../../core/db/db-errors.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { COMMAND_LINE } from '../../core/process-env.ts';
import {
  configAdmins,
  forgetAccess,
  forgetPolicies,
  forgetRole,
  keepActorRights,
  readGrantor,
  requireGrantable,
} from './effective-access.ts';
import { PERMISSION_CATALOGUE, SUPERADMIN_LEVEL, SYSTEM_ROLES } from './permissions.ts';
import { recordLiftedDenials, recordWidening, sourcesOfGrantor } from './rights-sources.ts';
import {
  type AdminRole,
  countActiveAssignments,
  deleteRole as deleteRow,
  findSeededRole,
  grantToConfigAdmins,
  insertRole,
  insertSystemRole,
  isRoleNameTaken,
  type ListedRole,
  listRoles as listRows,
  lockRole,
  lockSeeding,
  revokeFromOthers,
  setRolePermissions,
  updateRole as writeRole,
} from './role-repo.ts';
import { unknownPermissions } from './role-rules.ts';

export const roleLevelTooHigh = refusal('role_level_too_high', 403, 'Cannot create a role with level >= your own role level');
export const roleOutOfReach = refusal('role_out_of_reach', 403, 'Cannot edit a role at or above your own level');
export const systemRoleFixed = refusal('system_role_fixed', 403, 'Cannot delete a system role');
export const permissionsUnknown = refusal('permissions_unknown', 400, 'Invalid permissions: users:fly');

export const roleNotFound = refusal('role_not_found', 404, 'Role not found');
export const roleNameTaken = refusal('role_name_taken', 409, 'Role with this name already exists');

/** The registry of permissions, section by section (spec 01 section 15). */
export function listPermissions(): { section: string; actions: string[] }[] {
  return Object.entries(PERMISSION_CATALOGUE).map(([section, actions]) => ({ section, actions: [...actions] }));
}

/** Roles by descending level, each with the number of its active assignments. */
export function listRoles(app: App, filter: { includeInactive: boolean }): Promise<ListedRole[]> {
  return listRows(app.db, filter.includeInactive);
}

export interface RoleDraft {
  name: string;
  description?: string | null | undefined;
  level: number;
  permissions: readonly string[];
  color?: string | null | undefined;
  icon?: string | null | undefined;
  requiresSecondFactor?: boolean | undefined;
}

/**
 * Creates a role below the actor's level that has no permission beyond the actor's own permissions (spec 01 section 12, H4).
 * @throws AppError 400 'Invalid permissions: …' | 403 | 409 'Role with this name already exists'
 */
export async function createRole(app: App, actor: AdminActor, draft: RoleDraft): Promise<ListedRole> {
  requireKnown(draft.permissions);
  return inTransaction(app, async (t) => {
    const grantor = await readGrantor(t, actor);
    if (draft.level >= grantor.level) throw roleLevelTooHigh();
    requireGrantable(grantor, draft.permissions);
    const permissions = [...new Set(draft.permissions)];
    const { description = null, color = null, icon = null, requiresSecondFactor = false } = draft;
    const row = {
      ...draft,
      description,
      color,
      icon,
      requiresSecondFactor,
      permissions,
      createdBy: actor.userId,
      now: t.clock.now(),
    };
    const role = await insertRole(t.db, row);
    if (!role) throw roleNameTaken();
    t.audit?.record({ resourceId: role.id, before: null, after: role });
    return { ...role, userCount: 0 };
  });
}

/** Absent fields stay as they are; null clears a description, colour or icon and leaves any other field as it is. */
export interface RoleChange {
  name?: string | null | undefined;
  description?: string | null | undefined;
  level?: number | null | undefined;
  permissions?: readonly string[] | null | undefined;
  color?: string | null | undefined;
  icon?: string | null | undefined;
  isActive?: boolean | null | undefined;
  requiresSecondFactor?: boolean | null | undefined;
}

/**
 * Changes a role below the actor's level; it takes effect on every instance with the commit. Only permissions that the change adds,
 * or that activation restores, must be the actor's own.
 * @throws AppError 400 | 403 | 404 'Role not found' | 409
 */
export async function updateRole(app: App, actor: AdminActor, roleId: number, change: RoleChange): Promise<ListedRole> {
  try {
    return await inTransaction(app, (t) => keepActorRights(t, actor, () => changeRole(t, actor, roleId, change)));
  } catch (error) {
    // Another request took the name between the check and the update.
    if (isUniqueViolation(error, 'name')) throw roleNameTaken();
    throw error;
  }
}

async function changeRole(t: App, actor: AdminActor, roleId: number, change: RoleChange): Promise<ListedRole> {
  const role = await lockRole(t.db, roleId);
  if (!role) throw roleNotFound();
  const grantor = await readGrantor(t, actor);
  if (role.level >= grantor.level) throw roleOutOfReach();
  const next = withChange(role, change);
  const fixed = role.isSystem ? systemFieldsOf(role, next) : [];
  if (fixed.length > 0) throw systemRoleFixed({ detail: `Cannot change ${fixed.join(', ')} on a system role` });
  if (next.level >= grantor.level) throw roleLevelTooHigh({ detail: 'Cannot set role level >= your own role level' });
  requireKnown(next.permissions.filter((permission) => !role.permissions.includes(permission)));
  const isActivated = next.isActive && !role.isActive;
  const added = next.permissions.filter((permission) => isActivated || !role.permissions.includes(permission));
  requireGrantable(grantor, added);
  if (next.name !== role.name && (await isRoleNameTaken(t.db, next.name, role.id))) throw roleNameTaken();
  const now = t.clock.now();
  if (role.isActive && !next.isActive) await recordLiftedDenials(t, actor, { roleId });
  await writeRole(t.db, next, now);
  if (added.length > 0) {
    const through = await sourcesOfGrantor(t.db, actor);
    await recordWidening(t.db, role.id, { by: actor.userId, at: now, added, through });
  }
  await forgetRole(t, role.id);
  t.audit?.record({ resourceId: role.id, before: role, after: next });
  return { ...next, userCount: await countActiveAssignments(t.db, role.id) };
}

/**
 * Deletes a role below the actor's level with its assignments and policies.
 * @throws AppError 403 | 404 'Role not found'
 */
export async function deleteRole(app: App, actor: AdminActor, roleId: number): Promise<void> {
  await inTransaction(app, (t) =>
    keepActorRights(t, actor, async () => {
      const role = await lockRole(t.db, roleId);
      if (!role) throw roleNotFound();
      if (role.isSystem) throw systemRoleFixed();
      const grantor = await readGrantor(t, actor);
      if (role.level >= grantor.level) throw roleOutOfReach({ detail: 'Cannot delete a role at or above your own level' });
      // Before the rows are deleted, because they name the users.
      await forgetRole(t, role.id);
      await recordLiftedDenials(t, actor, { roleId });
      await deleteRow(t.db, role.id);
      await forgetPolicies(t);
      t.audit?.record({ resourceId: role.id, before: role, after: null });
    }),
  );
}

function requireKnown(permissions: readonly string[]): void {
  const unknown = unknownPermissions(permissions);
  if (unknown.length > 0) throw permissionsUnknown({ detail: `Invalid permissions: ${unknown.join(', ')}` });
}

function withChange(role: AdminRole, change: RoleChange): AdminRole {
  return {
    ...role,
    name: change.name ?? role.name,
    description: change.description === undefined ? role.description : change.description,
    level: change.level ?? role.level,
    permissions: change.permissions ? [...new Set(change.permissions)] : role.permissions,
    color: change.color === undefined ? role.color : change.color,
    icon: change.icon === undefined ? role.icon : change.icon,
    isActive: change.isActive ?? role.isActive,
    requiresSecondFactor: change.requiresSecondFactor ?? role.requiresSecondFactor,
  };
}

/** Field names of the interface, because the answer shows them. */
function systemFieldsOf(role: AdminRole, next: AdminRole): string[] {
  return [...(next.isActive === role.isActive ? [] : ['is_active']), ...(next.level === role.level ? [] : ['level'])];
}

/**
 * Makes sure that the system roles exist, with every preset permission and those added by hand, and that exactly the registered
 * config admins are Superadmin (spec 01 section 12). Runs at start; its failure is logged and stops nothing.
 */
export async function seedRoles(app: App): Promise<void> {
  try {
    const superadmins = await inTransaction(app, async (t) => {
      await lockSeeding(t.db);
      const superadminRoleId = await ensureSystemRoles(t);
      await syncSuperadmins(t, superadminRoleId);
      return countActiveAssignments(t.db, superadminRoleId);
    });
    const admins = configAdmins(app);
    if (superadmins === 0 && admins.messengerIds.size + admins.emails.size > 0) {
      app.log.warn('no user of ADMIN_IDS or ADMIN_EMAILS has registered yet');
    } else if (superadmins === 0) {
      app.log.warn(
        `there is no superadmin: run "${COMMAND_LINE} admin create you@example.com", or set ADMIN_IDS or ADMIN_EMAILS`,
      );
    }
  } catch (error) {
    // Any failure: must not prevent the start; the next start repeats it.
    app.log.error({ err: error }, 'system roles could not be updated');
  }
}

async function ensureSystemRoles(t: App): Promise<number> {
  let superadminRoleId = 0;
  for (const role of SYSTEM_ROLES) {
    const found = await findSeededRole(t.db, role);
    const id = found?.id ?? (await insertSystemRole(t.db, role, t.clock.now()));
    if (role.level === SUPERADMIN_LEVEL) superadminRoleId = id;
    const missing = found ? role.permissions.filter((permission) => !found.permissions.includes(permission)) : [];
    if (!found || missing.length === 0) continue;
    await setRolePermissions(t.db, id, [...found.permissions, ...missing], t.clock.now());
    await forgetRole(t, id);
  }
  return superadminRoleId;
}

async function syncSuperadmins(t: App, roleId: number): Promise<void> {
  const admins = configAdmins(t);
  const [ids, emails] = [[...admins.messengerIds], [...admins.emails]];
  // Two empty lists mean that none are configured here: assignments stay.
  if (ids.length + emails.length === 0) return;
  const gained = await grantToConfigAdmins(t.db, roleId, ids, emails, t.clock.now());
  const lost = await revokeFromOthers(t.db, roleId, ids, emails);
  await forgetAccess(t, [...gained, ...lost]);
}

/**
 * Assigns Superadmin to the registered owner of a verified e-mail, in the caller's transaction.
 * @param user `email` in lower case
 * @returns `isLasting` false: ADMIN_IDS or ADMIN_EMAILS name others only, so the next start revokes the role
 */
export async function grantSuperadmin(
  t: App,
  user: { messengerId: number | null; email: string },
): Promise<{ isLasting: boolean }> {
  const role = SYSTEM_ROLES.find((candidate) => candidate.level === SUPERADMIN_LEVEL);
  if (!role) throw new Error('the catalogue has no superadmin role');
  await lockSeeding(t.db);
  const found = await findSeededRole(t.db, role);
  const roleId = found?.id ?? (await insertSystemRole(t.db, role, t.clock.now()));
  await forgetAccess(t, await grantToConfigAdmins(t.db, roleId, [], [user.email], t.clock.now()));
  const { messengerIds, emails } = configAdmins(t);
  const isListed = emails.has(user.email) || (user.messengerId !== null && messengerIds.has(user.messengerId));
  return { isLasting: isListed || messengerIds.size + emails.size === 0 };
}
