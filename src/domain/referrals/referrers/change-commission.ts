import type { TokenActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { resolveUserId } from '../../users/account/read-user.ts';
import { setReferralCommission } from '../../users/account/referral-fields.ts';
import { type Referrer, readReferrer } from './read-referrers.ts';

/**
 * Sets the percentage that a user earns of the payments of referrals, partner or not (spec 04 section 4).
 * @param number messenger id, else internal id
 * @param percent 0..100; null = the service-wide one
 * @throws AppError 404 'User not found'
 */
export async function changeReferrerCommission(
  app: App,
  _actor: TokenActor,
  number: number,
  percent: number | null,
): Promise<Referrer> {
  await inTransaction(app, async (t) => setReferralCommission(t, await resolveUserId(t, number), percent));
  return readReferrer(app, number);
}
