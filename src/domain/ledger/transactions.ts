import type { App } from '../../core/app.ts';
import { DAY_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { offsetOf } from '../../core/paging.ts';
import {
  countByDay,
  countDirectly,
  countRange,
  findCreatedAfter,
  findUncountedSince,
  listTransactions as listRows,
  lockCountMark,
  recordHighestId,
  sumCompleted,
  sumWallets,
  type TransactionFilter,
} from './repo.ts';
import { type CompletedSum, type TransactionRecord, UNCOUNTED_ROWS } from './types.ts';

export type { TransactionFilter } from './repo.ts';

export interface TransactionPage {
  items: TransactionRecord[];
  /** Exact, at any size; while the job counts what a restore or an import brought, at least what is counted. */
  total: number;
}

/** Visible movements of all users, newest first, amounts as they are stored (spec 03 section 1.2). */
export async function listTransactions(
  app: App,
  filter: TransactionFilter,
  page: { limit: number; offset: number },
): Promise<TransactionPage> {
  const [items, total] = await Promise.all([listRows(app.db, filter, page.limit, page.offset), countTransactions(app, filter)]);
  return { items, total };
}

/** The user's own visible movements, newest first (spec 03 section 3). */
export function listMyTransactions(
  app: App,
  userId: number,
  page: { page: number; perPage: number; type: string | null },
): Promise<TransactionPage> {
  const filter = page.type === null ? { userId } : { userId, type: page.type };
  return listTransactions(app, filter, { limit: page.perPage, offset: offsetOf(page.page, page.perPage) });
}

/**
 * How many movements match a filter. Those of one user and those of less than a whole day are counted with an index. Any other filter
 * would count millions of rows, so whole days come from the counts that `countTransactionsByDay` maintains.
 */
function countTransactions(app: App, filter: TransactionFilter): Promise<number> {
  if (filter.userId != null || filter.paymentMethod === '') return countDirectly(app.db, filter);
  const from = filter.from ? new Date(Math.ceil(filter.from.getTime() / DAY_MS) * DAY_MS) : null;
  const to = filter.to ? new Date(Math.floor(filter.to.getTime() / DAY_MS) * DAY_MS) : null;
  if (from && to && from >= to) return countDirectly(app.db, filter);
  return countByDay(app.db, filter, { from, to });
}

/**
 * What completed visible transactions sum to by type and method, until now. Exact at any size: whole days are read from counts, and only
 * what the last minutes added from the rows; while a restore or an import is being counted, what is counted.
 * @param from a midnight UTC
 */
export function sumTransactions(app: App, from: Date): Promise<CompletedSum[]> {
  return sumCompleted(app.db, from, app.clock.now());
}

/** From when on the sums lack transactions, while a restore or an import is being counted; else null. */
export function readUncountedSince(app: App): Promise<Date | null> {
  return findUncountedSince(app.db);
}

/** The balances of all users together, in kopeks; exact at any size. */
export function readTotalBalance(app: App): Promise<number> {
  return sumWallets(app.db);
}

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
