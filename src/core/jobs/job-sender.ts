import type { Clock } from '../clock.ts';
import type { SqlRunner } from '../db/db.ts';
import { NO_TRACING, TRACE_KEY, type Tracing } from '../telemetry/tracing.ts';

/**
 * Payload type of each job that is sent by name; filled by declaration merging next to the job's definition
 * (`domain/<module>/jobs.ts`), so that a module can send a job of a later module without importing it.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface JobTypes {}

export interface JobOptions {
  /** Not before this time (service clock). */
  startAfter?: Date;
  /** At most one job of this key waits at a time; a second `send` stores nothing. Only for queues with `policy: 'short'`. */
  singletonKey?: string;
}

/** Sends durable jobs. Inside a transaction the job becomes visible with the commit and is discarded with a rollback. */
export interface JobSender {
  send<K extends keyof JobTypes>(queue: K, data: JobTypes[K], options?: JobOptions): Promise<void>;
  /**
   * Jobs of these queues have been committed: workers of this instance look for them now and not at their next poll. Called by
   * `inTransaction` and `send`; a statement that sends a job by itself calls it after its commit.
   */
  wake(queues: Iterable<keyof JobTypes>): void;
  /**
   * The present trace as a part of a payload, for a statement that sends a job by itself: without it the job would begin a trace of its own. Empty
   * without a recorded trace, and inside a transaction, where `send_job()` adds it.
   */
  trace(): Readonly<Record<string, string>>;
}

/** Milliseconds until the job may start, from now: `startAfter` is service time, the job's row has database time. */
export function delayOf({ startAfter }: JobOptions, clock: Clock): number {
  return startAfter ? Math.max(0, startAfter.getTime() - clock.now().getTime()) : 0;
}

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
