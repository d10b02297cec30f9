import { addDays } from '../../../core/clock.ts';
import { refuse } from '../../../core/errors.ts';
import { checkEnd } from '../bounds.ts';
import { freeExtension } from '../grant-days.ts';
import { ENDED_BY_DECISION, isPast } from '../rules/status.ts';
import type { SubscriptionAction } from './types.ts';

/** Actions on the end of a subscription (spec 01 section 11.2). */

/** Days that an expired subscription gets when it is activated. */
const ACTIVATED_DAYS = 30;

/** Adds days to the end, or to now when the end is past; a stopped subscription is active again (spec 01 section 11.2, spec 02 section 3.1). */
export const extend: SubscriptionAction = async (t, subscription, { days }) => {
  if (days == null) throw daysRequired();
  const extension = freeExtension(t, subscription, days);
  checkEnd('days', days, extension.changes.endDate ?? subscription.endDate, t.clock.now());
  return {
    ...extension,
    panelResets: { resetTraffic: extension.changes.trafficUsedGb === 0 },
    message: `Subscription extended by ${days} days`,
  };
};

/**
 * Takes days off the end. A subscription that is over by that is expired, and nothing renews it automatically. Used traffic is not
 * changed (spec 01 section 11.2).
 */
export const shorten: SubscriptionAction = async (t, subscription, { days }) => {
  if (days == null) throw daysRequired();
  const endDate = addDays(subscription.endDate, -days);
  const isOver = isPast({ endDate }, t.clock.now());
  return {
    changes: { endDate, ...(isOver ? { status: 'expired', ...ENDED_BY_DECISION } : {}) },
    forgetsNotices: true,
    message: `Subscription shortened by ${days} days`,
  };
};

/** Sets the end and the status that follows from it; nothing automatically renews a subscription that is over (spec 01 section 11.2). */
export const setEndDate: SubscriptionAction = async (t, _subscription, { endDate }) => {
  if (endDate == null) throw refuse('end_date_required', 400, 'end_date parameter is required');
  const now = t.clock.now();
  checkEnd('end_date', endDate.toISOString(), endDate, now);
  return {
    changes: { endDate, ...(isPast({ endDate }, now) ? { status: 'expired', ...ENDED_BY_DECISION } : { status: 'active' }) },
    forgetsNotices: true,
    message: `Subscription end date set to ${endDate.toISOString()}`,
  };
};

/** Ends the subscription now; nothing renews it automatically (spec 01 section 11.2). */
export const cancel: SubscriptionAction = async (t) => ({
  changes: { status: 'expired', endDate: t.clock.now(), ...ENDED_BY_DECISION },
  message: 'Subscription cancelled',
});

/** Makes the subscription active; one whose end is past gets 30 days (spec 01 section 11.2). */
export const activate: SubscriptionAction = async (t, subscription) => {
  const now = t.clock.now();
  return {
    changes: { status: 'active', ...(isPast(subscription, now) ? { endDate: addDays(now, ACTIVATED_DAYS) } : {}) },
    forgetsNotices: true,
    message: 'Subscription activated',
  };
};

const daysRequired = () => refuse('days_required', 400, 'Days must be a positive integer');
