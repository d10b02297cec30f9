/** What the database says about the service's work after a load. */
import type { ScratchDatabase } from './scratch-database.ts';

/** Violations of the ledger in the whole database. */
export function countLedgerProblems(database: ScratchDatabase): Promise<number> {
  return countOf(database, 'SELECT count(*)::int AS n FROM ledger_check()');
}

/** Deadlocks that the database broke since its creation. */
export function countDeadlocks(database: ScratchDatabase): Promise<number> {
  return countOf(database, 'SELECT deadlocks::int AS n FROM pg_stat_database WHERE datname = current_database()');
}

/** Stored answers of requests with an `Idempotency-Key`. */
export function countStoredAnswers(database: ScratchDatabase): Promise<number> {
  return countOf(database, 'SELECT count(*)::int AS n FROM idempotency_keys WHERE response IS NOT NULL');
}

function countOf(database: ScratchDatabase, statement: string): Promise<number> {
  return database.withSql(async (run) => Number((await run(statement))[0]!.n));
}
