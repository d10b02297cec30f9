import { z } from 'zod';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { accrueReward, takeBackRewards } from './rewards.ts';

/** Pays the referral rewards of one payment of a referred user; sent with the payment. */
const accrue = defineJob({
  name: 'referrals.accrue',
  payload: z.object({ transactionId: z.int() }),
  queue: { retryLimit: 15 },
  handle: (app, { data }) => accrueReward(app, data),
});

/** Revokes what a payment has earned, after a reversal of it (spec 10 M4). */
const takeBack = defineJob({
  name: 'referrals.take-back',
  payload: z.object({ paymentId: z.int() }),
  queue: { retryLimit: 15 },
  handle: (app, { data }) => takeBackRewards(app, data),
});

export const referralJobs = [accrue, takeBack];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'referrals.accrue': PayloadOf<typeof accrue>;
    'referrals.take-back': PayloadOf<typeof takeBack>;
  }
}
