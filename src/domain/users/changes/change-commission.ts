import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { userNotFound } from '../../identity/errors.ts';
import { guardTarget } from '../../identity/guard-target.ts';
import { lockUser, setCommission } from './repo.ts';

/**
 * Sets what a user earns of what referrals pay, percent 0..100 (spec 01 section 11.2).
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
 * The change itself, in the caller's transaction, for callers that have checked who may make it.
 * @throws AppError 404 'User not found'
 */
export async function setReferralCommission(
  t: App,
  userId: number,
  percent: number | null,
): Promise<{ oldPercent: number | null }> {
  const user = await lockUser(t.db, userId);
  if (!user) throw userNotFound();
  await setCommission(t.db, userId, percent, t.clock.now());
  t.audit?.note({
    resourceId: userId,
    before: { commissionPercent: user.commissionPercent },
    after: { commissionPercent: percent },
  });
  return { oldPercent: user.commissionPercent };
}
