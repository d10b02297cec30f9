import { z } from 'zod';
import { readJobQueues } from '../../domain/ops/job-queues.ts';
import { adminProcedure, router } from '../trpc.ts';
import { toWire } from '../wire.ts';

/** Not in the contract: the background jobs of all instances, for the view of an administrator (docs/jobs.md). */

const JobQueueList = z
  .object({
    items: z
      .object({
        name: z.string().describe('Name of the queue, for example `messaging.send`.'),
        due: z.int().describe('Jobs that could run now and wait for a worker.'),
        later: z.int().describe('Jobs that wait for their time, among them the next try of one that failed.'),
        running: z.int().describe('Jobs that an instance works on.'),
        lag_seconds: z.number().describe('Seconds for which the oldest due job has waited; 0 when none is due.'),
      })
      .meta({ id: 'JobQueue' })
      .array()
      .describe('Queues that have jobs, those that lag most first.'),
  })
  .meta({ id: 'JobQueueList' });

export const adminJobQueuesRouter = router({
  list: adminProcedure('stats:read')
    .meta({
      openapi: {
        method: 'GET',
        path: '/cabinet/admin/job-queues',
        tags: ['Cabinet Admin Job Queues'],
        summary: 'Queues of background jobs',
      },
      description:
        'Lists what the background jobs of all instances have to do, by queue. A queue that lags for minutes says that a partner does not answer, or that there are too few instances.',
    })
    .output(toWire(JobQueueList))
    .query(async ({ ctx }) => ({ items: await readJobQueues(ctx.app.db) })),
});
