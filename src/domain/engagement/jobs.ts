declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    /** Writes the rows and delivers the invitations of one "send" of a poll that the request itself has not. */
    'games.deliver-poll': { sendId: number };
  }
}

export { handlePollPress } from './polls/answer-in-messenger.ts';
export { deliverPoll } from './polls/send-poll.ts';
export { wheelStars } from './wheel/stars-spin.ts';
