import type { App } from '../../core/app.ts';
import type { Db } from '../../core/db/db.ts';
import { findDefaultGroup, findPrimaryGroupOf, listGroups } from './repo.ts';
import type { PromoGroup } from './types.ts';

/**
 * The primary promo group of a user: the membership with the highest (priority, id), else the group stored on the user
 * (spec 04 section 8.1). One rule for discounts and for what is visible (spec 02 H19).
 * @returns null for an unknown user or one without any group
 */
export function findPrimaryPromoGroup(db: Db, userId: number): Promise<PromoGroup | null> {
  return findPrimaryGroupOf(db, userId);
}

/** All promo groups, highest priority first, then by name. */
export function listPromoGroups(app: App): Promise<PromoGroup[]> {
  return listGroups(app.db);
}

/** The one default group; every installation has it (prisma/migrations/0001_baseline). */
export async function defaultPromoGroup(app: App): Promise<PromoGroup> {
  const group = await findDefaultGroup(app.db);
  if (!group) throw new Error('The default promo group is missing');
  return group;
}

export { listGroupNames, lockExistingGroupIds } from './repo.ts';
