import { DAY_MS } from '../../../core/clock.ts';

/** Whether a failed charge is reported to the owner: each one, that of the last day of the plan, or none. */
export type FailureNotices = 'each' | 'last' | 'none';

/**
 * Days between a moment and the end of a subscription, as the plan of charges counts them: 0 = it ends within the next 24 hours, -1 = it has
 * ended within the last 24 hours.
 */
export function daysBeforeEnd(endDate: Date, now: Date): number {
  return Math.floor((endDate.getTime() - now.getTime()) / DAY_MS);
}

/** Whether the owner is told of a charge that failed so many days before the end. */
export function isFailureReported(notices: FailureNotices, planDays: readonly number[], daysBefore: number): boolean {
  return notices === 'each' || (notices === 'last' && daysBefore <= Math.min(...planDays));
}

/** The day of a charge, UTC, as `2026-11-22`. */
export function chargeDay(now: Date): string {
  return now.toISOString().slice(0, 10);
}
