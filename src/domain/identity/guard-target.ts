import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { adminLevel } from '../access/permission-rules.ts';
import { isConfigAdmin, readEffectiveAccess } from '../access/read-effective-access.ts';
import { requireUser } from './require-user.ts';
import type { UserRecord } from './types.ts';

const selfTargeted = refusal('own_account', 403, 'Cannot block or delete your own account');
const targetProtected = refusal('target_protected', 403, 'Cannot act on a configured administrator');
export const targetLevel = refusal('target_level', 403, 'Cannot act on a user at or above your own level');
export const TARGET_REFUSALS = [selfTargeted, targetLevel];

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
    if (kind === 'removal') throw selfTargeted();
    if (!actor.isConfigAdmin) throw selfTargeted({ detail: 'Cannot change your own account' });
    return target;
  }
  if (isConfigAdmin(app, target)) throw targetProtected();
  const access = await readEffectiveAccess(app, target.id);
  const isPlainUser = access.roleIds.length === 0;
  if (isPlainUser || adminLevel(access, false) < actor.level) return target;
  throw targetLevel();
}
