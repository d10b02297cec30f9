import { z } from 'zod';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { deliverAtStart } from './deliver.ts';

/** Sends the active pinned message to a user who starts the chat with the bot. */
const start = defineJob({
  name: 'pinned.start',
  payload: z.object({ updateId: z.int(), messengerId: z.int() }),
  queue: { policy: 'short', retryLimit: 5, retryDelaySeconds: 5 },
  handle: (app, { data }) => deliverAtStart(app, data),
});

export const pinnedMessageJobs = [start];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'pinned.start': PayloadOf<typeof start>;
  }
}
