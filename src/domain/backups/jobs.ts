import { z } from 'zod';
import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { queueDueBackup, runTask, sendBackup } from './backup-tasks.ts';
import { runDueDrill } from './drill.ts';

/** A million users take minutes; the advisory lock, not this time, decides whether another one may begin. */
const LONGEST_SECONDS = 4 * 3600;

/** Writes one backup. A failed one is not repeated: its task says so, and the next one is scheduled. */
const create = defineJob({
  name: 'backups.create',
  payload: z.object({ taskId: z.string() }),
  queue: { retryLimit: 0, expireSeconds: LONGEST_SECONDS, concurrency: 1 },
  handle: (app, { data, signal }) => runTask(app, data.taskId, signal),
});

/** Copies a backup off-site; for two hours when a place does not answer. */
const send = defineJob({
  name: 'backups.send',
  payload: z.object({ name: z.string() }),
  queue: { retryLimit: 7, retryDelaySeconds: 60, expireSeconds: 3600, concurrency: 1 },
  handle: (app, { data, isLastTry = false }) => sendBackup(app, data.name, isLastTry),
});

/** Queues the backup that is due, and ends the tasks of dead processes. */
const schedule = defineJob({ name: 'backups.schedule', every: () => MINUTE_MS, handle: queueDueBackup });

/** Restores the newest backup into a database of its own, when that is due. */
const drill = defineJob({
  name: 'backups.drill',
  queue: { expireSeconds: LONGEST_SECONDS },
  every: () => 10 * MINUTE_MS,
  handle: (app, { signal }) => runDueDrill(app, signal),
});

export const backupJobs = [create, send, schedule, drill];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'backups.create': PayloadOf<typeof create>;
    'backups.send': PayloadOf<typeof send>;
  }
}
