import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { type Refusal, refusal } from '../../../core/errors.ts';
import { text } from '../../messaging/texts.ts';
import { requireBuyerDetails } from '../purchase/insufficient-funds.ts';
import type { Buyer } from '../purchase/types.ts';
import { actualStatus } from '../rules/status.ts';
import type { Subscription, SubscriptionStatus } from '../types.ts';

const subscriptionNotFound = refusal('subscription_not_found', 404, 'You have no subscription');
export const paidSubscriptionRequired = refusal('paid_subscription_required', 403, 'Not available during the trial');
const invalidSubscriptionId = refusal('invalid_subscription_id', 400, 'Invalid subscription identifier');
const subscriptionMismatch = refusal('subscription_mismatch', 403, 'Subscription does not belong to this user');
export const SUBSCRIPTION_ID_REFUSALS = [subscriptionNotFound, invalidSubscriptionId, subscriptionMismatch];

/** What a mini-app operation may be used with besides a running paid subscription. */
export interface PaidGuardOptions {
  /** Given by the caller; must be the user's own. */
  subscriptionId: number | null;
  trial?: boolean;
  expired?: boolean;
}

export const subscriptionInactive = refusal('subscription_inactive', 403, 'The subscription is not active');
export const subscriptionDisabled = refusal('subscription_disabled', 403, 'The subscription is not active');
export const trafficExhausted = refusal('traffic_exhausted', 403, 'The subscription is not active');
const REFUSED: Partial<Record<SubscriptionStatus, Refusal>> = { disabled: subscriptionDisabled, limited: trafficExhausted };

/**
 * The guard of the mini-app's operations on a paid subscription (spec 02 section 12.1, row P). Judged before the operation, which
 * judges what it changes once more under its own locks.
 * @throws AppError 404 subscription_not_found | 403 paid_subscription_required, subscription_disabled, traffic_exhausted,
 *   subscription_inactive, subscription_mismatch | 400 invalid_subscription_id
 */
export async function requirePaidSubscription(
  app: App,
  actor: UserActor,
  options: PaidGuardOptions,
): Promise<{ buyer: Buyer; subscription: Subscription }> {
  const found = await requireBuyerDetails(app, actor);
  const { buyer, details } = found;
  if (!details) throw subscriptionNotFound({ detail: text(buyer.language, 'errors.subscription_missing') });
  const { subscription } = details;
  if (subscription.isTrial && !options.trial) {
    throw paidSubscriptionRequired({ detail: text(buyer.language, 'errors.subscription_trial') });
  }
  const status = actualStatus(subscription, app.clock.now());
  const isAllowed = status === 'active' || (status === 'trial' && options.trial) || (status === 'expired' && options.expired);
  if (!isAllowed) {
    const refused = REFUSED[status] ?? subscriptionInactive;
    throw refused({ detail: text(buyer.language, 'errors.subscription_inactive') });
  }
  const { subscriptionId } = options;
  if (subscriptionId !== null && subscriptionId <= 0) throw invalidSubscriptionId();
  if (subscriptionId !== null && subscriptionId !== subscription.id) throw subscriptionMismatch();
  return { buyer, subscription };
}
