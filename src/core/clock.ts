/** Time as the service sees it. Always ask the clock, never `new Date()`: tests freeze it and the sandbox moves it forward. */
export interface Clock {
  /** The current time in UTC. */
  now(): Date;
  /** The same, but the database is asked for it now. Left out where the clock is not the database's, as in tests. */
  confirmed?(): Promise<Date>;
}

/** The time for what deletes by age: as the database says now, so that a wrong clock of one machine deletes nothing early (spec 10 F5). */
export async function confirmedNow(clock: Clock): Promise<Date> {
  return clock.confirmed ? clock.confirmed() : clock.now();
}

/** The machine's own time. */
export const systemClock: Clock = { now: () => new Date() };

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The time `days` (may be negative or a fraction) after `from`. */
export function addDays(from: Date, days: number): Date {
  return new Date(from.getTime() + days * DAY_MS);
}

/** Whether the date is valid and in the years 1 to 9999 UTC, which ISO 8601 writes with four digits. */
export function isWithinCalendar(timestamp: Date): boolean {
  const year = timestamp.getUTCFullYear();
  return year >= 1 && year <= 9999;
}

/** 00:00 UTC of the day. */
export function startOfDay(timestamp: Date): Date {
  return new Date(Math.floor(timestamp.getTime() / DAY_MS) * DAY_MS);
}

/** The time `ms` milliseconds after `from`. */
export function addMs(from: Date, ms: number): Date {
  return new Date(from.getTime() + ms);
}
