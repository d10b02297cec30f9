import type { Db } from '../../../core/db/db.ts';

/** Counts up to `most` more ids (prisma/sql/statistics-sales.sql). @returns whether there is more to count now */
export async function countSalesStep(db: Db, most: number): Promise<boolean> {
  const [row] = await db.sql<{ more: boolean }>('SELECT count_sales($1::int) AS more', [most]);
  return row!.more;
}

/** Merges the rows of the counters that triggers keep. */
export async function compactStatistics(db: Db): Promise<void> {
  await db.sql('SELECT compact_statistics()::text AS done');
}

/** The zone in whose days is counted, and whether the database knows the other one. */
export async function findZones(db: Db, wanted: string): Promise<{ current: string; isKnown: boolean }> {
  const [row] = await db.sql<{ current: string; isKnown: boolean }>(
    `SELECT statistics_zone() AS current, EXISTS (SELECT 1 FROM pg_timezone_names WHERE name = $1) AS "isKnown"`,
    [wanted],
  );
  return row!;
}

/** Counts everything again in days of this zone; writers of users and subscriptions wait (prisma/sql/statistics-days.sql). */
export async function recountStatistics(db: Db, zone: string): Promise<void> {
  await db.sql('SELECT recount_statistics($1)::text AS done', [zone]);
}
