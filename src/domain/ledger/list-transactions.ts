import type { App } from '../../core/app.ts';
import { DAY_MS } from '../../core/clock.ts';
import { offsetOf } from '../../core/paging.ts';
import { countByDay, countDirectly, listTransactions as listRows, type TransactionFilter } from './repo.ts';
import type { TransactionRecord } from './types.ts';

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
