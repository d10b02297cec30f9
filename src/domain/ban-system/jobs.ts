import { z } from 'zod';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { deleteNotice } from './ban-notices.ts';

/** Deletes a message about a ban, whose user has pressed the button under it. */
const press = defineJob({
  name: 'bans.delete-notice',
  payload: z.object({ queryId: z.string(), chatId: z.int().nullable(), messageId: z.int().nullable() }),
  queue: { retryLimit: 5 },
  handle: (app, { data }) => deleteNotice(app, data),
});

export const banSystemJobs = [press];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'bans.delete-notice': PayloadOf<typeof press>;
  }
}
