import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { text } from '../messaging/texts.ts';
import { isTariffTableEmpty, lockTariffTable } from './tariffs/repo.ts';
import { insertTariff } from './tariffs/write-repo.ts';

/**
 * Creates a tariff at the first start: when there is no tariff and a `PRICE_{n}_DAYS` is above 0, one with these prices, the default
 * limits, every available server and the trial flag (spec 02 section 10). Several instances may run it concurrently.
 */
export async function ensureDefaultTariff(app: App): Promise<void> {
  const periodPrices = pricesFromSettings(app);
  if (Object.keys(periodPrices).length === 0) return;
  await inTransaction(app, async (t) => {
    await lockTariffTable(t.db);
    if (!(await isTariffTableEmpty(t.db))) return;
    await insertTariff(
      t.db,
      {
        name: text(app.settings.get('DEFAULT_LANGUAGE'), 'subscriptions.first_tariff'),
        trafficLimitGb: app.settings.get('DEFAULT_TRAFFIC_LIMIT_GB'),
        deviceLimit: Math.max(1, app.settings.get('DEFAULT_DEVICE_LIMIT')),
        periodPrices,
      },
      { isTrialAvailable: true, now: t.clock.now() },
    );
  });
}

function pricesFromSettings(app: App): Record<number, number> {
  const { settings } = app;
  const prices: Record<number, number> = {
    14: settings.get('PRICE_14_DAYS'),
    30: settings.get('PRICE_30_DAYS'),
    60: settings.get('PRICE_60_DAYS'),
    90: settings.get('PRICE_90_DAYS'),
    180: settings.get('PRICE_180_DAYS'),
    360: settings.get('PRICE_360_DAYS'),
  };
  return Object.fromEntries(Object.entries(prices).filter(([, kopeks]) => kopeks > 0));
}
