import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addMs } from '../../core/clock.ts';
import { offsetOf } from '../../core/paging.ts';
import { requireUser } from '../identity/find-user.ts';
import type { UserRecord } from '../identity/types.ts';
import { text } from '../messaging/texts.ts';
import { invalidMethod, noRecentPayments, paymentNotFound, unsupportedMethod } from './errors.ts';
import { methodDefaults, methodName } from './payment-methods.ts';
import { countPendingPayments, findLatestPayment, findPaymentOfUser, listPendingPayments } from './repo.ts';
import { isCheckable, LATEST_MS, PENDING_MS, shownStatus, statusText, webUrl } from './rules.ts';
import type { Payment, PaymentView } from './types.ts';

/** Payment methods of the ledger that have no payment records. */
const METHODS_WITHOUT_RECORDS: readonly string[] = ['messenger_stars', 'tribute', 'manual', 'balance'];

/** The user's waiting payments of the last 24 h, newest first (spec 03 sections 3 and 4.1). */
export async function listMyPendingPayments(
  app: App,
  actor: UserActor,
  page: { page: number; perPage: number },
): Promise<{ items: PaymentView[]; total: number }> {
  const user = await requireUser(app, actor.userId);
  const since = addMs(app.clock.now(), -PENDING_MS);
  const [payments, total] = await Promise.all([
    listPendingPayments(app.db, user.id, since, page.perPage, offsetOf(page.page, page.perPage)),
    countPendingPayments(app.db, user.id, since),
  ]);
  return { items: payments.map((payment) => viewPayment(app, { ...user, ...payment }, user.language)), total };
}

/** The user's newest payment of a method in the last hour, whatever its outcome. @throws AppError 400 | 404 */
export async function findMyLatestPayment(app: App, actor: UserActor, method: string): Promise<PaymentView> {
  checkMethod(method);
  if (METHODS_WITHOUT_RECORDS.includes(method)) throw unsupportedMethod(method);
  const user = await requireUser(app, actor.userId);
  const payment = await findLatestPayment(app.db, user.id, recordMethod(method), addMs(app.clock.now(), -LATEST_MS));
  if (!payment) throw noRecentPayments();
  return viewPayment(app, { ...user, ...payment }, user.language);
}

/** One payment of the user; that of another user is refused like an unknown one. @throws AppError 400 | 404 */
export async function readMyPayment(app: App, actor: UserActor, method: string, id: number): Promise<PaymentView> {
  const { payment, user } = await requireMyPayment(app, actor, method, id);
  return viewPayment(app, { ...user, ...payment }, user.language);
}

/** The record behind `readMyPayment`. @throws AppError 400 | 404 */
export async function requireMyPayment(
  app: App,
  actor: UserActor,
  method: string,
  id: number,
): Promise<{ payment: Payment; user: UserRecord }> {
  checkMethod(method);
  const user = await requireUser(app, actor.userId);
  const payment = await findPaymentOfUser(app.db, user.id, recordMethod(method), id);
  if (!payment) throw paymentNotFound();
  return { payment, user };
}

function checkMethod(method: string): void {
  if (!methodDefaults(method) && !METHODS_WITHOUT_RECORDS.includes(method)) throw invalidMethod(method);
}

/** The method as records store it: the provider's, also where a method is an option of another provider. */
function recordMethod(method: string): string {
  return methodDefaults(method)?.provider ?? method;
}

/** What answers show of the payer; null for people without an account. */
export interface Payer {
  messengerId: number | null;
  username: string | null;
  email: string | null;
}

/** A payment as answers show it, in the language of who reads it. */
export function viewPayment(app: App, payment: Payment & Payer, language: string): PaymentView {
  const { id, method, amountKopeks, isPaid, createdAt, expiresAt } = payment;
  const external = methodDefaults(method)?.identifiedBy === 'order' ? null : payment.externalId;
  const [emoji, ...words] = text(language, statusText(payment)).split(' ');
  return {
    ...{ id, method, amountKopeks, isPaid, createdAt, expiresAt },
    methodDisplay: methodName(app, method),
    identifier: external ?? payment.orderId,
    status: shownStatus(payment),
    statusEmoji: emoji!,
    statusText: words.join(' '),
    isCheckable: isCheckable(payment, app.ports.payments.byMethod(method) ?? null, app.clock.now()),
    paymentUrl: webUrl(payment.paymentUrl),
    userId: payment.userId,
    userMessengerId: payment.messengerId,
    userUsername: payment.username,
    userEmail: payment.email,
  };
}
