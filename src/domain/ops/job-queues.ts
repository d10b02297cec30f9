import type { Db } from '../../core/db/db.ts';

/** What a queue of background jobs has to do. */
export interface JobQueue {
  name: string;
  /** Jobs that could run now. */
  due: number;
  /** Jobs that wait for their time: the next try of one that failed, or a message that is sent later. */
  later: number;
  running: number;
  /** Seconds for which the oldest due job has waited; 0 when none is due. */
  lagSeconds: number;
}

/** Queues with jobs, those that lag most first (docs/jobs.md). */
export async function readJobQueues(db: Db): Promise<JobQueue[]> {
  return db.sql<JobQueue>(
    `SELECT name, count(*) FILTER (WHERE waits AND start_after <= now())::int AS due, count(*) FILTER (WHERE waits AND start_after > now())::int AS later,
       count(*) FILTER (WHERE NOT waits)::int AS running,
       coalesce(extract(epoch FROM now() - min(start_after) FILTER (WHERE waits AND start_after <= now())), 0)::float8 AS lag_seconds
     FROM (SELECT name, start_after, state <> 'active' AS waits FROM jobs.job WHERE state IN ('created', 'retry', 'active')) j
     GROUP BY name ORDER BY lag_seconds DESC, name`,
  );
}
