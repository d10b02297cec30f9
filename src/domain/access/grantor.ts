import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { TOP_LEVEL } from './permission-catalogue.ts';
import { accessOf, adminLevel, denialReason, type EffectiveAccess } from './permission-rules.ts';
import { listActivePolicies } from './policy-repo.ts';
import { listRolesInEffect } from './role-repo.ts';
import { permissionsBeyond } from './role-rules.ts';

export const permissionsBeyondGrantor = refusal(
  'permissions_beyond_own',
  403,
  'Cannot grant permissions you do not have: tickets:read',
);
const selfLockOut = refusal('self_lock_out', 403, 'This change would take your own permissions away: <n>');

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
  const policies = (await listActivePolicies(t.db)).filter(
    ({ conditions }) => conditions.time_range == null && conditions.ip_whitelist == null,
  );
  const now = t.clock.now();
  return {
    level: adminLevel(access, false),
    has: (permission) => denialReason(permission, access, policies, null, now) === null,
  };
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
