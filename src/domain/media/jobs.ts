import { DAY_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { purgeUnusedMedia } from './purge-unused.ts';

/** A large storage is listed in pages: a million contents take some minutes. */
const purge = defineJob({
  name: 'media.purge',
  queue: { expireSeconds: 3_600 },
  every: () => DAY_MS,
  handle: (app, { signal }) => purgeUnusedMedia(app, signal),
});

export const mediaJobs = [purge];
