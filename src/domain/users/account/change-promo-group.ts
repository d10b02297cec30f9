import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { lockPromoGroupForShare, nameOfPromoGroup, replaceMemberships } from '../../promo-groups/memberships.ts';
import { recordGroupChange } from '../../promo-groups/record-group-change.ts';
import { lockUser, updateUserColumns } from './repo.ts';

export const promoGroupNotFound = refusal('promo_group_not_found', 404, 'Promo group not found');

export interface PromoGroupChange {
  oldPromoGroupId: number | null;
  newPromoGroupId: number | null;
  promoGroupName: string | null;
}

/**
 * Makes a promo group the only one of a user, or removes the user from all groups (spec 01 section 11.2).
 * @param groupId null = none
 * @throws AppError 404 'User not found' | 404 'Promo group not found' | 403 (H5)
 */
export async function changeUserPromoGroup(
  app: App,
  actor: AdminActor,
  userId: number,
  groupId: number | null,
): Promise<PromoGroupChange> {
  await guardTarget(app, actor, userId, 'change');
  return inTransaction(app, async (t) => {
    const user = await lockUser(t.db, userId);
    if (!user) throw userNotFound();
    if (groupId !== null && !(await lockPromoGroupForShare(t, groupId))) throw promoGroupNotFound();
    await replaceMemberships(t, userId, groupId, { reassigns: true });
    await updateUserColumns(t.db, userId, { promoGroupId: groupId }, t.clock.now());
    if (groupId !== user.promoGroupId) {
      await recordGroupChange(t, actor, { userId, oldGroupId: user.promoGroupId, newGroupId: groupId, reason: 'manual' });
    }
    t.audit?.record({ before: { promoGroupId: user.promoGroupId }, after: { promoGroupId: groupId } });
    return {
      oldPromoGroupId: user.promoGroupId,
      newPromoGroupId: groupId,
      promoGroupName: groupId === null ? null : await nameOfPromoGroup(t, groupId),
    };
  });
}
