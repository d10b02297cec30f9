import { addDays, addMs, HOUR_MS } from '../../../core/clock.ts';
import type { ReminderTerms } from './repo.ts';

/** Hours before the end of a trial (spec 06 section 14; `TRIAL_WARNING_HOURS` is not consulted). */
const TRIAL_HOURS = 2;
/** Larger numbers are ignored as mistakes; a very large one would be no valid date. */
const MAX_DAYS = 3_650;
/** Largest number of days that an owner may choose (contract). */
export const MAX_OWNER_DAYS = 30;

/**
 * The warnings before the end; a subscription gets only the most urgent one, and each once. When the operator sets none there are none, not
 * even at the days that owners have set.
 * @returns null when the setting has no usable number
 * @param warningDays setting `AUTOPAY_WARNING_DAYS`: whole numbers separated by commas
 */
export function warningsBeforeEnd(warningDays: string, now: Date): ReminderTerms | null {
  const days = [...new Set(warningDays.split(',').map((item) => Number(item.trim())))]
    .filter((count) => Number.isInteger(count) && count > 0 && count <= MAX_DAYS)
    .sort((a, b) => a - b);
  if (days.length === 0) return null;
  return {
    ...{ notificationType: 'expiring', warningDays: days, isTrial: false, isOver: false },
    endsAfter: now,
    endsUntil: addDays(now, Math.max(...days, MAX_OWNER_DAYS)),
  };
}

/** The one warning before the end of a trial. */
export function trialWarning(now: Date): ReminderTerms {
  return {
    ...{ notificationType: 'trial_2h', warningDays: null, isTrial: true, isOver: false },
    endsAfter: now,
    endsUntil: addMs(now, TRIAL_HOURS * HOUR_MS),
  };
}

/** A day after the end of a paid subscription; later ones are offers (spec 04 section 15). */
export function dayAfterEnd(now: Date): ReminderTerms {
  return {
    ...{ notificationType: 'expired_1d', warningDays: null, isTrial: false, isOver: true },
    endsAfter: addDays(now, -2),
    endsUntil: addDays(now, -1),
  };
}
