import type { App } from '../../core/app.ts';
import { chargeDays } from './daily/charge-days.ts';
import { endBoughtTraffic } from './daily/end-bought-traffic.ts';

declare module '../../core/jobs/job-sender.ts' {
  interface JobTypes {
    'subscriptions.expire': Record<string, never>;
    'subscriptions.autopay': Record<string, never>;
    'subscriptions.remind': Record<string, never>;
    'subscriptions.daily': Record<string, never>;
  }
}

export { renewDue } from './autopay/renew-due.ts';
export { dailyServiceMs } from './daily/charge-days.ts';
export { expireSubscriptions } from './expire-subscriptions.ts';
export { remindOwners } from './reminders/remind-owners.ts';

/** Job `subscriptions.daily`: the daily service (spec 02 section 13), unless it is switched off. */
export async function runDailyService(app: App): Promise<void> {
  if (!app.settings.get('DAILY_SUBSCRIPTIONS_ENABLED')) return;
  await chargeDays(app);
  await endBoughtTraffic(app);
}
