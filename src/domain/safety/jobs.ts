import type { App } from '../../core/app.ts';
import { refreshBlacklist } from './blacklist.ts';
import { watchPanel } from './maintenance.ts';

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'safety.refresh-blacklist': Record<string, never>;
    'safety.watch-panel': Record<string, never>;
  }
}

export const safetyJobs = {
  'safety.refresh-blacklist': (app: App): Promise<void> => refreshBlacklist(app),
  'safety.watch-panel': (app: App): Promise<void> => watchPanel(app),
};
