import type { App } from '../../core/app.ts';
import { findUncountedSince, sumCompleted, sumWallets } from './sum-repo.ts';
import type { CompletedSum } from './types.ts';

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
