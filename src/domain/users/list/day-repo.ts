import type { Db } from '../../../core/db/db.ts';
import type { UserStatus } from '../../identity/types.ts';

/** From this offset on a page is read from its day; before it, reading from the newest row is as fast. */
export const DEEP_OFFSET = 1_000;

/** The end of the UTC day of a row, and how many rows of the list, newest first, are younger than that. */
export interface DayOfRow {
  end: Date;
  skipped: number;
}

/**
 * The day of creation of row number `offset` of all users, or of those with the status; exact, from the counters by day that triggers
 * maintain. Null when the list is shorter.
 */
export async function findDayOfRow(db: Db, offset: number, status: UserStatus | null): Promise<DayOfRow | null> {
  const [row] = await db.sql<DayOfRow>(
    `SELECT ((day + 1)::timestamp AT TIME ZONE 'UTC') AS "end", (younger - users)::int AS skipped FROM (
       SELECT day, users, sum(users) OVER (ORDER BY day DESC) AS younger FROM (
         SELECT day, sum(users) AS users FROM user_day_counters
         WHERE status <> 'erased' AND ($2::text IS NULL OR status = $2::text) GROUP BY day) d) c
     WHERE younger > $1::bigint ORDER BY day DESC LIMIT 1`,
    [offset, status],
  );
  return row ?? null;
}
