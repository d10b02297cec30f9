import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { offsetOf } from '../../../core/paging.ts';
import { countByDay, countByGroup } from './count-repo.ts';
import { listMatches, listPage, type PaymentOfPayer, type Slice } from './list-repo.ts';
import { type PaymentFilter, type PaymentSearch, readPaymentFilter } from './payment-filter.ts';
import { type PageRequest, type PaymentPage, viewPayments } from './read-payments.ts';
import { countMatches, textCondition } from './text-repo.ts';

/** A search text finds the newest matches up to this number; its total and statistics are about them. Without a text everything counts. */
export const MAX_MATCHES = 1_000;

/**
 * All payments of a window, newest first, by method, bucket and text; also of people without an account (spec 03 section 4.4).
 * @throws AppError 400 'date_from must be before date_to'
 */
export async function searchPayments(app: App, actor: AdminActor, request: PaymentSearch & PageRequest): Promise<PaymentPage> {
  const filter = readPaymentFilter(request, app.clock.now());
  const slice = { limit: request.perPage, offset: offsetOf(request.page, request.perPage) };
  const { payments, total } = filter.term ? await findByText(app, filter, slice) : await findInWindow(app, filter, slice);
  return { items: await viewPayments(app, actor, payments), total };
}

interface FoundPage {
  payments: PaymentOfPayer[];
  total: number;
}

async function findByText(app: App, filter: PaymentFilter, slice: Slice): Promise<FoundPage> {
  const text = await textCondition(app.db, filter.term!, filter.to);
  if (text === null) return { payments: [], total: 0 };
  return listMatches(app.db, filter, text, { ...slice, offset: Math.min(slice.offset, MAX_MATCHES) }, MAX_MATCHES);
}

/** The counters by day tell the total and the day on which the page begins, so that a page far back is read as fast as the first one. */
async function findInWindow(app: App, filter: PaymentFilter, slice: Slice): Promise<FoundPage> {
  const days = await countByDay(app.db, filter);
  const total = days.reduce((sum, { payments }) => sum + payments, 0);
  let skipped = 0;
  for (const { day, payments } of days) {
    if (skipped + payments > slice.offset) {
      return { payments: await listPage(app.db, filter, slice, { start: day, skipped }), total };
    }
    skipped += payments;
  }
  return { payments: [], total };
}

export interface SearchStats {
  total: number;
  pending: number;
  paid: number;
  cancelled: number;
  /** By the id of the method. */
  byMethod: Record<string, number>;
}

/** Numbers of a search, whatever its status filter. @throws AppError 400 as `searchPayments` */
export async function readSearchStats(app: App, request: PaymentSearch): Promise<SearchStats> {
  const filter = readPaymentFilter({ ...request, statusFilter: null }, app.clock.now());
  const text = filter.term && (await textCondition(app.db, filter.term, filter.to));
  const rows =
    filter.term === null
      ? await countByGroup(app.db, filter)
      : text === null
        ? []
        : await countMatches(app.db, filter, text, MAX_MATCHES);
  const stats: SearchStats = { total: 0, pending: 0, paid: 0, cancelled: 0, byMethod: {} };
  for (const { method, bucket, payments } of rows) {
    stats.total += payments;
    stats[bucket] += payments;
    stats.byMethod[method] = (stats.byMethod[method] ?? 0) + payments;
  }
  return stats;
}
