import type { App } from '../../core/app.ts';
import type { RunningJob } from '../../core/jobs/job-runner.ts';
import type { RunTable } from './long-runs/repo.ts';
import { continueRun, watchRuns } from './long-runs/watch-runs.ts';
import { pushSubscription } from './push-subscription.ts';
import { reconcileProvisioning } from './reconcile.ts';
import { removePanelUser } from './remove-panel-user.ts';
import type { RemovalMode } from './request-provisioning.ts';
import { SyncAborted, syncSquadsOfTariff } from './squads/sync-squads-of-tariff.ts';

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'provisioning.push': { subscriptionId: number };
    'provisioning.reconcile': Record<string, never>;
    'provisioning.remove-user': { panelUuid: string; mode?: RemovalMode };
    'provisioning.sync-squads': { tariffId: number };
    'provisioning.continue': { table: RunTable; runId: number };
    'provisioning.watch-runs': Record<string, never>;
  }
}

/** Handlers of this module's queues, bound to the app by `src/jobs/handlers.ts`. */
export const provisioningJobs = {
  async 'provisioning.push'(app: App, job: RunningJob<{ subscriptionId: number }>): Promise<void> {
    await pushSubscription(app, job.data.subscriptionId, job.signal);
  },
  async 'provisioning.reconcile'(app: App): Promise<void> {
    await reconcileProvisioning(app);
  },
  async 'provisioning.remove-user'(app: App, job: RunningJob<{ panelUuid: string; mode?: RemovalMode }>): Promise<void> {
    await removePanelUser(app, job.data.panelUuid, job.data.mode);
  },
  async 'provisioning.sync-squads'(app: App, job: RunningJob<{ tariffId: number }>): Promise<void> {
    const { data, isLastTry = false } = job;
    const result = await syncSquadsOfTariff(app, data.tariffId, { leavesRestToPushes: isLastTry });
    if (result && result.failedCount > 0 && !isLastTry) throw new SyncAborted(result.failedCount);
  },
  async 'provisioning.continue'(app: App, job: RunningJob<{ table: RunTable; runId: number }>): Promise<void> {
    await continueRun(app, job.data, job.signal);
  },
  async 'provisioning.watch-runs'(app: App): Promise<void> {
    await watchRuns(app);
  },
};
