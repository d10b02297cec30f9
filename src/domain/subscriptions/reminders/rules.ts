import { addDays, addMs, HOUR_MS } from '../../../core/clock.ts';
import type { ReminderTerms } from './repo.ts';

/** Hours before the end of a trial (spec 06 section 14; `TRIAL_WARNING_HOURS` is not consulted). */
const TRIAL_HOURS = 2;
/** What is above it is a slip; far enough above, no calendar holds the day. */
const MAX_DAYS = 3_650;

/**
 * The warnings before the end. Each number of days covers the stretch down to the next smaller one, so that a subscription gets the
 * most urgent warning only, and each once.
 * @param warningDays setting `AUTOPAY_WARNING_DAYS`: whole numbers separated by commas
 */
export function warningsBeforeEnd(warningDays: string, now: Date): ReminderTerms[] {
  const days = [...new Set(warningDays.split(',').map((item) => Number(item.trim())))]
    .filter((count) => Number.isInteger(count) && count > 0 && count <= MAX_DAYS)
    .sort((a, b) => a - b);
  return days.map((count, index) => ({
    ...{ notificationType: 'expiring', discriminator: String(count), isTrial: false, isOver: false },
    endsAfter: addDays(now, days[index - 1] ?? 0),
    endsUntil: addDays(now, count),
  }));
}

export function trialWarning(now: Date): ReminderTerms {
  return {
    ...{ notificationType: 'trial_2h', discriminator: '', isTrial: true, isOver: false },
    endsAfter: now,
    endsUntil: addMs(now, TRIAL_HOURS * HOUR_MS),
  };
}

/** A day after the end of a paid subscription; later ones are offers (spec 04 section 15). */
export function dayAfterEnd(now: Date): ReminderTerms {
  return {
    ...{ notificationType: 'expired_1d', discriminator: '', isTrial: false, isOver: true },
    endsAfter: addDays(now, -2),
    endsUntil: addDays(now, -1),
  };
}
