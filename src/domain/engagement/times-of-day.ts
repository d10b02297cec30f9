import { MINUTE_MS } from '../../core/clock.ts';

const TIME_OF_DAY = /^([01]?\d|2[0-3]):([0-5]\d)$/;

/**
 * Reads a comma list of HH:MM.
 * @returns milliseconds from midnight in the order given; null when an item is no time. An empty text is an empty list
 */
export function parseTimesOfDay(text: string): number[] | null {
  const items = text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  const times = items.map((item) => TIME_OF_DAY.exec(item));
  if (times.some((time) => time === null)) return null;
  return times.map((time) => (Number(time![1]) * 60 + Number(time![2])) * MINUTE_MS);
}

/** `HH:MM` of milliseconds from midnight. */
export function timeOfDay(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':');
}
