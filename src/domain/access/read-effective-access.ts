import type { App } from '../../core/app.ts';
import {
  type AccessPolicy,
  accessOf,
  type ConfigAdmins,
  type EffectiveAccess,
  isConfigAdmin as isListedAdmin,
  parseConfigAdmins,
} from './permission-rules.ts';
import { listActivePolicies } from './policy-repo.ts';
import { listRolesInEffect, listUserIdsOfRole } from './role-repo.ts';

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
