import type { Logger } from '../log.ts';
import { LONG_ANSWER_MS, serverClient } from './answer-limit.ts';
import type { SqlRunner } from './db.ts';
import { CLOSED_SERVICE_LOCK, LONG_WORK_LOCK, type LongSession, type LongWork } from './long-work.ts';
import { runInsideTransaction } from './root-guard.ts';
import type { SideConnection } from './side-connection.ts';
import { unnamedSql } from './sql-runner.ts';

export interface PostgresLongWorkOptions {
  url: string;
  connectMs: number;
  side: SideConnection;
  log: Logger;
}

/** Each work has a connection of its own, whose advisory locks exclude others: the server releases them when the connection ends. */
export function postgresLongWork({ url, connectMs, side, log }: PostgresLongWorkOptions): LongWork {
  return {
    alone: async (work) => {
      const client = serverClient({ url, name: 'subscription-service-long', connectMs, answerMs: LONG_ANSWER_MS });
      client.on('error', (error) => log.warn({ err: error }, 'the connection of a backup or restore was lost'));
      await client.connect();
      try {
        const sql = unnamedSql(client);
        await sql('SET statement_timeout = 0');
        await sql('SET idle_in_transaction_session_timeout = 0');
        const [lock] = await sql<{ taken: boolean }>(`SELECT pg_try_advisory_lock(${LONG_WORK_LOCK}) AS taken`);
        if (!lock!.taken) return null;
        return { result: await work(sessionOn(sql)) };
      } finally {
        await client.end().catch(() => undefined);
      }
    },
    isServiceClosed: async () => {
      const [row] = await side.sql<{ closed: boolean }>(
        `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = ${CLOSED_SERVICE_LOCK} AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS closed`,
      );
      return row!.closed;
    },
  };
}

function sessionOn(sql: SqlRunner): LongSession {
  const transaction = async <T>(begin: string, work: (sql: SqlRunner) => Promise<T>): Promise<T> => {
    await sql(begin);
    try {
      const result = await runInsideTransaction(() => work(sql));
      await sql('COMMIT');
      return result;
    } catch (error) {
      // Any failure: a lost connection has rolled back already.
      await sql('ROLLBACK').catch(() => undefined);
      throw error;
    }
  };
  return {
    snapshot: (work) => transaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work),
    write: (work) => transaction('BEGIN', work),
    closeService: async () => {
      await sql(`SELECT pg_advisory_lock(${CLOSED_SERVICE_LOCK})::text AS held`);
    },
  };
}
