import { z } from 'zod';
import { SECOND_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { continueAbandoned } from './control-sends.ts';
import { continueSend } from './run-send.ts';
import type { SendKinds } from './types.ts';

/** Prepares and sends one mass send. A run ends after some minutes and sends the next one. */
const run = (kinds: SendKinds) =>
  defineJob({
    name: 'messaging.run-send',
    payload: z.object({ sendId: z.int() }),
    queue: { policy: 'short', retryLimit: 3, retryDelaySeconds: 30, expireSeconds: 900, concurrency: 2 },
    handle: (app, { data, signal }) => continueSend(app, kinds, data.sendId, signal),
  });

/** Continues sends whose worker ended: its lease is over then. */
const sweep = defineJob({
  name: 'messaging.sweep-sends',
  every: () => 30 * SECOND_MS,
  handle: continueAbandoned,
});

/** @param kinds what is sent, of later modules */
export const massSendJobs = (kinds: SendKinds) => [run(kinds), sweep];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'messaging.run-send': PayloadOf<typeof run>;
  }
}
