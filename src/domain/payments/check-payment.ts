import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { limitOrRefuse } from '../../core/rate-limit.ts';
import { text } from '../messaging/texts.ts';
import { creditSeenPayment } from './credit-payment.ts';
import { requireMyPayment, viewPayment } from './list-payments.ts';
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
 * Asks the provider about a payment on the user's request (spec 03 section 4.2). A payment that cannot be checked and a provider that
 * does not answer are reported in the answer, not as errors. @throws AppError 400 | 404 | 429
 */
export async function checkMyPayment(app: App, actor: UserActor, method: string, id: number): Promise<CheckedPayment> {
  const { payment, user } = await requireMyPayment(app, actor, method, id);
  const answer = (success: boolean, key: 'check_unavailable' | 'check_failed') => ({
    success,
    message: text(user.language, `errors.payment_${key}`),
    payment: viewPayment(app, payment, user),
    statusChanged: false,
    oldStatus: null,
    newStatus: null,
  });
  if (!isCheckable(payment, app.ports.payments.byMethod(payment.method) ?? null, app.clock.now())) {
    return answer(false, 'check_unavailable');
  }
  await limitChecks(app, actor.userId);
  try {
    await refreshPayment(app, payment);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    app.log.warn({ err: error, paymentId: id }, 'a payment could not be checked');
    return answer(false, 'check_failed');
  }
  const fresh = (await findPayment(app.db, payment.id)) ?? payment;
  const [oldStatus, newStatus] = [shownStatus(payment), shownStatus(fresh)];
  const statusChanged = oldStatus !== newStatus || payment.isPaid !== fresh.isPaid;
  return {
    success: true,
    message: text(user.language, statusChanged ? 'payments.check_done' : 'payments.check_unchanged'),
    payment: viewPayment(app, fresh, user),
    statusChanged,
    oldStatus,
    newStatus,
  };
}
