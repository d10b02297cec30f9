import { z } from 'zod';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { handlePollPress } from './polls/answer-in-messenger.ts';
import { deliverPoll } from './polls/send-poll.ts';

// The queues have the module's former name, which is stored with every job.

/**
 * Writes the rows and delivers the invitations of one "send" of a poll that the request did not finish. A run ends after some
 * minutes and sends the next one.
 */
export const deliverPollInvitations = defineJob({
  name: 'games.deliver-poll',
  payload: z.object({ sendId: z.int() }),
  queue: { retryDelaySeconds: 30, expireSeconds: 900, concurrency: 1 },
  handle: (app, { data, signal }) => deliverPoll(app, data, signal),
});

/** Handles a pressed button of a poll, as it was received. */
const pollPress = defineJob({
  name: 'games.poll-press',
  payload: z.object({ queryId: z.string(), messengerId: z.int(), data: z.string() }),
  queue: { retryLimit: 5 },
  handle: (app, { data }) => handlePollPress(app, data),
});

export const engagementJobs = [deliverPollInvitations, pollPress];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'games.deliver-poll': PayloadOf<typeof deliverPollInvitations>;
    'games.poll-press': PayloadOf<typeof pollPress>;
  }
}
