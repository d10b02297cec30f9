import type { App } from '../../core/app.ts';
import { addMs } from '../../core/clock.ts';
import { refreshPayment } from './check-payment.ts';
import { methodDefaults, SANDBOX_METHOD } from './method-defaults.ts';
import type { PaymentProvider } from './ports.ts';
import { claimForCheck, expirePayments } from './repo.ts';
import { PENDING_MS } from './rules.ts';
import type { Payment } from './types.ts';

const BATCH = 100;
/** Concurrent requests to one provider: enough to finish in time, below the providers' rate limits. */
const CONCURRENCY = 4;
const EXPIRE_BATCH = 1_000;

/**
 * The background check (queue `payments.check-pending`, spec 03 section 4.3): asks providers about payments of the last 24 h, if
 * `PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED`, then expires older ones (H15). Any number of instances may run it: they take different
 * payments, and each payment is credited once. An error skips its payment.
 */
export async function checkPendingPayments(app: App): Promise<void> {
  if (app.settings.get('PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED')) {
    await Promise.all(
      app.ports.payments
        .all()
        .filter(isPolled)
        .map((provider) => checkProvider(app, provider)),
    );
  }
  await expirePendingPayments(app);
}

/** Also while the provider is switched off: what was to be paid then may still be paid. */
function isPolled(provider: PaymentProvider): boolean {
  const method = methodDefaults(provider.method) ?? SANDBOX_METHOD;
  return provider.canFetchStatus && provider.hasCredentials() && method.isPolled;
}

async function checkProvider(app: App, provider: PaymentProvider): Promise<void> {
  const startedAt = app.clock.now();
  for (;;) {
    const payments = await claimForCheck(app.db, provider.method, addMs(startedAt, -PENDING_MS), startedAt, BATCH);
    const waiting = [...payments];
    const worker = async (): Promise<void> => {
      for (let payment = waiting.shift(); payment; payment = waiting.shift()) await checkOne(app, payment);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    if (payments.length < BATCH) return;
  }
}

async function checkOne(app: App, payment: Payment): Promise<void> {
  try {
    await refreshPayment(app, payment);
  } catch (error) {
    app.log.warn({ err: error, paymentId: payment.id, method: payment.method }, 'a pending payment could not be checked');
  }
}

/** Expires payments that were not paid within 24 h; a later success is still credited (spec 03 H15). */
export async function expirePendingPayments(app: App): Promise<void> {
  const now = app.clock.now();
  while ((await expirePayments(app.db, addMs(now, -PENDING_MS), now, EXPIRE_BATCH)) === EXPIRE_BATCH);
}
