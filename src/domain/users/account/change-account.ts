import { z } from 'zod';
import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { defineEvent, type EventsOf } from '../../../core/events/define-event.ts';
import { NoFields } from '../../../core/events/event-fields.ts';
import { forgetSessionUser } from '../../identity/authenticate.ts';
import { userNotFound } from '../../identity/errors.ts';
import { findUserById, guardTarget } from '../../identity/find-user.ts';
import { closeAllSessions } from '../../identity/sessions/sessions.ts';
import type { UserStatus } from '../../identity/types.ts';
import {
  lockPromoGroupForShare,
  nameOfPromoGroup,
  recordGroupChange,
  replaceMemberships,
} from '../../promo-groups/memberships.ts';
import { requestPanelUserRemoval, requestProvisioning } from '../../provisioning/request-provisioning.ts';
import { lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { lockUser, updateUserColumns } from './repo.ts';

export const ACCOUNT_STATUS_EVENTS = [
  defineEvent('account.banned', z.object({ reason: z.string().describe('As the administrator gave it; empty without one.') }), {
    audience: 'user',
    description: 'The account was blocked; the connection ends after it.',
    example: { reason: 'Abuse' },
  }),
  defineEvent('account.unbanned', NoFields, {
    ...{ audience: 'user', description: 'A blocked account is active again.', example: {} },
  }),
] as const;

declare module '../../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof ACCOUNT_STATUS_EVENTS> {}
}

export interface StatusChange {
  oldStatus: UserStatus;
  newStatus: UserStatus;
}

/**
 * Sets the status of an account (spec 01 section 11.2). An account that is no longer active loses every session with the commit (H8)
 * and its access at the panel, which returns for the rest of the term when the account is active again (08 P15).
 * @param reason recorded in the audit log, and sent to the sockets of a user who is blocked
 * @throws AppError 404 'User not found' | 403 (spec 01 H5)
 */
export async function changeUserStatus(
  app: App,
  actor: AdminActor,
  userId: number,
  status: UserStatus,
  reason: string | null,
): Promise<StatusChange> {
  await guardTarget(app, actor, userId, status === 'active' ? 'change' : 'removal');
  return inTransaction(app, async (t) => {
    const user = await lockUser(t.db, userId);
    if (!user) throw userNotFound();
    await applyStatus(t, userId, user.status, status, reason);
    t.audit?.record({ before: { status: user.status }, after: { status, reason } });
    return { oldStatus: user.status, newStatus: status };
  });
}

/** For a locked user, in the caller's transaction. @param reason of a block */
export async function applyStatus(
  t: App,
  userId: number,
  from: UserStatus,
  to: UserStatus,
  reason: string | null = null,
): Promise<void> {
  if (from === to) return;
  const user = { audience: 'user', userId } as const;
  if (to === 'blocked') await t.events.emit('account.banned', { reason: reason ?? '' }, user);
  else if (from === 'blocked' && to === 'active') await t.events.emit('account.unbanned', {}, user);
  // Before the change of the user, which locks the counter of his traffic: writers of the subscription lock that one after it, too.
  const subscription = await lockUserSubscription(t, userId);
  await updateUserColumns(t.db, userId, { status: to }, t.clock.now());
  if (to !== 'active') await closeAllSessions(t, userId);
  await forgetSessionUser(t, userId);
  if (subscription) return requestProvisioning(t, subscription.id);
  // The subscription was deleted and its panel user left unchanged.
  const panelUuid = to === 'active' ? null : ((await findUserById(t, userId))?.vpnpanelUuid ?? null);
  if (panelUuid !== null) await requestPanelUserRemoval(t, panelUuid, 'disable');
}

export const promoGroupNotFound = refusal('promo_group_not_found', 404, 'Promo group not found');

/**
 * Makes a promo group the only one of a user, or removes the user from all groups.
 * @param groupId null = none
 * @throws AppError 404 'User not found' | 404 'Promo group not found' | 403 (spec 01 H5)
 */
export async function changeUserPromoGroup(app: App, actor: AdminActor, userId: number, groupId: number | null) {
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

interface Restrictions {
  restrictionTopup: boolean;
  restrictionSubscription: boolean;
  restrictionReason: string | null;
}

/** Null or absent = unchanged; an empty reason clears it. */
type RestrictionsRequest = { [K in keyof Restrictions]?: Restrictions[K] | null | undefined };

/** Forbids or allows a user to top up and to buy. @throws AppError 404 'User not found' | 403 (spec 01 H5) */
export async function changeRestrictions(
  app: App,
  actor: AdminActor,
  userId: number,
  request: RestrictionsRequest,
): Promise<Restrictions> {
  await guardTarget(app, actor, userId, 'change');
  return inTransaction(app, async (t) => {
    const user = await lockUser(t.db, userId);
    if (!user) throw userNotFound();
    const { restrictionTopup, restrictionSubscription, restrictionReason } = user;
    const before = { restrictionTopup, restrictionSubscription, restrictionReason };
    const after = {
      restrictionTopup: request.restrictionTopup ?? restrictionTopup,
      restrictionSubscription: request.restrictionSubscription ?? restrictionSubscription,
      restrictionReason: request.restrictionReason == null ? restrictionReason : request.restrictionReason.trim() || null,
    };
    await updateUserColumns(t.db, userId, after, t.clock.now());
    t.audit?.record({ before, after });
    return after;
  });
}
