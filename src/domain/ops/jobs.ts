import { z } from 'zod';
import { HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { monitoringIntervalMs } from '../subscriptions/settings.ts';
import { recordCycle } from './monitoring-cycle.ts';
import { maintainPartitions } from './partitions.ts';
import { purgeExpired } from './purge.ts';
import { FAULT_KINDS, reportFault } from './report-fault.ts';

/** Deletes rows past their retention time: idempotency keys, rate windows, short-lived entries, events, deliveries, expired sessions. */
const purge = defineJob({
  name: 'core.purge',
  queue: { expireSeconds: 600 },
  every: () => 60 * MINUTE_MS,
  handle: purgeExpired,
});

/** Notifies the administrators of a fault of the service; any module sends it, with the kind and the source as `singletonKey`: one of each waits. */
const fault = defineJob({
  name: 'ops.report-fault',
  payload: z.object({ kind: z.enum(FAULT_KINDS), source: z.string(), detail: z.string() }),
  queue: { policy: 'short', concurrency: 1 },
  handle: (app, { data }) => reportFault(app, data),
});

/** The row that shows each interval that schedules and jobs of this installation run, and once an hour that the panel answers. */
const monitoringCycle = defineJob({ name: 'ops.monitoring-cycle', every: monitoringIntervalMs, handle: recordCycle });

/** Vacuums and analyses the tables of the embedded database that need it; a server does so by itself. */
const vacuum = defineJob({
  name: 'ops.vacuum',
  queue: { expireSeconds: 600 },
  every: () => 10 * MINUTE_MS,
  handle: async ({ db }, { signal }) => db.vacuum?.(signal),
});

/** Makes partitions of the tables that only grow before they are needed, and removes those that the purge has emptied. */
const partitions = defineJob({
  name: 'ops.partitions',
  queue: { expireSeconds: 3_600 },
  every: () => 6 * HOUR_MS,
  handle: async (app) => {
    const done = await maintainPartitions(app);
    if (done && (done.made.length > 0 || done.removed.length > 0)) app.log.info(done, 'partitions made and removed');
  },
});

export const opsJobs = [purge, fault, monitoringCycle, vacuum, partitions];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'ops.report-fault': PayloadOf<typeof fault>;
  }
}
