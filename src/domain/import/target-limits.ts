/** What the database of the service must be able to hold before an import begins (spec 07 section 9). */
import type { SqlRunner } from '../../core/db/db.ts';
import { ImportRefused, type ImportSource } from './import-source.ts';

/** The embedded database has one connection and half of the memory of the process. */
const MAX_EMBEDDED_USERS = 50_000;

/** Locks of the transaction that moves the rows: 2,557 in a first pass, 4,147 in a later one in which every table has changes. */
export const NEEDED_LOCKS = 4_500;

/**
 * Before hours of loading: a server for few connections has a small table of locks.
 * @throws ImportRefused `target_locks_too_few`
 */
export async function requireLocks(sql: SqlRunner): Promise<void> {
  const [server] = await sql<{ each: number; sessions: number }>(
    `SELECT current_setting('max_locks_per_transaction')::int AS each, 1 + (SELECT sum(setting::int) FROM pg_settings WHERE name IN
       ('max_connections', 'max_prepared_transactions', 'autovacuum_max_workers', 'max_worker_processes', 'max_wal_senders'))::int AS sessions`,
  );
  const { each, sessions } = server!;
  if (each * sessions >= NEEDED_LOCKS) return;
  const wanted = Math.ceil(NEEDED_LOCKS / sessions);
  throw new ImportRefused(
    'target_locks_too_few',
    `The database server has room for ${each * sessions} locks, and an import needs ${NEEDED_LOCKS}. Set max_locks_per_transaction = ${wanted} in its configuration and restart it.`,
    { details: { locks: each * sessions, needed: NEEDED_LOCKS } },
  );
}

/** @throws ImportRefused `target_too_small` */
export async function requireSmall(source: ImportSource): Promise<void> {
  let users = 0;
  for await (const content of source.contents()) if (content.table.name === 'users') users = await content.count();
  if (users <= MAX_EMBEDDED_USERS) return;
  throw new ImportRefused(
    'target_too_small',
    `The source has ${users} users, and the embedded database is for ${MAX_EMBEDDED_USERS} at most. Set DATABASE_URL to an empty PostgreSQL database and import into that.`,
    { details: { users, most: MAX_EMBEDDED_USERS } },
  );
}
