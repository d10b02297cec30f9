import { z } from 'zod';
import type { App } from '../../core/app.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { defineJob, type PayloadOf } from '../../core/jobs/define-job.ts';
import { continueRun, watchRuns } from './long-runs/watch-runs.ts';
import { outageReasonOf } from './panel-access.ts';
import { removePanelUser } from './panel-user.ts';
import { pushSubscription } from './push-subscription.ts';
import { reconcileProvisioning } from './reconcile.ts';
import { SyncAborted, syncSquadsOfTariff } from './squads/sync-squads-of-tariff.ts';

/** Runs after each push of a subscription, when the panel has given its links. */
export type AfterPush = (app: App, subscriptionId: number) => Promise<unknown>;

/** Updates one subscription's panel user to the subscription row. */
const push = (afterPush: AfterPush) =>
  defineJob({
    name: 'provisioning.push',
    payload: z.object({ subscriptionId: z.int() }),
    queue: { policy: 'short', retryLimit: 20, concurrency: 5 },
    handle: async (app, { data, signal }) => {
      try {
        await pushSubscription(app, data.subscriptionId, signal);
      } catch (error) {
        // The reconciler sends it when the panel accepts the key again; retries of every waiting push would only be refused.
        if (outageReasonOf(error) === 'refused_key') return;
        throw error;
      }
      await afterPush(app, data.subscriptionId);
    },
  });

/** Finds subscriptions whose push was lost or given up, and sends their pushes again. */
const reconcile = defineJob({ name: 'provisioning.reconcile', every: () => 30 * SECOND_MS, handle: reconcileProvisioning });

/**
 * Deletes or disables the panel user of a deleted account. No other job does it, so it is retried for more than a week, after some
 * hours every 6 hours; the queue deletes a job that has waited for 14 days.
 */
const removeUser = defineJob({
  name: 'provisioning.remove-user',
  payload: z.object({ panelUuid: z.string(), mode: z.enum(['delete', 'disable']).optional() }),
  queue: { policy: 'short', retryLimit: 50, retryDelayMaxSeconds: 6 * 3600, concurrency: 2 },
  handle: (app, { data }) => removePanelUser(app, data.panelUuid, data.mode),
});

/** Sends the squads of a tariff whose servers changed to the panel, for every subscription. After the last try pushes do the rest. */
export const syncSquads = defineJob({
  name: 'provisioning.sync-squads',
  payload: z.object({ tariffId: z.int() }),
  queue: { policy: 'short', retryLimit: 5, retryDelaySeconds: 30, expireSeconds: 3600, concurrency: 1 },
  handle: async (app, { data, isLastTry = false }) => {
    const result = await syncSquadsOfTariff(app, data.tariffId, { delegatesToPushes: isLastTry });
    if (result && result.failedCount > 0 && !isLastTry) throw new SyncAborted(result.failedCount);
  },
});

/** Continues a long run at the panel (squad migration, synchronisation) after the last step that was stored. */
const continueLongRun = defineJob({
  name: 'provisioning.continue',
  payload: z.object({ table: z.enum(['squad_migration_runs', 'panel_sync_runs']), runId: z.int() }),
  queue: { policy: 'short', retryDelaySeconds: 5, expireSeconds: 300, concurrency: 2 },
  handle: (app, { data, signal }) => continueRun(app, data, signal),
});

/** Continues long runs whose worker crashed, and starts the automatic synchronisation when it is due. */
const watchLongRuns = defineJob({ name: 'provisioning.watch-runs', every: () => MINUTE_MS, handle: watchRuns });

export const provisioningJobs = (afterPush: AfterPush) => [
  push(afterPush),
  reconcile,
  removeUser,
  syncSquads,
  continueLongRun,
  watchLongRuns,
];

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'provisioning.push': PayloadOf<typeof push>;
    'provisioning.remove-user': PayloadOf<typeof removeUser>;
    'provisioning.sync-squads': PayloadOf<typeof syncSquads>;
    'provisioning.continue': PayloadOf<typeof continueLongRun>;
    'provisioning.watch-runs': PayloadOf<typeof watchLongRuns>;
  }
}
