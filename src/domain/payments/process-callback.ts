import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { raiseUnknownReversal } from './apply-reversals.ts';
import { finishCallback, type StoredCallback, startCallback } from './callback-repo.ts';
import { creditSeenPayment } from './credit-payment.ts';
import { creditStars, recordStarsRefund, type StarsMovement } from './credit-stars.ts';
import { openCase } from './open-case.ts';
import { type PaymentProvider, type PaymentReference, ProviderError, type ProviderPaymentState } from './ports.ts';
import type { PaymentPurpose } from './purpose-payment.ts';
import type { StarsPurpose } from './purpose-stars.ts';
import { findByOrderId } from './repo.ts';
import type { Payment } from './types.ts';

/** A provider may report a success before its own API shows it; these are the waits before asking again. */
const ASK_AGAIN_MS = [15 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS];

/**
 * Processes one stored callback (queue `payments.callback`). A callback whose whole body is signed proves its state itself; any other only
 * identifies the payment to ask the provider about, and the answer decides (spec 03 H9, 03a section 0.3). Any number of runs end in one credit.
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
  const { provider: method, externalId, orderId, payment: known } = callback;
  const provider = app.ports.payments.byMethod(method);
  if (!provider) throw new Error(`there is no adapter for payment method ${method}`);
  const reported = provider.readCallback?.(callback.body, callback.subpath, known) ?? null;
  const state = reported ?? (await askAbout(provider, { externalId, orderId }, known));
  if (!state) return 'rejected';
  const payment = known ?? (state.orderId === null ? null : await findByOrderId(app.db, method, state.orderId));
  if (payment) return creditSeenPayment(app, payment, state, purposes);
  await raiseUnknown(app, method, state);
  return 'unknown_payment';
}

/** Money without an invoice is a case; a report that no money came is none. */
async function raiseUnknown(app: App, method: string, state: ProviderPaymentState): Promise<void> {
  const { externalId, orderId, amountKopeks, currency } = state;
  if (state.outcome === 'paid' && !state.isTest) {
    const payment = { id: null, method, userId: null };
    const reference = state.chargeId ?? externalId;
    await openCase(app, {
      kind: 'unknown_payment',
      payment,
      reference,
      amountKopeks,
      currency,
      details: { externalId, orderId },
    });
  }
  for (const reversal of state.reversals ?? []) await raiseUnknownReversal(app, method, reversal, externalId);
}

/** @returns null when neither we nor the provider know the payment, or it is not to be asked: the callback is forged or misdirected */
async function askAbout(
  provider: PaymentProvider,
  reported: PaymentReference,
  known: Payment | null,
): Promise<ProviderPaymentState | null> {
  if (!provider.canFetchStatus || (!known && !provider.asksAboutUnknown)) return null;
  // What we stored comes first: of an unsigned callback only the reference to our own record is used.
  const reference = known ? { externalId: known.externalId ?? reported.externalId, orderId: known.orderId } : reported;
  try {
    return await provider.fetchStatus(reference);
  } catch (error) {
    if (!known && error instanceof ProviderError && error.failure === 'rejected') return null;
    throw error;
  }
}
