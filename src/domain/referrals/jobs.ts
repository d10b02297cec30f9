import { z } from 'zod';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { accrueReward } from './accrue-reward.ts';

/** Pays the referral rewards of one payment of a referred user (spec 04 section 1.3); sent with the payment. */
const accrue = defineJob({
  name: 'referrals.accrue',
  payload: z.object({ transactionId: z.int() }),
  queue: { retryLimit: 15 },
  handle: (app, { data }) => accrueReward(app, data),
});

export const referralJobs = [accrue];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'referrals.accrue': PayloadOf<typeof accrue>;
  }
}
