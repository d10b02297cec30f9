import type { Clock } from '../clock.ts';
import type { SqlRunner } from '../db/db.ts';
import type { JobSender } from './job-sender.ts';

/**
 * Inserts jobs into pg-boss's own table in the caller's transaction (a documented way of pg-boss), one statement each and
 * without pg-boss's caches, which would query the root connection in the middle of a transaction. The policy is that of the
 * installed queue; a queue that is not installed is an error, since the policy's columns may not be null.
 * `startAfter` is service time; the row holds database time, so the distance from now is what counts.
 */
export function sqlJobSender(sql: SqlRunner, clock: Clock): JobSender {
  return {
    send: async (queue, data, options = {}) => {
      const delayMs = options.startAfter ? Math.max(0, options.startAfter.getTime() - clock.now().getTime()) : 0;
      await sql(
        `INSERT INTO jobs.job (name, data, start_after, singleton_key, policy, retry_limit, retry_delay, retry_backoff,
           retry_delay_max, expire_seconds)
         SELECT sent.name, $2::jsonb, now() + $3::int * interval '1 millisecond', $4, queue.policy, queue.retry_limit,
           queue.retry_delay, queue.retry_backoff, queue.retry_delay_max, queue.expire_seconds
         FROM (SELECT $1::text AS name) AS sent LEFT JOIN jobs.queue AS queue ON queue.name = sent.name
         ON CONFLICT DO NOTHING RETURNING 1 AS sent`,
        [queue, JSON.stringify(data), delayMs, options.singletonKey ?? null],
      );
    },
  };
}
