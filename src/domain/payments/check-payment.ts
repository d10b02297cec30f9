import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { limitOrRefuse } from '../../core/rate-limit.ts';
import { text } from '../messaging/texts.ts';
import { creditSeenPayment } from './credit-payment.ts';
import { requireMyPayment } from './list-payments.ts';
import { type Payer, viewPayment } from './payment-view.ts';
import { ProviderError } from './ports.ts';
import type { PaymentPurpose } from './purpose-payment.ts';
import { findPayment } from './repo.ts';
import { isCheckable, shownStatus } from './rules.ts';
import type { CreditResult, Payment, PaymentView } from './types.ts';

/** Requests to a provider that one user may cause, per minute. */
const CHECKS_A_MINUTE = 30;

/** Counts a request to a provider that a user causes. @throws AppError 429 */
export async function limitChecks(app: App, userId: number): Promise<void> {
  await limitOrRefuse(app, `payment-check:user:${userId}`, CHECKS_A_MINUTE, 60);
}

export interface CheckedPayment {
  success: boolean;
  message: string;
  payment: PaymentView;
  statusChanged: boolean;
  oldStatus: string | null;
  newStatus: string | null;
}

/** Asks the provider about a payment and applies the answer as a callback would. @throws ProviderError */
export async function refreshPayment(
  app: App,
  payment: Payment,
  purposes: readonly PaymentPurpose[] = [],
): Promise<CreditResult> {
  const provider = app.ports.payments.byMethod(payment.method);
  if (!provider) throw new ProviderError(payment.method, 'not_configured', 'There is no provider to ask about the payment');
  const { externalId, orderId } = payment;
  return creditSeenPayment(app, payment, await provider.fetchStatus({ externalId, orderId }), purposes);
}

/** `refreshPayment` by id, for the module of a purpose. @returns null for an unknown payment @throws ProviderError */
export async function refreshPaymentOf(app: App, paymentId: number, purpose: PaymentPurpose): Promise<CreditResult | null> {
  const payment = await findPayment(app.db, paymentId);
  return payment && refreshPayment(app, payment, [purpose]);
}

/**
 * Asks the provider about an own payment (spec 03 section 4.2). A payment that cannot be checked and a provider that does not answer are
 * reported in the answer, not as errors. @throws AppError 400 | 404 | 429
 */
export async function checkMyPayment(
  app: App,
  actor: UserActor,
  method: string,
  id: number,
  purposes: readonly PaymentPurpose[] = [],
): Promise<CheckedPayment> {
  const { payment, user } = await requireMyPayment(app, actor, method, id);
  return checkOnRequest(app, { ...user, ...payment }, user, purposes);
}

/**
 * Asks the provider about a payment on request of `viewer`, whose language the answer has. @throws AppError 429
 * @param payment with the payer to show; other fields are not shown
 */
export async function checkOnRequest(
  app: App,
  payment: Payment & Payer,
  viewer: { id: number; language: string },
  purposes: readonly PaymentPurpose[],
): Promise<CheckedPayment> {
  const { language } = viewer;
  const answer = (success: boolean, key: 'check_unavailable' | 'check_failed') => ({
    success,
    message: text(language, `errors.payment_${key}`),
    payment: viewPayment(app, payment, language),
    statusChanged: false,
    oldStatus: null,
    newStatus: null,
  });
  if (!isCheckable(payment, app.ports.payments.byMethod(payment.method) ?? null, app.clock.now())) {
    return answer(false, 'check_unavailable');
  }
  await limitChecks(app, viewer.id);
  try {
    await refreshPayment(app, payment, purposes);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    app.log.warn({ err: error, paymentId: payment.id }, 'a payment could not be checked');
    return answer(false, 'check_failed');
  }
  const fresh = (await findPayment(app.db, payment.id)) ?? payment;
  const [oldStatus, newStatus] = [shownStatus(payment), shownStatus(fresh)];
  const statusChanged = oldStatus !== newStatus || payment.isPaid !== fresh.isPaid;
  return {
    success: true,
    message: text(language, statusChanged ? 'payments.check_done' : 'payments.check_unchanged'),
    payment: viewPayment(app, { ...payment, ...fresh }, language),
    statusChanged,
    oldStatus,
    newStatus,
  };
}
