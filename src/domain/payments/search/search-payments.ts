import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs } from '../../../core/clock.ts';
import { offsetOf } from '../../../core/paging.ts';
import { requireUser } from '../../identity/find-user.ts';
import { type CheckedPayment, checkOnRequest } from '../check-payments.ts';
import { invalidMethod, paymentNotFound } from '../errors.ts';
import { viewPayment } from '../list-payments.ts';
import { methodDefaults, methodName } from '../payment-methods.ts';
import type { PaymentPurpose } from '../purpose-payment.ts';
import { PENDING_MS } from '../rules.ts';
import type { PaymentView } from '../types.ts';
import { methodOfFilter, type PaymentFilter, type PaymentSearch, readPaymentFilter } from './payment-filter.ts';
import {
  countByDay,
  countByGroup,
  countMatches,
  countPendingByMethod,
  findPaymentOfPayer,
  listMatches,
  listPage,
  listPendingOfAll,
  type PaymentOfPayer,
  type Slice,
  textCondition,
} from './repo.ts';

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

/** Pages count from 1. */
export interface PageRequest {
  page: number;
  perPage: number;
}

export interface PaymentPage {
  items: PaymentView[];
  total: number;
}

/** Payments of all users that wait, of the last 24 h, newest first. An unknown method is no filter. */
export async function listAllPending(
  app: App,
  actor: AdminActor,
  { page, perPage, methodFilter }: PageRequest & { methodFilter: string | null },
): Promise<PaymentPage> {
  const slice = { limit: perPage, offset: offsetOf(page, perPage) };
  const { payments, total } = await listPendingOfAll(app.db, pendingSince(app), methodOfFilter(methodFilter), slice);
  return { items: await viewPayments(app, actor, payments), total };
}

/** How many payments wait, in total and by the name of their method. */
export async function readPendingStats(app: App): Promise<{ totalPending: number; byMethod: Record<string, number> }> {
  const rows = await countPendingByMethod(app.db, pendingSince(app));
  const byMethod: Record<string, number> = {};
  for (const { method, payments } of rows) {
    const name = methodName(app, method);
    byMethod[name] = (byMethod[name] ?? 0) + payments;
  }
  return { totalPending: rows.reduce((sum, row) => sum + row.payments, 0), byMethod };
}

/** @throws AppError 400 'Invalid payment method' | 404 'Payment not found' */
export async function readAnyPayment(app: App, actor: AdminActor, method: string, id: number): Promise<PaymentView> {
  const [view] = await viewPayments(app, actor, [await requirePayment(app, method, id)]);
  return view!;
}

/**
 * Asks the provider about any payment, also of a person without an account (spec 03 section 4.2).
 * @param purposes what invoices pay besides the balance
 * @throws AppError 400 | 404 | 429
 */
export async function checkAnyPayment(
  app: App,
  actor: AdminActor,
  payment: { method: string; id: number },
  purposes: readonly PaymentPurpose[],
): Promise<CheckedPayment> {
  const found = await requirePayment(app, payment.method, payment.id);
  const checked = await checkOnRequest(app, found, await requireUser(app, actor.userId), purposes);
  const { oldStatus, statusChanged, success } = checked;
  app.audit?.record({
    resourceId: found.id,
    ...(statusChanged && { before: { status: oldStatus } }),
    after: { status: checked.payment.status, success },
  });
  // A guest purchase gets its payer with the money.
  const fresh = statusChanged ? await requirePayment(app, payment.method, payment.id) : found;
  const [view] = await viewPayments(app, actor, [fresh]);
  return { ...checked, payment: view! };
}

async function viewPayments(app: App, actor: AdminActor, payments: readonly PaymentOfPayer[]): Promise<PaymentView[]> {
  if (payments.length === 0) return [];
  const { language } = await requireUser(app, actor.userId);
  return payments.map((payment) => viewPayment(app, payment, language));
}

const pendingSince = (app: App) => addMs(app.clock.now(), -PENDING_MS);

async function requirePayment(app: App, id: string, paymentId: number): Promise<PaymentOfPayer> {
  const method = methodDefaults(id);
  if (!method) throw invalidMethod(null);
  const payment = await findPaymentOfPayer(app.db, method.provider ?? method.id, paymentId);
  if (!payment) throw paymentNotFound();
  return payment;
}
