import { addDays } from '../../../../core/clock.ts';
import { refuse } from '../../../../core/errors.ts';
import type { SubscriptionAction } from './types.ts';

/** Takes days off the end; one that ends by that is expired. Used traffic stays (spec 01 section 11.2). */
export const shorten: SubscriptionAction = async (t, subscription, { days }) => {
  if (days === null) throw refuse('days_required', 400, 'Days must be a positive integer');
  const endDate = addDays(subscription.endDate, -days);
  const isOver = endDate.getTime() <= t.clock.now().getTime();
  return {
    changes: { endDate, ...(isOver ? { status: 'expired' } : {}) },
    forgetsNotices: true,
    message: `Subscription shortened by ${days} days`,
  };
};
