import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { defaultGroupStays, promoGroupNotFound } from './errors.ts';
import { hasMembers, lockNextMembers, moveMembers, syncPrimaryGroups } from './membership-repo.ts';
import { closeGroup, deleteGroup, findRecord, handOverServers, lockGroupChanges } from './record-repo.ts';
import { findDefaultGroup } from './repo.ts';
import type { PromoGroupRecord } from './types.ts';

/** Members moved by one transaction: they wait for it, so it is a moment. */
const BATCH = 500;
/** Rounds over the members; each after the first is only for those who came into the group during the one before. */
const MAX_ROUNDS = 10;

/**
 * Deletes a promo group; its members move to the default group (spec 04 section 8.4). They move a batch a transaction, so a million
 * holds up nobody for longer than one batch; the group goes when the last has left it, and only then is the call answered. A call that
 * is cut off leaves a smaller group, and the next one goes on from there.
 * @throws AppError 404 'Promo group not found' | 400 'Cannot delete default promo group'
 */
export async function deletePromoGroup(app: App, _actor: Actor, groupId: number): Promise<void> {
  const before = await findRecord(app.db, groupId);
  if (!before) throw promoGroupNotFound();
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    await emptyGroup(app, before.id);
    if (await inTransaction(app, (t) => removeEmptied(t, before.id, before.membersCount))) return;
  }
  throw new Error(`users keep coming into promo group ${groupId}`);
}

/** Moves everybody who is in the group now to the default one. Two calls at once take turns. */
async function emptyGroup(app: App, groupId: number): Promise<void> {
  let afterId: number | null = 0;
  while (afterId !== null) {
    const behind: number = afterId;
    afterId = await inTransaction(app, (t) => moveSome(t, groupId, behind));
  }
}

/** @returns the last member that was moved; null = nobody is left behind this one */
async function moveSome(t: App, groupId: number, afterId: number): Promise<number | null> {
  const { heirId } = await judge(t, groupId);
  const now = t.clock.now();
  const members = await lockNextMembers(t.db, groupId, afterId, BATCH);
  const last = members.at(-1);
  if (last === undefined) return null;
  await moveMembers(t.db, members, { fromId: groupId, toId: heirId, now });
  await syncPrimaryGroups(t.db, members, groupId, now);
  return last;
}

/**
 * @param membersCount what the audit tells of the group: how many it had
 * @returns false when somebody came into the group meanwhile: nothing is changed then
 */
async function removeEmptied(t: App, groupId: number, membersCount: number): Promise<boolean> {
  const { group, heirId } = await judge(t, groupId);
  // Nobody's row is locked behind the group's (spec 00, lock order): who is in it by now is moved by the next round.
  await closeGroup(t.db, group.id);
  if (await hasMembers(t.db, group.id)) return false;
  await handOverServers(t.db, group.id, heirId);
  await deleteGroup(t.db, group.id);
  t.audit?.note({ resourceId: group.id, before: { ...group, membersCount }, after: null });
  return true;
}

/** One change of groups at a time; the default group is where members and servers go. @throws AppError 404 | 400 */
async function judge(t: App, groupId: number): Promise<{ group: PromoGroupRecord; heirId: number }> {
  await lockGroupChanges(t.db);
  const group = await findRecord(t.db, groupId);
  if (!group) throw promoGroupNotFound();
  const heir = await findDefaultGroup(t.db);
  if (group.isDefault || !heir) throw defaultGroupStays();
  return { group, heirId: heir.id };
}
