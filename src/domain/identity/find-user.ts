import type { AdminActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { refusal } from '../../core/errors.ts';
import { isRowId } from '../../core/row-id.ts';
import { isConfigAdmin, readEffectiveAccess } from '../access/effective-access.ts';
import { adminLevel } from '../access/permissions.ts';
import { userNotFound } from './errors.ts';
import { findByEmail, findById, findByMessengerId } from './repo.ts';
import { normaliseEmail } from './rules.ts';
import type { UserRecord } from './types.ts';

/** The user with this internal id, in any status; null for an unknown or impossible id (spec 01 H23). */
export async function findUserById(app: App, id: number): Promise<UserRecord | null> {
  return isRowId(id) ? findById(app.db, id) : null;
}

/** The user with this messenger id, in any status. */
export async function findUserByMessengerId(app: App, messengerId: number): Promise<UserRecord | null> {
  return Number.isSafeInteger(messengerId) ? findByMessengerId(app.db, messengerId) : null;
}

/** The user with this e-mail, case-insensitive, in any status, verified or not. */
export async function findUserByEmail(app: App, email: string): Promise<UserRecord | null> {
  return findByEmail(app.db, normaliseEmail(email));
}

/** Whether the account was erased: an administrator finds it no longer (spec 10 U8), only what the books say refers to it. */
const isErased = ({ id, referralCode }: UserRecord): boolean => referralCode === `erased:${id}`;

/** The user with this internal id, in any status but erased. @throws AppError 404 'User not found' */
export async function requireUser(app: App, userId: number): Promise<UserRecord> {
  const user = await findUserById(app, userId);
  if (!user || isErased(user)) throw userNotFound();
  return user;
}

/** The user with this messenger id, in any status. @throws AppError 404 'User not found' */
export async function requireUserByMessengerId(app: App, messengerId: number): Promise<UserRecord> {
  const user = await findUserByMessengerId(app, messengerId);
  if (!user) throw userNotFound();
  return user;
}

const selfTargeted = refusal('own_account', 403, 'Cannot block or delete your own account');
export const targetProtected = refusal('target_protected', 403, 'Cannot act on a configured administrator');
export const targetLevel = refusal('target_level', 403, 'Cannot act on a user at or above your own level');
export const TARGET_REFUSALS = [selfTargeted, targetProtected, targetLevel];

/** `removal`: block, delete and any other action that ends the target's access. */
type ActionKind = 'change' | 'removal';

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
