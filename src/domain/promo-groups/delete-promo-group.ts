import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { syncPrimaryGroups } from '../identity/promo-account.ts';
import { defaultGroupNotDeletable, promoGroupNotFound } from './errors.ts';
import { hasMembers, lockNextMembers, moveMembers } from './membership-repo.ts';
import { deleteGroup, findRecord, lockAgainstJoining, lockGroupChanges, moveOnlyServers } from './record-repo.ts';
import { findDefaultGroup } from './repo.ts';
import type { PromoGroupRecord } from './types.ts';

/** Members moved by one transaction; their rows stay locked until its end, so it must be short. */
const BATCH = 500;
/** Rounds over the members; each later round moves only users who joined the group during the previous one. */
const MAX_ROUNDS = 10;

/**
 * Deletes a promo group; its members move to the default group (spec 04 section 8.4). One transaction moves one batch, so that even a
 * million members block others no longer than one batch. The group is deleted after its last member, and the call is answered after
 * that. An interrupted call leaves a group with fewer members, and the next call continues.
 * @throws AppError 404 'Promo group not found' | 400 'Cannot delete default promo group'
 */
export async function deletePromoGroup(app: App, _actor: Actor, groupId: number): Promise<void> {
  const before = await findRecord(app.db, groupId);
  if (!before) throw promoGroupNotFound();
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    await emptyGroup(app, before.id);
    if (await inTransaction(app, (t) => deleteEmptied(t, before.id, before.membersCount))) return;
  }
  throw new Error(`users keep joining promo group ${groupId}`);
}

/** Moves all current members to the default group. Parallel calls run one after the other. */
async function emptyGroup(app: App, groupId: number): Promise<void> {
  let afterId: number | null = 0;
  while (afterId !== null) {
    const from: number = afterId;
    afterId = await inTransaction(app, (t) => moveBatch(t, groupId, from));
  }
}

/** @returns the last member that was moved; null = there were no members after `afterId` */
async function moveBatch(t: App, groupId: number, afterId: number): Promise<number | null> {
  const { targetId } = await lockDeletableGroup(t, groupId);
  const now = t.clock.now();
  const members = await lockNextMembers(t.db, groupId, afterId, BATCH);
  const last = members.at(-1);
  if (last === undefined) return null;
  await moveMembers(t.db, members, { fromId: groupId, toId: targetId, now });
  await syncPrimaryGroups(t.db, members, groupId, now);
  return last;
}

/**
 * @param membersCount for the audit log: the members before the deletion
 * @returns false when a user has joined the group since; then nothing is changed
 */
async function deleteEmptied(t: App, groupId: number, membersCount: number): Promise<boolean> {
  const { group, targetId } = await lockDeletableGroup(t, groupId);
  // User rows are never locked after the group's row (spec 00, lock order): members who joined since are moved by the next round.
  await lockAgainstJoining(t.db, group.id);
  if (await hasMembers(t.db, group.id)) return false;
  await moveOnlyServers(t.db, group.id, targetId);
  await deleteGroup(t.db, group.id);
  t.audit?.record({ resourceId: group.id, before: { ...group, membersCount }, after: null });
  return true;
}

/** Serializes changes of groups. Members and servers move to the default group. @throws AppError 404 | 400 */
async function lockDeletableGroup(t: App, groupId: number): Promise<{ group: PromoGroupRecord; targetId: number }> {
  await lockGroupChanges(t.db);
  const group = await findRecord(t.db, groupId);
  if (!group) throw promoGroupNotFound();
  const target = await findDefaultGroup(t.db);
  if (group.isDefault || !target) throw defaultGroupNotDeletable();
  return { group, targetId: target.id };
}
