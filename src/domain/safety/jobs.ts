import { z } from 'zod';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { monitoringStep } from '../monitoring/monitoring-log.ts';
import { checkMember, handleChannelsPress } from './channel-gate.ts';
import { checkChannelMembers } from './check-channel-members.ts';
import { watchPanel } from './maintenance.ts';
import { refreshBlacklist, refreshDisposableDomains } from './published-lists.ts';

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

/** Checks the panel for the maintenance mode. */
const panel = defineJob({
  name: 'safety.watch-panel',
  every: (app) => app.settings.get('MAINTENANCE_CHECK_INTERVAL') * SECOND_MS,
  handle: watchPanel,
});

/**
 * Checks the members of the required channels. The round is every `MONITORING_INTERVAL` minutes; the runs in between continue it, after a
 * minute of work or after the end of a process.
 */
const channels = defineJob({
  name: 'safety.check-channels',
  queue: { expireSeconds: 240 },
  every: () => MINUTE_MS,
  handle: monitoringStep('channels', (app, { signal }) => checkChannelMembers(app, signal)),
});

/** Enables the subscription of a user who has joined a channel, when it was the last one missing; sent after a reported leaving as well. */
const member = defineJob({
  name: 'safety.check-member',
  payload: z.object({ messengerId: z.int() }),
  handle: (app, { data }) => checkMember(app, data.messengerId),
});

/** Handles the button with which a user asks for another check, as received. */
const press = defineJob({
  name: 'safety.channels-press',
  payload: z.object({ queryId: z.string(), messengerId: z.int() }),
  queue: { retryLimit: 5 },
  handle: (app, { data }) => handleChannelsPress(app, data),
});

export const safetyJobs = [blacklist, disposableDomains, panel, channels, member, press];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'safety.refresh-blacklist': PayloadOf<typeof blacklist>;
    'safety.check-member': PayloadOf<typeof member>;
    'safety.channels-press': PayloadOf<typeof press>;
  }
}
