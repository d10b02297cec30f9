import type { App } from '../../../core/app.ts';
import { partnerRefusal } from './errors.ts';
import { lockApplicant, setPartnerStatus } from './repo.ts';
import type { LockedApplicant } from './types.ts';

/** Locks a user in the caller's transaction, so that his partnership stays as it is until its end. Null for an unknown one. */
export function holdPartner(t: App, userId: number): Promise<LockedApplicant | null> {
  return lockApplicant(t.db, userId);
}

/**
 * Makes a partner an ordinary user again, without personal commission, in the caller's transaction.
 * @returns what he was
 * @throws AppError 400 no such user | no partner
 */
export async function endPartnership(t: App, userId: number): Promise<LockedApplicant> {
  const user = await lockApplicant(t.db, userId);
  if (!user) throw partnerRefusal(t, 400, 'user_missing');
  if (user.partnerStatus !== 'approved') throw partnerRefusal(t, 400, 'not_partner');
  await setPartnerStatus(t.db, userId, 'none', null, t.clock.now());
  return user;
}
