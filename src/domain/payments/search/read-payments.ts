import type { AdminActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs } from '../../../core/clock.ts';
import { offsetOf } from '../../../core/paging.ts';
import { requireUser } from '../../identity/require-user.ts';
import { type CheckedPayment, checkOnRequest } from '../check-payment.ts';
import { invalidMethod, paymentNotFound } from '../errors.ts';
import { methodDefaults } from '../method-defaults.ts';
import { methodName } from '../method-settings.ts';
import { viewPayment } from '../payment-view.ts';
import type { PaymentPurpose } from '../purpose-payment.ts';
import { PENDING_MS } from '../rules.ts';
import type { PaymentView } from '../types.ts';
import { findPaymentOfPayer, type PaymentOfPayer } from './list-repo.ts';
import { methodOfFilter } from './payment-filter.ts';
import { countPendingByMethod, listPendingOfAll } from './pending-repo.ts';

/** Pages count from 1. */
export interface PageRequest {
  page: number;
  perPage: number;
}

export interface PaymentPage {
  items: PaymentView[];
  total: number;
}

/** Payments of all users that wait, of the last 24 h, newest first (spec 03 section 4.4). An unknown method is no filter. */
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

export async function viewPayments(app: App, actor: AdminActor, payments: readonly PaymentOfPayer[]): Promise<PaymentView[]> {
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
