declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    /** Pays what a payment of a referred user earns; sent with the payment. */
    'referrals.accrue': { transactionId: number };
  }
}

export { accrueReward } from './accrue-reward.ts';
