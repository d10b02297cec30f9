import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { purgeExpired } from './purge.ts';

/** Deletes rows past their retention time: idempotency keys, rate windows, short-lived entries, events, deliveries, expired sessions. */
const purge = defineJob({
  name: 'core.purge',
  queue: { expireSeconds: 600 },
  every: () => 60 * MINUTE_MS,
  handle: purgeExpired,
});

export const opsJobs = [purge];
