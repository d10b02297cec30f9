import { z } from 'zod';
import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { monitoringStep } from '../monitoring/monitoring-log.ts';
import { monitoringIntervalMs } from '../subscriptions/settings.ts';
import { handleOfferPress } from './offers/claim-offer.ts';
import { expirePromo } from './offers/expiry.ts';
import { continueBroadcast } from './offers/send-messages.ts';
import { offerWinBacks } from './offers/win-back.ts';

/**
 * Makes the offers of a broadcast that the request did not make, and sends its messages. A run ends after some minutes and sends the
 * next one.
 */
const offerBroadcast = defineJob({
  name: 'promo.offer-broadcast',
  payload: z.object({ broadcastId: z.int() }),
  queue: { retryDelaySeconds: 30, expireSeconds: 900, concurrency: 1 },
  handle: continueBroadcast,
});

/** Handles a pressed button under an offer, as received. */
const offerPress = defineJob({
  name: 'promo.offer-press',
  payload: z.object({
    queryId: z.string(),
    messengerId: z.int(),
    chatId: z.int().nullable(),
    messageId: z.int().nullable(),
    data: z.string(),
  }),
  queue: { retryLimit: 5 },
  handle: (app, { data }) => handleOfferPress(app, data),
});

/** Ends offers, personal discounts and temporary servers whose time is over. */
const expire = defineJob({
  name: 'promo.expire',
  queue: { expireSeconds: 600 },
  every: () => MINUTE_MS,
  handle: monitoringStep('offers', expirePromo),
});

/** Offers a discount to users whose paid subscription ended some days ago. */
const winBack = defineJob({
  name: 'promo.win-back',
  queue: { expireSeconds: 600 },
  every: monitoringIntervalMs,
  handle: monitoringStep('follow-ups', offerWinBacks),
});

export const promoJobs = [offerBroadcast, offerPress, expire, winBack];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'promo.offer-broadcast': PayloadOf<typeof offerBroadcast>;
    'promo.offer-press': PayloadOf<typeof offerPress>;
  }
}
