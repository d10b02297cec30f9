import type { App } from '../../../core/app.ts';
import { chargeDays } from './charge-days.ts';
import { expirePurchasedTraffic } from './expire-purchased-traffic.ts';

/** The daily service (job `subscriptions.daily`, spec 02 section 13), unless it is switched off. */
export async function runDailyService(app: App): Promise<void> {
  if (!app.settings.get('DAILY_SUBSCRIPTIONS_ENABLED')) return;
  await chargeDays(app);
  await expirePurchasedTraffic(app);
}
