import { HOUR_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { checkForUpdate } from './releases.ts';

/** Looks for a new version of the service. */
const check = defineJob({
  name: 'updates.check',
  every: (app) => app.settings.get('VERSION_CHECK_INTERVAL_HOURS') * HOUR_MS,
  handle: checkForUpdate,
});

export const updateJobs = [check];
