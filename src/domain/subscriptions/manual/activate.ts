import { addDays } from '../../../core/clock.ts';
import { isPast } from '../rules/status.ts';
import type { SubscriptionAction } from './types.ts';

/** Given to one whose time is over. */
const DAYS = 30;

/** Makes the subscription active; one whose time is over gets 30 days (spec 01 section 11.2). */
export const activate: SubscriptionAction = async (t, subscription) => {
  const now = t.clock.now();
  return {
    changes: { status: 'active', ...(isPast(subscription, now) ? { endDate: addDays(now, DAYS) } : {}) },
    forgetsNotices: true,
    message: 'Subscription activated',
  };
};
