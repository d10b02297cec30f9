import { refuse } from '../../../core/errors.ts';
import { ENDED_BY_DECISION, isPast } from '../rules/status.ts';
import { checkEnd } from './bounds.ts';
import type { SubscriptionAction } from './types.ts';

/** Sets the end; the status follows it, and nothing renews one that is over by itself (spec 01 section 11.2). */
export const setEndDate: SubscriptionAction = async (t, _subscription, { endDate }) => {
  if (endDate === null) throw refuse('end_date_required', 400, 'end_date parameter is required');
  const now = t.clock.now();
  checkEnd('end_date', endDate.toISOString(), endDate, now);
  return {
    changes: { endDate, ...(isPast({ endDate }, now) ? { status: 'expired', ...ENDED_BY_DECISION } : { status: 'active' }) },
    forgetsNotices: true,
    message: `Subscription end date set to ${endDate.toISOString()}`,
  };
};
