import { z } from 'zod';
import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { monitoringStep } from '../monitoring/monitoring-log.ts';
import { handleGiftStart } from './gifts/activate-gift.ts';
import { handleGiftPress } from './purchases/activate-purchase.ts';
import { fulfilPurchase } from './purchases/fulfil-purchase.ts';
import { watchPurchases } from './purchases/watch-purchases.ts';

// The queues have the module's former name, which is stored with every job.

/** Delivers a paid guest purchase to its recipient; after the last retry `gifts.watch` continues. */
const fulfil = defineJob({
  name: 'gifts.fulfil',
  payload: z.object({ purchaseId: z.int() }),
  queue: { retryLimit: 5 },
  handle: (app, { data }) => fulfilPurchase(app, data),
});

/** Checks guest purchases: lost callbacks, unpaid purchases to expire, fulfilments to retry. */
const watch = defineJob({
  name: 'gifts.watch',
  queue: { expireSeconds: 600 },
  every: () => 5 * MINUTE_MS,
  handle: monitoringStep('guest purchases', watchPurchases),
});

/** Handles a pressed "activate" button under a gift, as received. */
const press = defineJob({
  name: 'gifts.press',
  payload: z.object({ queryId: z.string(), messengerId: z.int(), purchaseId: z.int() }),
  queue: { retryLimit: 5 },
  handle: (app, { data }) => handleGiftPress(app, data),
});

/** Activates the gift of a link to the bot; sends itself again while the person has no account. */
const start = defineJob({
  name: 'gifts.start',
  payload: z.object({ messengerId: z.int(), languageCode: z.string().nullable(), code: z.string(), startedAt: z.string() }),
  queue: { retryLimit: 5 },
  handle: (app, { data }) => handleGiftStart(app, data),
});

export const storefrontJobs = [fulfil, watch, press, start];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'gifts.fulfil': PayloadOf<typeof fulfil>;
    'gifts.press': PayloadOf<typeof press>;
    'gifts.start': PayloadOf<typeof start>;
  }
}
