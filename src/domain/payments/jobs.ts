declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    /** Processes one stored provider callback. */
    'payments.callback': { callbackId: number };
    /** Asks providers about waiting payments and ends those that nobody paid. */
    'payments.check-pending': Record<string, never>;
    /** Everything that follows a credited top-up and must not hold it up. */
    'payments.after-topup': { paymentId: number };
  }
}

export { runAfterTopup } from './after-topup.ts';
export { checkPendingPayments } from './check-pending.ts';
export { processCallback } from './process-callback.ts';
