/** Pure rules of the log rotation (spec 06 section 14). Days are dates of the local zone, `YYYY-MM-DD`. */
import { addDays } from '../../../core/clock.ts';
import { wallText } from '../../../core/time-zone.ts';

/** The day of the last rotation that is due. @param time `HH:MM` of the zone */
export function lastDueDay(now: Date, timeZone: string, time: string): string {
  const local = wallText(now, timeZone);
  const [day, clock] = [local.slice(0, 10), local.slice(11, 16)];
  return clock >= time ? day : dayBefore(day);
}

export function dayBefore(day: string, days = 1): string {
  return addDays(new Date(`${day}T00:00:00Z`), -days)
    .toISOString()
    .slice(0, 10);
}

const ARCHIVE_NAME = /^logs_(\d{4}-\d{2}-\d{2})(?:_\d+)?\.tar(?:\.gz)?$/;

/** `logs_{day}.tar.gz`, with a number where the day has one already. */
export function archiveName(day: string, isCompressed: boolean, taken: ReadonlySet<string>): string {
  const ending = isCompressed ? '.tar.gz' : '.tar';
  for (let number = 1; ; number++) {
    const name = `logs_${day}${number === 1 ? '' : `_${number}`}${ending}`;
    if (!taken.has(name)) return name;
  }
}

/** Archives of days before the last `keepDays` days, the day of the rotation not counted. Other files are never named. */
export function expiredArchives(names: readonly string[], rotationDay: string, keepDays: number): string[] {
  const first = dayBefore(rotationDay, keepDays);
  return names.filter((name) => {
    const day = ARCHIVE_NAME.exec(name)?.[1];
    return day !== undefined && day < first;
  });
}
