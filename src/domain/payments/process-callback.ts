import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { finishCallback, type StoredCallback, startCallback } from './callback-repo.ts';
import { creditSeenPayment, raiseAlarm } from './credit-payment.ts';
import { creditStars, recordStarsRefund, type StarsMovement } from './credit-stars.ts';
import { type PaymentProvider, ProviderError, type ProviderPaymentState } from './ports.ts';
import type { PaymentPurpose } from './purpose-payment.ts';
import type { StarsPurpose } from './purpose-stars.ts';
import { findByOrderId } from './repo.ts';
import type { Payment } from './types.ts';

/** A provider may report a success before its own API shows it; these are the waits before asking again. */
const ASK_AGAIN_MS = [15 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS];

/**
 * Processes one stored callback (queue `payments.callback`). The callback only identifies the payment to ask the provider about; the
 * answer decides (spec 03 H9). Any number of runs end in one credit.
 * @param starsPurposes what Stars pay besides top-ups
 * @param purposes what invoices pay besides the balance
 * @throws Error while the provider or the database is down: the queue runs it again
 */
export async function processCallback(
  app: App,
  { callbackId }: { callbackId: number },
  starsPurposes: readonly StarsPurpose[] = [],
  purposes: readonly PaymentPurpose[] = [],
): Promise<void> {
  const callback = await startCallback(app.db, callbackId);
  if (!callback) return;
  const result =
    callback.provider === 'messenger_stars'
      ? await processStars(app, callback, starsPurposes)
      : await processProvider(app, callback, purposes);
  const wait = result === 'pending' ? ASK_AGAIN_MS[callback.attempts - 1] : undefined;
  if (wait !== undefined) {
    await app.jobs.send('payments.callback', { callbackId }, { startAfter: addMs(app.clock.now(), wait) });
    return;
  }
  await finishCallback(app.db, callback.id, result, app.clock.now());
}

function processStars(app: App, callback: StoredCallback, purposes: readonly StarsPurpose[]): Promise<string> {
  const { update } = JSON.parse(callback.body) as { update: StarsMovement };
  return update.kind === 'stars_paid' ? creditStars(app, update, purposes) : recordStarsRefund(app, update);
}

async function processProvider(app: App, callback: StoredCallback, purposes: readonly PaymentPurpose[]): Promise<string> {
  const { provider: method, externalId, payment: known } = callback;
  const provider = app.ports.payments.byMethod(method);
  if (!provider) throw new Error(`there is no adapter for payment method ${method}`);
  const state = await askAbout(provider, externalId, known);
  if (!state) return 'rejected';
  const payment = known ?? (state.orderId === null ? null : await findByOrderId(app.db, method, state.orderId));
  if (!payment) {
    if (state.outcome === 'paid') raiseAlarm(app, { id: null, method, userId: null }, 'unknown', { externalId });
    return 'unknown_payment';
  }
  return creditSeenPayment(app, payment, state, purposes);
}

/** @returns null when neither we nor the provider know the payment: the callback is forged or misdirected */
async function askAbout(
  provider: PaymentProvider,
  externalId: string,
  known: Payment | null,
): Promise<ProviderPaymentState | null> {
  try {
    return await provider.fetchStatus(externalId);
  } catch (error) {
    if (!known && error instanceof ProviderError && error.failure === 'rejected') return null;
    throw error;
  }
}
