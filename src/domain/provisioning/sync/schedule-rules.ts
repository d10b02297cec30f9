/** Pure rules of when the automatic synchronisation runs (spec 06 section 10). */
import { addDays, addMs, MINUTE_MS, startOfDay } from '../../../core/clock.ts';

const TIME = /^([01]?\d|2[0-3]):([0-5]\d)$/;

/** Minutes of the day in UTC, ascending; a list separated by blanks, commas or semicolons; invalid items are ignored. */
export function parseTimes(text: string): number[] {
  const minutes = text.split(/[\s,;]+/).flatMap((item) => {
    const match = TIME.exec(item);
    return match ? [Number(match[1]) * 60 + Number(match[2])] : [];
  });
  return [...new Set(minutes)].sort((a, b) => a - b);
}

export function timeText(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}

/** The next of the times after `now`; null without times. */
export function nextRun(times: readonly number[], now: Date): Date | null {
  const first = times[0];
  if (first === undefined) return null;
  const day = startOfDay(now);
  const later = times.map((minutes) => addMs(day, minutes * MINUTE_MS)).find((moment) => moment > now);
  return later ?? addMs(addDays(day, 1), first * MINUTE_MS);
}

/** The latest of the times up to `now`; null without times. */
export function lastRun(times: readonly number[], now: Date): Date | null {
  const last = times.at(-1);
  if (last === undefined) return null;
  const day = startOfDay(now);
  const earlier = times.map((minutes) => addMs(day, minutes * MINUTE_MS)).findLast((moment) => moment <= now);
  return earlier ?? addMs(addDays(day, -1), last * MINUTE_MS);
}
