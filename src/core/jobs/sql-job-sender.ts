import type { Clock } from '../clock.ts';
import type { SqlRunner } from '../db/db.ts';
import { QUEUES, type QueueDefinition, type QueueName } from './job-catalogue.ts';
import type { JobSender } from './job-sender.ts';

/**
 * Inserts jobs into pg-boss's own table in the caller's transaction (a documented way of pg-boss), one statement each and
 * without pg-boss's caches, which would query the root connection in the middle of a transaction.
 * `startAfter` is service time; the row holds database time, so the distance from now is what counts.
 */
export function sqlJobSender(sql: SqlRunner, clock: Clock): JobSender {
  return {
    send: async (queue, data, options = {}) => {
      const definition: QueueDefinition = QUEUES[queue as QueueName];
      const delayMs = options.startAfter ? Math.max(0, options.startAfter.getTime() - clock.now().getTime()) : 0;
      await sql(
        `INSERT INTO jobs.job (name, data, start_after, singleton_key, policy, retry_limit, retry_delay, retry_backoff,
           retry_delay_max, expire_seconds)
         VALUES ($1, $2::jsonb, now() + $3::int * interval '1 millisecond', $4, $5, $6::int, $7::int, true, $8::int, $9::int)
         ON CONFLICT DO NOTHING RETURNING 1 AS sent`,
        [
          queue,
          JSON.stringify(data),
          delayMs,
          options.singletonKey ?? null,
          definition.policy,
          definition.retryLimit,
          definition.retryDelaySeconds,
          definition.retryDelayMaxSeconds ?? null,
          definition.expireSeconds,
        ],
      );
    },
  };
}
