import type { App } from '../../../core/app.ts';
import { refusal } from '../../../core/errors.ts';
import { userNotFound } from '../../identity/errors.ts';
import type { KeyClaim, Opened } from '../../ledger/run-once.ts';
import { openSaleStart } from './repo.ts';
import type { SaleNeeds, SaleStart } from './types.ts';

export const subscriptionRestricted = refusal(
  'subscription_restricted',
  403,
  'Subscription purchases are restricted for this account',
);

/**
 * The first statement of everything that is bought from the balance, the same for both areas: claims the idempotency key, locks user,
 * subscription and tariff in this order, and reads what the rules decide from. In the caller's transaction.
 * @param claim null = there is no key
 */
export function openSale(
  t: App,
  userId: number,
  needs: SaleNeeds = {},
  claim: KeyClaim | null = null,
): Promise<Opened<SaleStart | null>> {
  return openSaleStart(t.db, userId, needs, claim);
}

/**
 * Refuses users who may not buy (spec 02 H6), before anything else of the order is judged.
 * @param restricted the message for a user with `restriction_subscription`
 * @throws AppError 404 'User not found' | 403 restricted
 */
export function requireBuyer(
  start: SaleStart | null,
  restricted = 'Subscription purchases are restricted for this account',
): SaleStart {
  if (!start) throw userNotFound();
  if (start.buyer.restrictionSubscription) throw subscriptionRestricted({ detail: restricted });
  return start;
}
