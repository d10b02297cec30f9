import type { Actor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { isForeignKeyViolation } from '../../../core/db/db-errors.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { defaultGroupStays, promoGroupNotFound } from './errors.ts';
import { lockMembers, moveMembers, syncPrimaryGroups } from './membership-repo.ts';
import { deleteGroup, findRecord, handOverServers, lockGroupChanges } from './record-repo.ts';
import { findDefaultGroup } from './repo.ts';

const MAX_ATTEMPTS = 5;

/**
 * Deletes a promo group; its members move to the default group (spec 04 section 8.4).
 * @throws AppError 404 'Promo group not found' | 400 'Cannot delete default promo group'
 */
export async function deletePromoGroup(app: App, _actor: Actor, groupId: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await inTransaction(app, (t) => removeGroup(t, groupId));
      return;
    } catch (error) {
      // Somebody came into the group between the move and the deletion: once more, with them.
      if (attempt >= MAX_ATTEMPTS || !isForeignKeyViolation(error)) throw error;
    }
  }
}

async function removeGroup(t: App, groupId: number): Promise<void> {
  await lockGroupChanges(t.db);
  const group = await findRecord(t.db, groupId);
  if (!group) throw promoGroupNotFound();
  const heir = await findDefaultGroup(t.db);
  if (group.isDefault || !heir) throw defaultGroupStays();
  const now = t.clock.now();
  // Users first, then the group (spec 00, lock order).
  const members = await lockMembers(t.db, group.id);
  await moveMembers(t.db, members, { fromId: group.id, toId: heir.id, now });
  await syncPrimaryGroups(t.db, members, group.id, now);
  await handOverServers(t.db, group.id, heir.id);
  await deleteGroup(t.db, group.id);
  t.audit?.note({ resourceId: group.id, before: group, after: null });
}
