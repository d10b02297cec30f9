import type { Actor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { recordEvent } from '../activity/record-event.ts';
import { findUserById } from '../identity/find-user.ts';
import { nameOfPromoGroup } from './memberships.ts';

/** A user's primary promo group became another one; null = none. */
export interface GroupChange {
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
