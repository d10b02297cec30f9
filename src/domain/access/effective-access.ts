import type { AdminActor, UserSession } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import {
  type AccessPolicy,
  accessOf,
  adminLevel,
  type ConfigAdmins,
  denialReason,
  type EffectiveAccess,
  isConfigAdmin as isListedAdmin,
  parseConfigAdmins,
  TOP_LEVEL,
} from './permissions.ts';
import { listActivePolicies, listRolesInEffect, listUserIdsOfRole } from './role-repo.ts';
import { permissionsBeyond } from './role-rules.ts';

/** How long roles and policies are cached; a change reaches every instance with its commit (spec 01 H24). */
const TRUST_MS = 15_000;
const POLICIES_KEY = 'access-policies';

const rolesKey = (userId: number) => `roles:${userId}`;

/** Permissions, role names and level of a user by roles in effect. Not for use inside a transaction (may query the root). */
export function readEffectiveAccess(app: App, userId: number): Promise<EffectiveAccess> {
  return app.cache.read(rolesKey(userId), TRUST_MS, async () =>
    accessOf(await listRolesInEffect(app.db, userId, app.clock.now())),
  );
}

/** All active policies, highest priority first. */
export function readActivePolicies(app: App): Promise<AccessPolicy[]> {
  return app.cache.read(POLICIES_KEY, TRUST_MS, () => listActivePolicies(app.db));
}

/** Call where role assignments of these users change, in the same transaction. */
export async function forgetAccess(t: App, userIds: readonly number[]): Promise<void> {
  await t.cache.forget(t, userIds.map(rolesKey));
}

/** Call where a role's permissions, level or activity change or before it is deleted, in the same transaction. */
export async function forgetRole(t: App, roleId: number): Promise<void> {
  await forgetAccess(t, await listUserIdsOfRole(t.db, roleId));
}

/** Call where a policy changes, in the same transaction. */
export async function forgetPolicies(t: App): Promise<void> {
  await t.cache.forget(t, [POLICIES_KEY]);
}

/** The administrators named by ADMIN_IDS and ADMIN_EMAILS. */
export function configAdmins(app: App): ConfigAdmins {
  return parseConfigAdmins(app.settings.get('ADMIN_IDS'), app.settings.get('ADMIN_EMAILS'));
}

/** Whether this user is named by ADMIN_IDS, or by ADMIN_EMAILS with a verified e-mail. */
export function isConfigAdmin(
  app: App,
  user: { messengerId: number | null; email: string | null; emailVerified: boolean },
): boolean {
  return isListedAdmin(configAdmins(app), user);
}

export const permissionDenied = refusal('permission_denied', 403, 'Permission denied: No active roles assigned');

const SECOND_FACTOR_MISSING = {
  code: 'role_needs_second_factor',
  message: 'Your role demands a second factor: add one, or show yours in this session',
};
export const roleNeedsSecondFactor = refusal('role_needs_second_factor', 403, SECOND_FACTOR_MISSING);

/** Whether a role of the user demands a second factor that was not shown in the session (spec 01 section 4.7). */
export function isWithoutSecondFactor(app: App, access: EffectiveAccess, session: { hasSecondFactor: boolean } | null): boolean {
  if (!access.requiresSecondFactor || app.settings.get('SECOND_FACTOR_FOR') === 'nobody') return false;
  return session?.hasSecondFactor !== true;
}

/**
 * Decides one permission of a signed-in user (spec 01 section 4.5).
 * @param permission `section:action`
 * @param client `ip`: address for policies, null = unknown
 * @throws AppError 403 'Permission denied: {reason}' | 403 {code: 'role_needs_second_factor'}
 */
export async function authorizeAdmin(
  app: App,
  user: { id: number; messengerId: number | null; email: string | null; emailVerified: boolean },
  permission: string,
  { ip, session }: { ip: string | null; session: UserSession | null },
): Promise<AdminActor> {
  const isListed = isConfigAdmin(app, user);
  const access = await readEffectiveAccess(app, user.id);
  if (!isListed) {
    const reason = denialReason(permission, access, await readActivePolicies(app), ip, app.clock.now());
    if (reason !== null) throw permissionDenied({ detail: `Permission denied: ${reason}` });
  }
  if (isWithoutSecondFactor(app, access, session)) throw roleNeedsSecondFactor();
  return { kind: 'admin', userId: user.id, level: adminLevel(access, isListed), isConfigAdmin: isListed };
}

export const permissionsBeyondGrantor = refusal(
  'permissions_beyond_own',
  403,
  'Cannot grant permissions you do not have: tickets:read',
);
export const selfLockOut = refusal('self_lock_out', 403, 'This change would take your own permissions away: roles:edit');

/** The rights of an administrator who grants rights to others. */
export interface Grantor {
  level: number;
  /** Whether the grantor has this `section:action` and no deny policy without conditions against it. */
  has: (permission: string) => boolean;
}

/** Rights without which an administrator could not undo the change. */
const ROLE_RIGHTS = ['roles:read', 'roles:create', 'roles:edit', 'roles:delete', 'roles:assign'];

/** Reads the actor's rights in the transaction of the change, so that a role that was just revoked is not considered. */
export async function readGrantor(t: App, actor: AdminActor): Promise<Grantor> {
  if (actor.isConfigAdmin) return { level: TOP_LEVEL, has: () => true };
  const access = await readAccessNow(t, actor.userId);
  const policies = await listUnconditionalPolicies(t);
  const now = t.clock.now();
  return {
    level: adminLevel(access, false),
    has: (permission) => denialReason(permission, access, policies, null, now) === null,
  };
}

/** Policies that hold at any time and from anywhere. */
export async function listUnconditionalPolicies(t: App): Promise<AccessPolicy[]> {
  const policies = await listActivePolicies(t.db);
  return policies.filter(({ conditions }) => conditions.time_range == null && conditions.ip_whitelist == null);
}

/** @throws AppError 403 when a permission beyond the grantor's own would be granted (spec 01 H4); level 1000 may grant anything */
export function requireGrantable(grantor: Grantor, permissions: readonly string[]): void {
  if (grantor.level >= TOP_LEVEL) return;
  const beyond = permissionsBeyond(grantor.has, permissions);
  if (beyond.length === 0) return;
  throw permissionsBeyondGrantor({ detail: `Cannot grant permissions you do not have: ${beyond.join(', ')}` });
}

/**
 * Runs a change of roles, assignments or policies in its transaction and rolls it back when the actor would lose rights over them:
 * otherwise it might be that no administrator could repair it. Conditions of policies count as met. Config admins cannot be locked out.
 * @throws AppError 403
 */
export async function keepActorRights<T>(t: App, actor: AdminActor, change: () => Promise<T>): Promise<T> {
  if (actor.isConfigAdmin) return change();
  const before = await readRoleRights(t, actor.userId);
  const result = await change();
  const after = await readRoleRights(t, actor.userId);
  const lost = before.filter((right) => !after.includes(right));
  if (lost.length > 0) throw selfLockOut({ detail: `This change would take your own permissions away: ${lost.join(', ')}` });
  return result;
}

async function readRoleRights(t: App, userId: number): Promise<string[]> {
  const access = await readAccessNow(t, userId);
  const policies = (await listActivePolicies(t.db)).map((policy) => ({ ...policy, conditions: {} }));
  return ROLE_RIGHTS.filter((right) => denialReason(right, access, policies, null, t.clock.now()) === null);
}

async function readAccessNow(t: App, userId: number): Promise<EffectiveAccess> {
  return accessOf(await listRolesInEffect(t.db, userId, t.clock.now()));
}
