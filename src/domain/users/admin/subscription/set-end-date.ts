import { refuse } from '../../../../core/errors.ts';
import { checkEnd } from './bounds.ts';
import type { SubscriptionAction } from './types.ts';

/** Sets the end; the status follows it (spec 01 section 11.2). */
export const setEndDate: SubscriptionAction = async (t, _subscription, { endDate }) => {
  if (endDate === null) throw refuse('end_date_required', 400, 'end_date parameter is required');
  const now = t.clock.now();
  checkEnd('end_date', endDate.toISOString(), endDate, now);
  return {
    changes: { endDate, status: endDate.getTime() > now.getTime() ? 'active' : 'expired' },
    forgetsNotices: true,
    message: `Subscription end date set to ${endDate.toISOString()}`,
  };
};
