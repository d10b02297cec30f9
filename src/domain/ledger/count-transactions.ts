import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { countRange, findCreatedAfter, lockCountMark, recordHighestId } from './count-repo.ts';
import { UNCOUNTED_ROWS } from './types.ts';

/** Rows counted in one transaction. */
const STEP = 200_000;
/**
 * A row gets its id before it commits, so rows below the highest id may not be visible yet. No transaction lasts this long, so after
 * this time every id seen is committed or rolled back.
 */
const SETTLE_SECONDS = 60;

/**
 * Counts transactions by day (job `ledger.count`), so that totals of lists are exact and fast with millions of rows. Nothing depends
 * on when it runs: lists count themselves what it has not counted yet, up to a bound that is met after a restore or an import only.
 * @param settleSeconds for tests
 */
export async function countTransactionsByDay(app: App, settleSeconds: number = SETTLE_SECONDS): Promise<void> {
  while (await countStep(app, settleSeconds));
}

/** @returns whether there is more to count now */
function countStep(app: App, settleSeconds: number): Promise<boolean> {
  return inTransaction(app, async (t) => {
    const mark = await lockCountMark(t.db, settleSeconds);
    if (mark.throughId < mark.seenId && !mark.isSettled) return false;
    if (mark.seenId - mark.throughId > UNCOUNTED_ROWS) {
      const since = await findCreatedAfter(t.db, mark.throughId);
      t.log.warn(
        { rows: mark.seenId - mark.throughId, since },
        'totals of lists and statistics leave out transactions until these are counted',
      );
    }
    const through = Math.min(mark.seenId, mark.throughId + STEP);
    if (through > mark.throughId) await countRange(t.db, mark.throughId, through);
    if (through < mark.seenId) return true;
    await recordHighestId(t.db);
    return false;
  });
}
