import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refuse } from '../../core/errors.ts';
import { adminLevel } from '../access/permission-rules.ts';
import { isConfigAdmin, readEffectiveAccess } from '../access/read-effective-access.ts';
import { requireUser } from './require-user.ts';
import type { UserRecord } from './types.ts';

/** `removal`: block, delete and any other action that ends the target's access. */
export type ActionKind = 'change' | 'removal';

/**
 * Checks that an administrator may act on a user (spec 01 H5): on users without a role and on administrators below the actor's level, never
 * on administrators of the configuration. Administrators cannot end their own access. Call before the transaction: roles are read from
 * the shared cache, which is cleared with the commit of a change.
 * @returns the target in its present state
 * @throws AppError 404 'User not found' | 403
 */
export async function guardTarget(app: App, actor: AdminActor, userId: number, kind: ActionKind): Promise<UserRecord> {
  const target = await requireUser(app, userId);
  if (target.id === actor.userId) {
    if (kind === 'removal') throw refuse('own_account', 403, 'Cannot block or delete your own account');
    if (!actor.isConfigAdmin) throw refuse('own_account', 403, 'Cannot change your own account');
    return target;
  }
  if (isConfigAdmin(app, target)) throw refuse('target_protected', 403, 'Cannot act on a configured administrator');
  const access = await readEffectiveAccess(app, target.id);
  const isPlainUser = access.roleIds.length === 0;
  if (isPlainUser || adminLevel(access, false) < actor.level) return target;
  throw refuse('target_level', 403, 'Cannot act on a user at or above your own level');
}
