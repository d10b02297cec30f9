import type { Db } from '../../../core/db/db.ts';

/** Tables of long runs; both have the columns `status`, `lease_until`, `updated_at` and `finished_at`. */
export type RunTable = 'squad_migration_runs' | 'panel_sync_runs';

/**
 * How long a worker may not renew its lease before another continues its run. Longer than one call to the panel with its retries,
 * since the lease is renewed around every call. By the database's clock, so that all instances agree.
 */
export const LEASE_SQL = "interval '90 seconds'";

/** Claims a run without a live lease. @returns end of the lease; null: another worker has one, or the run is over */
export async function claimRun(db: Db, table: RunTable, id: number): Promise<Date | null> {
  const [row] = await db.sql<{ lease: Date }>(
    `UPDATE ${table} SET lease_until = now() + ${LEASE_SQL}
     WHERE id = $1::int AND status = 'running' AND (lease_until IS NULL OR lease_until < now()) RETURNING lease_until AS lease`,
    [id],
  );
  return row?.lease ?? null;
}

/** Inside a transaction it also locks the run's row until the end. @returns the new end of the lease, null when another worker has it */
export async function renewRun(db: Db, table: RunTable, id: number, lease: Date): Promise<Date | null> {
  const [row] = await db.sql<{ lease: Date }>(
    `UPDATE ${table} SET lease_until = greatest(now() + ${LEASE_SQL}, $2::timestamptz)
     WHERE id = $1::int AND status = 'running' AND lease_until = $2::timestamptz RETURNING lease_until AS lease`,
    [id, lease],
  );
  return row?.lease ?? null;
}

export async function releaseRun(db: Db, table: RunTable, id: number, lease: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE ${table} SET lease_until = NULL
     WHERE id = $1::int AND status = 'running' AND lease_until = $2::timestamptz RETURNING id`,
    [id, lease],
  );
  return rows.length > 0;
}

export async function isRunning(db: Db, table: RunTable, id: number): Promise<boolean> {
  return (await db.sql(`SELECT id FROM ${table} WHERE id = $1::int AND status = 'running'`, [id])).length > 0;
}

/** Runs whose worker crashed or whose job was lost. */
export async function listAbandonedRuns(db: Db, table: RunTable): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `SELECT id FROM ${table} WHERE status = 'running' AND (lease_until IS NULL OR lease_until < now()) ORDER BY id`,
  );
  return rows.map((row) => row.id);
}
