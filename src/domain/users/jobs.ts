import type { App } from '../../core/app.ts';
import type { RunningJob } from '../../core/jobs/job-runner.ts';
import { deleteInactiveUsers } from './delete-inactive.ts';
import { importPanelUser } from './import-panel-user.ts';
import { tellPanelOfEmail } from './tell-panel-of-email.ts';

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    /** Looks at the panel for a subscription under the e-mail that this user has just proved, or has it noted there (spec 01 5.5). */
    'users.import-from-panel': { userId: number };
    /** Marks users deleted who were not seen for months (spec 01 section 17). */
    'users.delete-inactive': Record<string, never>;
  }
}

/** Handlers of this module's queues, bound to the app by `src/jobs/handlers.ts`. */
export const usersJobs = {
  async 'users.import-from-panel'(app: App, { userId }: { userId: number }): Promise<void> {
    const outcome = await importPanelUser(app, userId);
    if (outcome === 'not_wanted') await tellPanelOfEmail(app, userId);
    if (outcome !== 'not_wanted') app.log.info({ userId, outcome }, 'panel import after e-mail verification');
  },
  async 'users.delete-inactive'(app: App, { signal }: Pick<RunningJob<object>, 'signal'>): Promise<void> {
    await deleteInactiveUsers(app, signal);
  },
};
