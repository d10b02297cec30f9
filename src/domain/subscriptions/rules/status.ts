import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../core/clock.ts';
import type { Subscription, SubscriptionChanges, SubscriptionStatus } from '../types.ts';

type Dated = Pick<Subscription, 'status' | 'endDate'>;

/**
 * Goes with every end that somebody decided on: autopay and the daily service take up what has just ended, and would charge for it and
 * undo the decision. The owner may start it again, by a purchase or a resume.
 */
export const ENDED_BY_DECISION = { autopayEnabled: false, isDailyPaused: true } as const satisfies SubscriptionChanges;

/** Whether the paid time is over; the end itself counts as over. */
export function isPast(subscription: Pick<Subscription, 'endDate'>, now: Date): boolean {
  return subscription.endDate.getTime() <= now.getTime();
}

/**
 * What the status is now, without writing it (spec 02 section 1.1, hazard H29): an active or trial one that ended is expired,
 * every other status is as stored.
 */
export function actualStatus(subscription: Dated, now: Date): SubscriptionStatus {
  const isLive = subscription.status === 'active' || subscription.status === 'trial';
  return isLive && isPast(subscription, now) ? 'expired' : subscription.status;
}

/** Stored as active and not over. */
export function isActive(subscription: Dated, now: Date): boolean {
  return subscription.status === 'active' && !isPast(subscription, now);
}

/** Time left until the end date; all 0 when it is over. */
export interface RemainingTime {
  days: number;
  hours: number;
  minutes: number;
  /** `{d}d {h}h`, `{h}h {m}m`, `{m}m` or `0m`. */
  display: string;
}

/** Days, hours of the day and minutes of the hour until the end date, and how they are shown (spec 02 section 5.1). */
export function timeLeft(subscription: Pick<Subscription, 'endDate'>, now: Date): RemainingTime {
  const ms = Math.max(0, subscription.endDate.getTime() - now.getTime());
  const days = Math.floor(ms / DAY_MS);
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  return { days, hours, minutes, display: displayTime(days, hours, minutes) };
}

/** Whole days until the end date, at least 0. */
export function daysLeft(subscription: Pick<Subscription, 'endDate'>, now: Date): number {
  return timeLeft(subscription, now).days;
}

/** Whole days since the start: of a trial what was used before the purchase (spec 10 X16). */
export function daysUsed(subscription: Pick<Subscription, 'startDate'>, now: Date): number {
  return Math.max(0, Math.floor((now.getTime() - subscription.startDate.getTime()) / DAY_MS));
}

/**
 * The status after traffic or devices were bought: disabled, expired and limited become active, but only while paid time is
 * left (spec 02 section 1.3).
 */
export function reactivatedStatus(subscription: Dated, now: Date): SubscriptionStatus {
  return isStopped(subscription.status) && !isPast(subscription, now) ? 'active' : subscription.status;
}

/** Expired, disabled or limited as stored: what an extension turns active again. */
export function isStopped(status: SubscriptionStatus): boolean {
  return status === 'expired' || status === 'disabled' || status === 'limited';
}

function displayTime(days: number, hours: number, minutes: number): string {
  if (days > 0) return `${days}d ${hours}h`;
  if (hours > 0) return `${hours}h ${minutes}m`;
  return `${minutes}m`;
}
