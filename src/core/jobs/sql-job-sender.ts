import type { Clock } from '../clock.ts';
import type { SqlRunner } from '../db/db.ts';
import { NO_TRACING, TRACE_KEY, type Tracing } from '../telemetry/tracing.ts';
import { delayOf, type JobSender } from './job-sender.ts';

/**
 * Sends jobs outside of a transaction, one statement each, through the SQL function `send_job` (prisma/sql/jobs.sql). The options of a job
 * are those of its installed queue. Inside a transaction `TransactionEffects` sends them.
 * Throws when the queue is not installed.
 * @param wake informs the workers of this instance, if it has any
 */
export function sqlJobSender(
  sql: SqlRunner,
  clock: Clock,
  wake: (queue: string) => void = () => undefined,
  tracing: Tracing = NO_TRACING,
): JobSender {
  const trace = (): Record<string, string> => {
    const traceparent = tracing.traceparent();
    return traceparent === null ? {} : { [TRACE_KEY]: traceparent };
  };
  return {
    trace,
    wake: (queues) => {
      for (const queue of queues) wake(queue);
    },
    send: async (queue, data, options = {}) => {
      await sql("SELECT send_job($1, $2::jsonb, $3, $4::bigint * interval '1 millisecond') AS sent", [
        queue,
        JSON.stringify({ ...data, ...trace() }),
        options.singletonKey ?? null,
        delayOf(options, clock),
      ]);
      if (options.startAfter === undefined) wake(queue);
    },
  };
}
