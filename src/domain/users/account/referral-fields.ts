import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import type { Rows } from '../../../core/db/columns.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { lockUser, setReferrerOnce, updateUserColumns } from './repo.ts';

/** What the referral programme stores on an account (spec 04 sections 1 and 3). */

/**
 * Sets the percentage that a user earns of the payments of referrals, 0..100 (spec 01 section 11.2).
 * @param percent null = the service-wide one
 * @returns the percentage before
 * @throws AppError 404 'User not found' | 403 (H5)
 */
export async function changeReferralCommission(
  app: App,
  actor: AdminActor,
  userId: number,
  percent: number | null,
): Promise<{ oldPercent: number | null }> {
  await guardTarget(app, actor, userId, 'change');
  return inTransaction(app, (t) => setReferralCommission(t, userId, percent));
}

/**
 * The change alone, in the caller's transaction, for callers that have checked who may make it.
 * @throws AppError 404 'User not found'
 */
export async function setReferralCommission(
  t: App,
  userId: number,
  percent: number | null,
): Promise<{ oldPercent: number | null }> {
  const user = await lockUser(t.db, userId);
  if (!user) throw userNotFound();
  await updateUserColumns(t.db, userId, { referralCommissionPercent: percent }, t.clock.now());
  t.audit?.record({
    resourceId: userId,
    before: { commissionPercent: user.commissionPercent },
    after: { commissionPercent: percent },
  });
  return { oldPercent: user.commissionPercent };
}

export interface Partnership {
  partnerStatus: Rows['User']['partnerStatus'];
  /** Percent; null = the service-wide one; left out = unchanged. */
  referralCommissionPercent?: number | null | undefined;
}

/** For a locked user, in the caller's transaction (spec 04 section 3.1). */
export async function setPartnership(t: App, userId: number, partnership: Partnership): Promise<void> {
  await updateUserColumns(t.db, userId, partnership, t.clock.now());
}

/**
 * Sets the referrer of a user who has none, under the locks of both, in the caller's transaction (spec 04 section 1.2).
 * @returns false when the user has a referrer, or would become their own ancestor
 */
export function setReferrer(t: App, pair: { referrerId: number; referralId: number }): Promise<boolean> {
  return setReferrerOnce(t.db, pair.referralId, pair.referrerId, t.clock.now());
}
