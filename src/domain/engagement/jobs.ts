import { z } from 'zod';
import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { rotateRounds } from './daily-contests/rounds.ts';
import { handlePollPress } from './polls/polls.ts';
import { deliverPoll } from './polls/send-poll.ts';
import { scoreContest, scoreReferralRegistration, scoreSubscriptionPayment } from './referral-contests/scores.ts';
import { sendContestSummaries } from './referral-contests/send-summaries.ts';

// The queues of polls have the module's former name, which is stored with every job.

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

/** Handles a pressed button of a poll, as received. */
const pollPress = defineJob({
  name: 'games.poll-press',
  payload: z.object({ queryId: z.string(), messengerId: z.int(), data: z.string() }),
  queue: { retryLimit: 5 },
  handle: (app, { data }) => handlePollPress(app, data),
});

/** Closes rounds of daily games and starts those of the schedule. */
const rotate = defineJob({
  name: 'engagement.rotate-rounds',
  every: () => MINUTE_MS,
  handle: rotateRounds,
});

/** Scores a payment for a subscription in contests of referrers; sent with the payment (prisma/sql/contests.sql). */
const scorePayment = defineJob({
  name: 'engagement.score-payment',
  payload: z.object({ transactionId: z.int() }),
  handle: (app, { data }) => scoreSubscriptionPayment(app, data),
});

/** Scores the registration of a referral; sent with it. */
const scoreRegistration = defineJob({
  name: 'engagement.score-registration',
  payload: z.object({ referralId: z.int(), at: z.iso.datetime({ offset: true }) }),
  handle: (app, { data }) => scoreReferralRegistration(app, { referralId: data.referralId, at: new Date(data.at) }),
});

/** Scores what a contest that was created or changed late has missed; sent with that change, twice. */
const scoreLateContest = defineJob({
  name: 'engagement.score-contest',
  payload: z.object({ contestId: z.int() }),
  queue: { expireSeconds: 900, concurrency: 1 },
  handle: (app, { data, signal }) => scoreContest(app, data.contestId, signal),
});

/** Sends the summaries of contests of referrers that are due. */
const summaries = defineJob({
  name: 'engagement.send-summaries',
  every: () => MINUTE_MS,
  handle: sendContestSummaries,
});

export const engagementJobs = [
  deliverPollInvitations,
  pollPress,
  rotate,
  scorePayment,
  scoreRegistration,
  scoreLateContest,
  summaries,
];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'games.deliver-poll': PayloadOf<typeof deliverPollInvitations>;
    'games.poll-press': PayloadOf<typeof pollPress>;
    'engagement.score-payment': PayloadOf<typeof scorePayment>;
    'engagement.score-registration': PayloadOf<typeof scoreRegistration>;
    'engagement.score-contest': PayloadOf<typeof scoreLateContest>;
  }
}
