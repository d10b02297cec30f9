import { z } from 'zod';
import { HOUR_MS, SECOND_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { workReceipts } from './issue-receipts.ts';
import { findMissingReceipts, queueReceipt } from './receipt-queue.ts';

/** Queues the receipt of a credited payment, and corrects it after money was returned. */
const queue = defineJob({
  name: 'receipts.queue',
  payload: z.object({ paymentId: z.int() }),
  handle: (app, { data }) => queueReceipt(app, data),
});

/** Sends, looks up and cancels receipts. A run takes up to 40 of them, 3 seconds apart, and stops at a failure. */
const work = defineJob({
  name: 'receipts.work',
  queue: { expireSeconds: 900 },
  every: (app) => Math.max(1, app.settings.get('NALOGO_QUEUE_CHECK_INTERVAL')) * SECOND_MS,
  handle: (app, { signal }) => workReceipts(app, { signal }),
});

/** Queues receipts whose job was lost. */
const findMissing = defineJob({
  name: 'receipts.find-missing',
  queue: { expireSeconds: 600 },
  every: () => HOUR_MS,
  handle: findMissingReceipts,
});

export const receiptJobs = [queue, work, findMissing];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'receipts.queue': PayloadOf<typeof queue>;
    'receipts.work': PayloadOf<typeof work>;
  }
}
