import { addDays } from '../../../core/clock.ts';
import { refuse } from '../../../core/errors.ts';
import { ENDED_BY_DECISION, isPast } from '../rules/status.ts';
import type { SubscriptionAction } from './types.ts';

/** Takes days off the end; one that ends by that is expired, and nothing renews it by itself. Used traffic stays (spec 01 section 11.2). */
export const shorten: SubscriptionAction = async (t, subscription, { days }) => {
  if (days === null) throw refuse('days_required', 400, 'Days must be a positive integer');
  const endDate = addDays(subscription.endDate, -days);
  const isOver = isPast({ endDate }, t.clock.now());
  return {
    changes: { endDate, ...(isOver ? { status: 'expired', ...ENDED_BY_DECISION } : {}) },
    forgetsNotices: true,
    message: `Subscription shortened by ${days} days`,
  };
};
