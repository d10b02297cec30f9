import type { App } from '../../../core/app.ts';
import { refuse } from '../../../core/errors.ts';
import { userNotFound } from '../../identity/errors.ts';
import { lockSaleStart } from './repo.ts';
import type { SaleStart } from './types.ts';

/**
 * The start of everything that is bought from the balance, the same for both areas: locks user, then subscription, and refuses
 * users who may not buy (spec 02 H6). In the caller's transaction.
 * @param restricted the message for a user with `restriction_subscription`
 * @throws AppError 404 'User not found' | 403 restricted
 */
export async function beginSale(
  t: App,
  userId: number,
  restricted = 'Subscription purchases are restricted for this account',
): Promise<SaleStart> {
  const start = await lockSaleStart(t.db, userId);
  if (!start) throw userNotFound();
  if (start.buyer.restrictionSubscription) throw refuse('subscription_restricted', 403, restricted);
  return start;
}
