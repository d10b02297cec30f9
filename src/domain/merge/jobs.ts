import { z } from 'zod';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { removeAbandonedPanelUser } from './remove-abandoned-panel-user.ts';

/** Removes the panel user that a committed merge left without an owner. Many retries, since nothing else would remove it. */
const removePanelUser = defineJob({
  name: 'merge.panel',
  payload: z.object({ mergeId: z.int() }),
  queue: { retryLimit: 15, concurrency: 2 },
  handle: (app, { data }) => removeAbandonedPanelUser(app, data),
});

export const mergeJobs = [removePanelUser];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'merge.panel': PayloadOf<typeof removePanelUser>;
  }
}
