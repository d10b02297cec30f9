import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { compactStatistics, countSalesStep, findZones, recountStatistics } from './count-repo.ts';

/** Ids counted in one transaction. */
const STEP = 50_000;

/**
 * Counts payments for the statistics (job `insight.count-sales`) as far as `ledger.count` has counted transactions, and after a change of the
 * setting `TIMEZONE` everything again in days of the new zone. Nothing depends on when it runs: statistics add the rows that it has not
 * counted, and show the days of the zone that was counted last.
 */
export async function countSales(app: App): Promise<void> {
  await followZone(app);
  await inTransaction(app, (t) => compactStatistics(t.db));
  while (await inTransaction(app, (t) => countSalesStep(t.db, STEP)));
}

/** A zone that the database does not know is left out, with an error in the log. */
async function followZone(app: App): Promise<void> {
  const wanted = app.settings.get('TIMEZONE');
  const { current, isKnown } = await findZones(app.db, wanted);
  if (current === wanted) return;
  if (!isKnown) {
    app.log.error({ zone: wanted, current }, 'statistics: the database does not know the time zone');
    return;
  }
  await inTransaction(app, (t) => recountStatistics(t.db, wanted));
  app.log.info({ zone: wanted, before: current }, 'statistics: days are counted in another time zone');
}
