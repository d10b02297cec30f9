import type { Db } from '../../../core/db/db.ts';
import { FIRST_DAY, type WrittenMoment, type WrittenPeriod } from './period.ts';

/** A period with the whole days that contain it, in the days of the statistics. Both ends are included. */
export interface Period {
  from: Date;
  to: Date;
  /** `YYYY-MM-DD` */
  firstDay: string;
  lastDay: string;
  /** The first moment of the first day, and the first one after the last day. */
  firstStart: Date;
  lastEnd: Date;
  /** Of the days. */
  zone: string;
}

const DAYS = `to_char(statistics_day(p.start), 'YYYY-MM-DD') AS first_day, to_char(statistics_day(p.finish), 'YYYY-MM-DD') AS last_day,
  statistics_day_start(statistics_day(p.start)) AS first_start, statistics_day_start(statistics_day(p.finish) + 1) AS last_end,
  statistics_zone() AS zone`;

/** The days around two moments. */
export async function findPeriod(db: Db, from: Date, to: Date): Promise<Period> {
  const [row] = await db.sql<Period>(
    `SELECT p.start AS from, p.finish AS to, ${DAYS} FROM (SELECT $1::timestamptz AS start, $2::timestamptz AS finish) p`,
    [from, to],
  );
  return row!;
}

/** The moments of a request; those without an offset, and midnights, are of the zone of the statistics. */
export async function findWrittenPeriod(db: Db, written: WrittenPeriod, now: Date): Promise<Period> {
  const moment = (local: string, offset: string) =>
    `CASE WHEN ${offset}::text IS NULL THEN ${local}::text::timestamp AT TIME ZONE statistics_zone() ELSE (${local}::text || ${offset}::text)::timestamptz END`;
  if ('start' in written) {
    const values = ({ local, offset }: WrittenMoment) => [local, offset];
    const [row] = await db.sql<Period>(
      `SELECT p.start AS from, p.finish AS to, ${DAYS} FROM (SELECT ${moment('$1', '$2')} AS start, ${moment('$3', '$4')} AS finish) p`,
      [...values(written.start), ...values(written.end)],
    );
    return row!;
  }
  const [row] = await db.sql<Period>(
    `SELECT p.start AS from, p.finish AS to, ${DAYS} FROM (SELECT statistics_day_start(coalesce(
       statistics_day($1::timestamptz) - $2::int, '${FIRST_DAY}'::date)) AS start, $1::timestamptz AS finish) p`,
    [now, written.days],
  );
  return row!;
}
