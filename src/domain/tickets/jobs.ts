import { SECOND_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { remindOverdueTickets } from './notices.ts';

/** Reminds the administrators' chat of users who wait for an answer; the reminders sent are recorded in the ticket rows. */
const remindOverdue = defineJob({
  name: 'tickets.remind-overdue',
  every: (app) => Math.max(10, app.settings.get('SUPPORT_TICKET_SLA_CHECK_INTERVAL_SECONDS')) * SECOND_MS,
  handle: remindOverdueTickets,
});

export const ticketJobs = [remindOverdue];
