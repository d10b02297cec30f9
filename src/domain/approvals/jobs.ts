import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { endOverdueApprovals } from './decide.ts';

/** Ends approvals whose time is over; what they hold goes back to the balance. */
const endOverdue = defineJob({
  name: 'approvals.end-overdue',
  every: () => 5 * MINUTE_MS,
  handle: (app) => endOverdueApprovals(app),
});

export const approvalJobs = [endOverdue];
