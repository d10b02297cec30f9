import { z } from 'zod';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { processPanelEvent, refreshSubscription } from './process-event.ts';

/** Processes one stored webhook of the panel. It only uses the database. */
const processEvent = defineJob({
  name: 'panel.process-event',
  payload: z.object({ eventId: z.int() }),
  queue: { retryLimit: 10, concurrency: 5 },
  handle: (app, { data }) => processPanelEvent(app, data),
});

/** Reads one panel user after an event that left a doubt. Few at once, since an operator may change all users at the panel. */
const refresh = defineJob({
  name: 'panel.refresh-user',
  payload: z.object({ userId: z.int() }),
  queue: { policy: 'short', retryLimit: 5, concurrency: 2 },
  handle: (app, { data }) => refreshSubscription(app, data),
});

export const panelEventJobs = [processEvent, refresh];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'panel.process-event': PayloadOf<typeof processEvent>;
    'panel.refresh-user': PayloadOf<typeof refresh>;
  }
}
