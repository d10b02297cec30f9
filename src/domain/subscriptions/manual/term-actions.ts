import { addDays } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import { checkEnd } from '../bounds.ts';
import { freeExtension } from '../grant-days.ts';
import { ENDED_BY_DECISION, isPast } from '../rules/status.ts';
import type { Subscription, SubscriptionChanges } from '../types.ts';
import type { SubscriptionAction } from './types.ts';

const endDateRequired = refusal('end_date_required', 400, 'end_date parameter is required');

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
    changes: { ...extension.changes, ...undoneCancel(subscription) },
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
    changes: { endDate, ...(isOver ? endedNow(subscription) : {}) },
    forgetsNotices: true,
    message: `Subscription shortened by ${days} days`,
  };
};

/** Sets the end and the status that follows from it; nothing automatically renews a subscription that is over (spec 01 section 11.2). */
export const setEndDate: SubscriptionAction = async (t, subscription, { endDate }) => {
  if (endDate == null) throw endDateRequired();
  const now = t.clock.now();
  checkEnd('end_date', endDate.toISOString(), endDate, now);
  return {
    changes: {
      endDate,
      ...(isPast({ endDate }, now) ? endedNow(subscription) : { status: 'active', ...undoneCancel(subscription) }),
    },
    forgetsNotices: true,
    message: `Subscription end date set to ${endDate.toISOString()}`,
  };
};

/** Ends the subscription now; nothing renews it automatically (spec 01 section 11.2). */
export const cancel: SubscriptionAction = async (t, subscription) => ({
  changes: { endDate: t.clock.now(), ...endedNow(subscription) },
  message: 'Subscription cancelled',
});

/** Makes the subscription active; one whose end is past gets 30 days (spec 01 section 11.2). */
export const activate: SubscriptionAction = async (t, subscription) => {
  const now = t.clock.now();
  return {
    changes: {
      ...{ status: 'active', ...undoneCancel(subscription) },
      ...(isPast(subscription, now) ? { endDate: addDays(now, ACTIVATED_DAYS) } : {}),
    },
    forgetsNotices: true,
    message: 'Subscription activated',
  };
};

/** The end by an administrator's decision, and what it switches off, so that a later action switches on that and no more (spec 10 X8). */
function endedNow(subscription: Subscription): SubscriptionChanges {
  const { autopayEnabled, isDailyPaused, cancelEndedAutopay, cancelPausedDaily } = subscription;
  return {
    ...{ status: 'expired', ...ENDED_BY_DECISION },
    ...{ cancelEndedAutopay: cancelEndedAutopay || autopayEnabled, cancelPausedDaily: cancelPausedDaily || !isDailyPaused },
  };
}

/** Switches on what an administrator's end of the subscription switched off; what its owner had switched off stays so (spec 10 X8). */
function undoneCancel({ cancelEndedAutopay, cancelPausedDaily }: Subscription): SubscriptionChanges {
  return {
    ...(cancelEndedAutopay ? { autopayEnabled: true, cancelEndedAutopay: false } : {}),
    ...(cancelPausedDaily ? { isDailyPaused: false, cancelPausedDaily: false } : {}),
  };
}

export const daysRequired = refusal('days_required', 400, 'Days must be a positive integer');
