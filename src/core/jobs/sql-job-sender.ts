import type { Clock } from '../clock.ts';
import type { SqlRunner } from '../db/db.ts';
import type { JobSender } from './job-sender.ts';

/**
 * Sends jobs through the SQL function `send_job` (prisma/sql/jobs.sql) in the caller's transaction, one statement each and without
 * pg-boss's caches, which would query the root connection in the middle of a transaction. The options of a job are those of its
 * installed queue. `startAfter` is service time; the row has database time, so the distance from now is what counts.
 * Throws when the queue is not installed.
 */
export function sqlJobSender(sql: SqlRunner, clock: Clock): JobSender {
  return {
    send: async (queue, data, options = {}) => {
      const delayMs = options.startAfter ? Math.max(0, options.startAfter.getTime() - clock.now().getTime()) : 0;
      await sql("SELECT send_job($1, $2::jsonb, $3, $4::bigint * interval '1 millisecond') AS sent", [
        queue,
        JSON.stringify(data),
        options.singletonKey ?? null,
        delayMs,
      ]);
    },
  };
}
