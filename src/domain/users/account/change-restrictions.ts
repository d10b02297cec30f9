import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { lockUser, updateUserColumns } from './repo.ts';

export interface Restrictions {
  restrictionTopup: boolean;
  restrictionSubscription: boolean;
  restrictionReason: string | null;
}

/** Null or absent = unchanged; an empty reason clears it. */
export type RestrictionsRequest = { [K in keyof Restrictions]?: Restrictions[K] | null | undefined };

/** Forbids or allows a user to top up and to buy (spec 01 section 11.2). @throws AppError 404 'User not found' | 403 (H5) */
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
