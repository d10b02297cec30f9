import type { App } from '../../core/app.ts';
import { refreshBlacklist } from './blacklist.ts';
import { refreshDisposableDomains } from './disposable-domains.ts';
import { watchPanel } from './maintenance.ts';

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'safety.refresh-blacklist': Record<string, never>;
    'safety.refresh-disposable-domains': Record<string, never>;
    'safety.watch-panel': Record<string, never>;
  }
}

export const safetyJobs = {
  'safety.refresh-blacklist': (app: App): Promise<void> => refreshBlacklist(app),
  'safety.refresh-disposable-domains': (app: App): Promise<void> => refreshDisposableDomains(app),
  'safety.watch-panel': (app: App): Promise<void> => watchPanel(app),
};
