import { addMs, DAY_MS, HOUR_MS } from '../../../core/clock.ts';
import { localDay, timestampAt } from '../../../core/time-zone.ts';
import { parseTimesOfDay } from '../contest-settings.ts';
import type { ContestRound, ContestTemplate } from './types.ts';

/** A hundred years, as for other prizes: longer ones would lead to dates outside of the calendar. */
const MAX_PRIZE_DAYS = 36_500;
/** Ten years. */
export const MAX_COOLDOWN_HOURS = 87_600;
const MAX_PRIZE_KOPEKS = 1_000_000_000;

export type Prize = { kind: 'days'; days: number } | { kind: 'balance'; kopeks: number } | { kind: 'custom' };

/** @returns null when the value does not fit the type: a whole number above 0 is needed for days and money (spec 04 section 10.4) */
export function readPrize({ prizeType, prizeValue }: Pick<ContestTemplate, 'prizeType' | 'prizeValue'>): Prize | null {
  if (prizeType === 'custom') return { kind: 'custom' };
  const text = prizeValue.trim();
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > (prizeType === 'days' ? MAX_PRIZE_DAYS : MAX_PRIZE_KOPEKS)) return null;
  return prizeType === 'days' ? { kind: 'days', days: value } : { kind: 'balance', kopeks: value };
}

/** Whether a round is played at a given time; both ends belong to it (spec 04 section 10.1). */
export function isLive(round: Pick<ContestRound, 'status' | 'startsAt' | 'endsAt'>, now: Date): boolean {
  return round.status === 'active' && round.startsAt.getTime() <= now.getTime() && now.getTime() <= round.endsAt.getTime();
}

export interface Slot {
  startsAt: Date;
  endsAt: Date;
}

type Schedule = Pick<ContestTemplate, 'scheduleTimes' | 'timesPerDay' | 'cooldownHours'>;

/**
 * The slots of a schedule in which a given time lies, in the order of the schedule. Of each of the first `timesPerDay` times the last
 * occurrence counts: today's in the time zone, or yesterday's while today's is still ahead (spec 04 section 10.3).
 */
export function openSlots(schedule: Schedule, now: Date, timeZone: string): Slot[] {
  const times = parseTimesOfDay(schedule.scheduleTimes ?? '') ?? [];
  const today = localDay(now, timeZone);
  return times
    .slice(0, schedule.timesPerDay)
    .map((time) => {
      const start = timestampAt(today + time, timeZone);
      return start.getTime() <= now.getTime() ? start : timestampAt(today - DAY_MS + time, timeZone);
    })
    .map((startsAt) => ({ startsAt, endsAt: addMs(startsAt, schedule.cooldownHours * HOUR_MS) }))
    .filter(({ endsAt }) => now.getTime() <= endsAt.getTime());
}
