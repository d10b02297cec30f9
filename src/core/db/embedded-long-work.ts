import type { PGlite, Transaction } from '@electric-sql/pglite';
import type { SqlRunner } from './db.ts';
import type { LongSession, LongWork } from './long-work.ts';
import { runInsideTransaction } from './root-guard.ts';

/** One process has the embedded database open, so memory is enough to exclude others. */
export function embeddedLongWork(database: PGlite, sqlOn: (connection: Transaction) => SqlRunner): LongWork {
  let isTaken = false;
  let isClosed = false;
  const transaction = <T>(begin: string | null, work: (sql: SqlRunner) => Promise<T>): Promise<T> =>
    database.transaction(async (tx) => {
      const sql = sqlOn(tx);
      if (begin !== null) await sql(begin);
      const result = await runInsideTransaction(() => work(sql));
      // The driver loses an error that COMMIT itself raises.
      if (begin === null) await sql('SET CONSTRAINTS ALL IMMEDIATE');
      return result;
    });
  const session: LongSession = {
    snapshot: (work) => transaction('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY', work),
    write: (work) => transaction(null, work),
    closeService: async () => {
      isClosed = true;
    },
  };
  return {
    alone: async (work) => {
      if (isTaken) return null;
      isTaken = true;
      try {
        return { result: await work(session) };
      } finally {
        isTaken = false;
        isClosed = false;
      }
    },
    isServiceClosed: async () => isClosed,
  };
}
