import type { Clock } from '../clock.ts';
import type { SqlRunner } from '../db/db.ts';
import { delayOf, type JobSender } from './job-sender.ts';

/**
 * Sends jobs outside of a transaction, one statement each, through the SQL function `send_job` (prisma/sql/jobs.sql). The options of a job
 * are those of its installed queue. Inside a transaction `TransactionEffects` sends them.
 * Throws when the queue is not installed.
 * @param wake informs the workers of this instance, if it has any
 */
export function sqlJobSender(sql: SqlRunner, clock: Clock, wake: (queue: string) => void = () => undefined): JobSender {
  return {
    wake: (queues) => {
      for (const queue of queues) wake(queue);
    },
    send: async (queue, data, options = {}) => {
      await sql("SELECT send_job($1, $2::jsonb, $3, $4::bigint * interval '1 millisecond') AS sent", [
        queue,
        JSON.stringify(data),
        options.singletonKey ?? null,
        delayOf(options, clock),
      ]);
      if (options.startAfter === undefined) wake(queue);
    },
  };
}
