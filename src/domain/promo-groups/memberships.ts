import type { App } from '../../core/app.ts';
import { syncPrimaryGroups } from '../identity/promo-account.ts';
import { deleteMembership, insertMembership, replaceMemberships as replaceRows } from './membership-repo.ts';
import { lockExistingGroupIds, nameOfGroup } from './repo.ts';
import type { AssignedBy } from './types.ts';

/**
 * Adds a locked user to a group and recomputes the primary group (spec 04 section 8.1). In the caller's transaction.
 * @returns false when the user was in it already or there is no such group
 */
export async function joinPromoGroup(t: App, userId: number, groupId: number, assignedBy: AssignedBy): Promise<boolean> {
  const now = t.clock.now();
  if (!(await insertMembership(t.db, userId, groupId, assignedBy, now))) return false;
  await syncPrimaryGroups(t.db, [userId], null, now);
  return true;
}

/**
 * Removes a locked user from a group, but only when the membership was assigned in one of the named ways: what an administrator
 * assigned stays (spec 04 section 7.5). A user without any group then gets the default one. In the caller's transaction.
 * @returns whether the user was removed
 */
export async function leavePromoGroup(
  t: App,
  userId: number,
  groupId: number,
  assignedBy: readonly AssignedBy[],
): Promise<boolean> {
  if (!(await deleteMembership(t.db, userId, groupId, assignedBy))) return false;
  await syncPrimaryGroups(t.db, [userId], groupId, t.clock.now());
  return true;
}

/**
 * Makes a group the only one of a locked user, or removes every group. The caller stores the same group as the primary one. In the
 * caller's transaction.
 * @param reassigns whether an existing membership of the group becomes one that an administrator assigned
 */
export async function replaceMemberships(
  t: App,
  userId: number,
  groupId: number | null,
  { reassigns }: { reassigns: boolean },
): Promise<void> {
  await replaceRows(t.db, userId, groupId, { reassigns, now: t.clock.now() });
}

/** Whether the group exists; locked for share until the end of the caller's transaction, so that a link to it stays valid. */
export async function lockPromoGroupForShare(t: App, groupId: number): Promise<boolean> {
  return (await lockExistingGroupIds(t.db, [groupId])).length > 0;
}

/** Name of a group; empty for a deleted one. */
export async function nameOfPromoGroup(app: App, groupId: number): Promise<string> {
  return (await nameOfGroup(app.db, groupId)) ?? '';
}
