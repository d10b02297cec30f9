import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { monitoringIntervalMs } from '../subscriptions/settings.ts';
import { recordCycle } from './monitoring-cycle.ts';
import { purgeExpired } from './purge.ts';

/** Deletes rows past their retention time: idempotency keys, rate windows, short-lived entries, events, deliveries, expired sessions. */
const purge = defineJob({
  name: 'core.purge',
  queue: { expireSeconds: 600 },
  every: () => 60 * MINUTE_MS,
  handle: purgeExpired,
});

/** The row that shows each interval that schedules and jobs of this installation run, and once an hour that the panel answers. */
const monitoringCycle = defineJob({ name: 'ops.monitoring-cycle', every: monitoringIntervalMs, handle: recordCycle });

export const opsJobs = [purge, monitoringCycle];
