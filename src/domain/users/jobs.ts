import { z } from 'zod';
import { MINUTE_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { monitoringStep } from '../monitoring/monitoring-log.ts';
import { importPanelUser, pushEmailToPanel } from './import-panel-user.ts';
import { notifyLowBalances } from './notifications/notify-low-balances.ts';
import { deleteInactiveUsers } from './removal.ts';

/**
 * Imports the panel's subscription under the e-mail that this user has just verified, or stores the e-mail at the panel (spec 01
 * section 5.5). Many retries, since no other job does it.
 */
export const importFromPanel = defineJob({
  name: 'users.import-from-panel',
  payload: z.object({ userId: z.int() }),
  queue: { policy: 'short', retryLimit: 12, retryDelaySeconds: 30, concurrency: 2 },
  handle: async (app, { data: { userId } }) => {
    const outcome = await importPanelUser(app, userId);
    if (outcome === 'not_applicable') await pushEmailToPanel(app, userId);
    else app.log.info({ userId, outcome }, 'panel import after e-mail verification');
  },
});

/**
 * Marks users deleted who have been inactive for months. It works in one hour of the night; in other hours it
 * does nothing. Users that remain wait for the next night.
 */
const deleteInactive = defineJob({
  name: 'users.delete-inactive',
  queue: { expireSeconds: 3600 },
  every: () => 60 * MINUTE_MS,
  handle: monitoringStep('inactive users', (app, { signal }) => deleteInactiveUsers(app, signal)),
});

/** Notifies users whose balance a debit has taken below their threshold. */
const lowBalances = defineJob({
  name: 'users.notify-low-balances',
  queue: { expireSeconds: 600 },
  every: () => 5 * MINUTE_MS,
  handle: (app, { signal }) => notifyLowBalances(app, signal),
});

export const userJobs = [importFromPanel, deleteInactive, lowBalances];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'users.import-from-panel': PayloadOf<typeof importFromPanel>;
  }
}
