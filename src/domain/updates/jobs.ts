import { HOUR_MS } from '../../core/clock.ts';
import { defineJob } from '../../core/jobs/define-job.ts';
import { checkForUpdate } from './read-releases.ts';

/** Looks for a new version of the service (spec 06 section 15; VERSION_CHECK_INTERVAL_HOURS is not used). */
const check = defineJob({ name: 'updates.check', every: () => HOUR_MS, handle: checkForUpdate });

export const updateJobs = [check];
