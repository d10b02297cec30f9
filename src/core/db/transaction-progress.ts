import type { Db } from './db.ts';

/** The id of the transaction that this runs in: greater than the id of every transaction that has written before. */
export async function readTransactionXid(db: Db): Promise<string> {
  const [row] = await db.sql<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid');
  return row!.xid;
}

/**
 * Whether all database transactions before this one have ended.
 * @param xid of a committed transaction. `unknown`: the database has not come to it, as after a restore on another server
 */
export async function readProgressOf(db: Db, xid: string): Promise<'ended' | 'running' | 'unknown'> {
  const [row] = await db.sql<{ progress: 'ended' | 'running' | 'unknown' }>(
    `SELECT CASE WHEN $1::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) THEN 'unknown'
       WHEN $1::xid8 <= pg_snapshot_xmin(pg_current_snapshot()) THEN 'ended' ELSE 'running' END AS progress`,
    [xid],
  );
  return row!.progress;
}
