import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { setPartnership } from '../../users/account/referral-fields.ts';
import { notPartner, partnerUserMissing, userMissing } from './errors.ts';
import { lockApplicant } from './repo.ts';
import type { LockedApplicant } from './types.ts';

/** Locks a user in the caller's transaction, so that the partnership does not change until its end. Null for an unknown user. */
export function lockPartner(t: App, userId: number): Promise<LockedApplicant | null> {
  return lockApplicant(t.db, userId);
}

/**
 * Sets the commission of a partner, under the user's lock (spec 04 section 3.4).
 * @param percent 1..100, rounded to two decimals
 * @returns what is stored
 * @throws AppError 404 no such user | 400 no partner
 */
export async function changePartnerCommission(
  app: App,
  _actor: AdminActor,
  userId: number,
  percent: number,
): Promise<{ commissionPercent: number }> {
  const commissionPercent = Math.round(percent * 100) / 100;
  return inTransaction(app, async (t) => {
    const user = await lockPartner(t, userId);
    if (!user) throw partnerUserMissing(t.settings.get('DEFAULT_LANGUAGE'));
    if (user.partnerStatus !== 'approved') throw notPartner(t.settings.get('DEFAULT_LANGUAGE'));
    await setPartnership(t, userId, { partnerStatus: 'approved', referralCommissionPercent: commissionPercent });
    t.audit?.record({ before: { commissionPercent: user.commissionPercent }, after: { commissionPercent } });
    return { commissionPercent };
  });
}

/**
 * Makes a partner an ordinary user again, without personal commission, in the caller's transaction.
 * @returns the partner as it was
 * @throws AppError 400 no such user | no partner
 */
export async function endPartnership(t: App, userId: number): Promise<LockedApplicant> {
  const user = await lockPartner(t, userId);
  if (!user) throw userMissing(t.settings.get('DEFAULT_LANGUAGE'));
  if (user.partnerStatus !== 'approved') throw notPartner(t.settings.get('DEFAULT_LANGUAGE'));
  await setPartnership(t, userId, { partnerStatus: 'none', referralCommissionPercent: null });
  return user;
}
