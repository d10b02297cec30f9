import { isActive } from '../../subscriptions/rules/status.ts';
import type { Subscription } from '../../subscriptions/types.ts';

/** Paid for and running: such a subscription is not disabled or reset together with the account (spec 01 section 11.2). */
export function isActivePaid(subscription: Pick<Subscription, 'isTrial' | 'status' | 'endDate'>, now: Date): boolean {
  return !subscription.isTrial && isActive(subscription, now);
}
