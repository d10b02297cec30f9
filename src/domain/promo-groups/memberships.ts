import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { recordEvent } from '../activity/record-event.ts';
import { findUserById } from '../identity/find-user.ts';
import { syncPrimaryGroups } from '../identity/promo-account.ts';
import {
  deleteMembership,
  insertMembership,
  lockExistingGroupIds,
  nameOfGroup,
  replaceMemberships as replaceRows,
} from './repo.ts';
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

/** A user's primary promo group became another one; null = none. */
interface GroupChange {
  userId: number;
  oldGroupId: number | null;
  newGroupId: number | null;
  /** `spending`: assigned by total spending. `manual`: set by a person. */
  reason: 'spending' | 'manual';
  /** Further fields of the event. */
  facts?: Record<string, unknown>;
}

/** Records the change in the activity feed (spec 05 section 9.2), in the caller's transaction. */
export async function recordGroupChange(t: App, actor: Actor, change: GroupChange): Promise<void> {
  const { userId, oldGroupId, newGroupId } = change;
  const nameOf = async (id: number | null) => (id === null ? null : await nameOfPromoGroup(t, id));
  const initiator = actor.kind === 'admin' || actor.kind === 'user' ? await findUserById(t, actor.userId) : null;
  await recordEvent(t, actor, {
    eventType: 'promo_group_change',
    userId,
    extra: {
      old_promo_group_id: oldGroupId,
      old_promo_group_name: await nameOf(oldGroupId),
      new_promo_group_id: newGroupId,
      new_promo_group_name: await nameOf(newGroupId),
      reason: change.reason,
      initiator_id: initiator?.id ?? null,
      initiator_messenger_id: initiator?.messengerId ?? null,
      automatic: actor.kind === 'system',
      ...change.facts,
    },
  });
}
