import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refuse } from '../../core/errors.ts';
import { TOP_LEVEL } from './permission-catalogue.ts';
import { adminLevel, denialReason, type EffectiveAccess } from './permission-rules.ts';
import { listActivePolicies, listHeldRoles } from './role-repo.ts';
import { permissionsBeyond } from './role-rules.ts';

/** Who gives rights to others, and how far that may go. */
export interface Grantor {
  level: number;
  /** Does he hold this `section:action`, no deny policy without conditions being against it? */
  holds: (permission: string) => boolean;
}

/** Rights whose loss would leave an administrator unable to undo what he just did. */
const OWN_RIGHTS = ['roles:read', 'roles:create', 'roles:edit', 'roles:delete', 'roles:assign'];

/** Reads the actor's rights in the transaction of the change, so that a role taken away a moment ago gives nothing any more. */
export async function readGrantor(t: App, actor: AdminActor): Promise<Grantor> {
  if (actor.isConfigAdmin) return { level: TOP_LEVEL, holds: () => true };
  const access = await readAccessNow(t, actor.userId);
  const policies = (await listActivePolicies(t.db)).filter(
    ({ conditions }) => conditions.time_range == null && conditions.ip_whitelist == null,
  );
  const now = t.clock.now();
  return {
    level: adminLevel(access, false),
    holds: (permission) => denialReason(permission, access, policies, null, now) === null,
  };
}

/** @throws AppError 403 when something beyond the giver's own rights would be given (spec 01 H4); level 1000 gives anything */
export function requireGrantable(grantor: Grantor, permissions: readonly string[]): void {
  if (grantor.level >= TOP_LEVEL) return;
  const beyond = permissionsBeyond(grantor.holds, permissions);
  if (beyond.length === 0) return;
  throw refuse('permissions_beyond_own', 403, `Cannot grant permissions you do not have: ${beyond.join(', ')}`);
}

/**
 * Runs a change of roles, assignments or policies in its transaction and undoes it when the actor would lose rights over them:
 * the last one who could repair it must not lock himself out. Conditions of policies count as met. Config admins cannot be locked out.
 * @throws AppError 403
 */
export async function keepOwnRights<T>(t: App, actor: AdminActor, change: () => Promise<T>): Promise<T> {
  if (actor.isConfigAdmin) return change();
  const before = await readOwnRights(t, actor.userId);
  const result = await change();
  const after = await readOwnRights(t, actor.userId);
  const lost = before.filter((right) => !after.includes(right));
  if (lost.length > 0) throw refuse('self_lock_out', 403, `This change would take your own permissions away: ${lost.join(', ')}`);
  return result;
}

async function readOwnRights(t: App, userId: number): Promise<string[]> {
  const access = await readAccessNow(t, userId);
  const policies = (await listActivePolicies(t.db)).map((policy) => ({ ...policy, conditions: {} }));
  return OWN_RIGHTS.filter((right) => denialReason(right, access, policies, null, t.clock.now()) === null);
}

async function readAccessNow(t: App, userId: number): Promise<EffectiveAccess> {
  const held = await listHeldRoles(t.db, userId, t.clock.now());
  return {
    roleIds: held.map((role) => role.id),
    roles: held.map((role) => role.name),
    permissions: [...new Set(held.flatMap((role) => role.permissions))],
    level: held[0]?.level ?? 0,
  };
}
