import { z } from 'zod';
import type { App } from '../../core/app.ts';
import { addMs, HOUR_MS, MINUTE_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { advanceErasure } from './erase-person.ts';
import { expireArchives, listWaiting, reopenErasures } from './repo.ts';
import { purgeRequests } from './requests.ts';
import { writeArchive } from './write-archive.ts';

/** Writes one archive; a large one takes minutes, so few are written at the same time. */
const exportJob = defineJob({
  name: 'persons.export',
  payload: z.object({ requestId: z.int() }),
  queue: { policy: 'short', retryLimit: 5, expireSeconds: 3_600, concurrency: 1 },
  handle: (app, { data, signal, isLastTry = false }) => writeArchive(app, data.requestId, isLastTry, signal),
});

/** Executes an erasure that is due, and what follows it. The sweep sends it for as long as something remains. */
const eraseJob = defineJob({
  name: 'persons.erase',
  payload: z.object({ requestId: z.int() }),
  queue: { policy: 'short', retryLimit: 10, retryDelayMaxSeconds: 3_600, expireSeconds: 3_600, concurrency: 1 },
  handle: (app, { data, signal }) => advanceErasure(app, data.requestId, signal),
});

const LOST_AFTER_MS = HOUR_MS;

/** Deletes expired archives and old requests, and sends jobs for what is due or was lost. Erasures that a restore has undone are executed again. */
export async function sweepRequests(app: App): Promise<void> {
  const now = app.clock.now();
  await expireArchives(app.db, now);
  await purgeRequests(app);
  const reopened = await reopenErasures(app.db, now);
  if (reopened > 0)
    app.log.warn({ accounts: reopened }, 'erased accounts are here again, after a restore: they are erased once more');
  for (const { id, kind } of await listWaiting(app.db, now, addMs(now, -LOST_AFTER_MS))) {
    const job = kind === 'export' ? 'persons.export' : 'persons.erase';
    await app.jobs.send(job, { requestId: id }, { singletonKey: String(id) });
  }
}

const sweep = defineJob({ name: 'persons.sweep', every: () => MINUTE_MS, handle: sweepRequests });

export const personalDataJobs = [exportJob, eraseJob, sweep];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'persons.export': PayloadOf<typeof exportJob>;
    'persons.erase': PayloadOf<typeof eraseJob>;
  }
}
