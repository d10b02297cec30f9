import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { refreshBlacklist } from './blacklist.ts';
import { refreshDisposableDomains } from './disposable-domains.ts';
import { watchPanel } from './maintenance.ts';

/**
 * Fetches the published blacklist when it is due; the time of the next fetch is stored with the state. Sent when a check finds the list
 * old; no retries, since the next check sends it again.
 */
const blacklist = defineJob({
  name: 'safety.refresh-blacklist',
  queue: { policy: 'short', retryLimit: 0, concurrency: 1 },
  handle: refreshBlacklist,
});

/** Fetches the published list of disposable mail domains once a day. The runs in between are for the first start and for retries. */
const disposableDomains = defineJob({
  name: 'safety.refresh-disposable-domains',
  every: () => 5 * MINUTE_MS,
  handle: refreshDisposableDomains,
});

/** Checks the panel for the maintenance mode (spec 06 section 14). */
const panel = defineJob({
  name: 'safety.watch-panel',
  every: (app) => app.settings.get('MAINTENANCE_CHECK_INTERVAL') * SECOND_MS,
  handle: watchPanel,
});

export const safetyJobs = [blacklist, disposableDomains, panel];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'safety.refresh-blacklist': PayloadOf<typeof blacklist>;
  }
}
