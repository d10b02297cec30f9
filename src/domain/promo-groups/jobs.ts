import { z } from 'zod';
import { defineJob } from '../../core/jobs/define-job.ts';
import { assignGroupBySpending } from './auto-assign.ts';

/** Sent by a database trigger with every ledger movement of a user while a group has a threshold. */
const assignGroup = defineJob({
  name: 'promo.assign-group',
  payload: z.object({ userId: z.int() }),
  queue: { policy: 'short', concurrency: 2 },
  handle: (app, { data }) => assignGroupBySpending(app, data),
});

export const promoGroupJobs = [assignGroup];
