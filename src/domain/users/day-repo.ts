import type { Db } from '../../core/db/db.ts';
import type { UserStatus } from '../identity/types.ts';

/** From here on a page is reached from its day; what lies before is read as quickly from the top. */
export const DEEP_OFFSET = 1_000;

/** The end of the UTC day that a row lies in, and how many rows of the list, newest first, are younger than that. */
export interface DayOfRow {
  end: Date;
  skipped: number;
}

/**
 * In which day of creation the row number `offset` of all users, or of those with the status, lies; exact, from the counters of
 * prisma/sql/user-counters.sql. Null when the list is shorter.
 */
export async function findDayOfRow(db: Db, offset: number, status: UserStatus | null): Promise<DayOfRow | null> {
  const [row] = await db.sql<DayOfRow>(
    `SELECT ((day + 1)::timestamp AT TIME ZONE 'UTC') AS "end", (younger - users)::int AS skipped FROM (
       SELECT day, users, sum(users) OVER (ORDER BY day DESC) AS younger FROM (
         SELECT day, sum(users) AS users FROM user_day_counters WHERE $2::text IS NULL OR status = $2::text GROUP BY day) d) c
     WHERE younger > $1::bigint ORDER BY day DESC LIMIT 1`,
    [offset, status],
  );
  return row ?? null;
}
