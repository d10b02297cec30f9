import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { committedStatement } from '../../core/db/db-errors.ts';
import { findUserByMessengerId } from '../identity/find-user.ts';
import { finishCallback, putOffCallback, type StoredCallback, startCallback } from './callback-repo.ts';
import { moneyId } from './classify-report.ts';
import { creditSeenPayment } from './credit-payment.ts';
import { postUninvoiced } from './credit-repo.ts';
import { creditStars, recordStarsRefund, type StarsMovement } from './credit-stars.ts';
import { openCase } from './open-case.ts';
import { methodName } from './payment-methods.ts';
import { topupTitle } from './payment-texts.ts';
import { type PaymentProvider, type PaymentReference, type PaymentReport, ProviderError } from './ports.ts';
import type { PaymentPurpose, StarsPurpose } from './purpose-payment.ts';
import { findByOrderId } from './repo.ts';
import { applyReversals } from './reversals.ts';
import { newOrderId } from './rules.ts';
import type { CreditResult, Payment } from './types.ts';

/** A provider may report a success before its own API shows it; these are the waits before asking again. */
const ASK_AGAIN_MS = [15 * SECOND_MS, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS];
/** The wait of a callback whose provider is being asked about enough others. */
const BUSY_MS = 3 * SECOND_MS;

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
      ? await processStars(app, callback, starsPurposes, purposes)
      : await processProvider(app, callback, purposes);
  if (result === 'busy') {
    await putOffCallback(app.db, callback.id);
    await app.jobs.send('payments.callback', { callbackId }, { startAfter: addMs(app.clock.now(), BUSY_MS) });
    return;
  }
  const wait = result === 'pending' ? ASK_AGAIN_MS[callback.attempts - 1] : undefined;
  if (wait !== undefined) {
    await app.jobs.send('payments.callback', { callbackId }, { startAfter: addMs(app.clock.now(), wait) });
    return;
  }
  await finishCallback(app.db, callback.id, result, app.clock.now());
}

function processStars(
  app: App,
  callback: StoredCallback,
  starsPurposes: readonly StarsPurpose[],
  purposes: readonly PaymentPurpose[],
): Promise<string> {
  const { update } = JSON.parse(callback.body) as { update: StarsMovement };
  return update.kind === 'stars_paid' ? creditStars(app, update, starsPurposes, purposes) : recordStarsRefund(app, update);
}

async function processProvider(app: App, callback: StoredCallback, purposes: readonly PaymentPurpose[]): Promise<string> {
  const { provider: method, externalId, orderId, payment: known } = callback;
  const provider = app.ports.payments.byMethod(method);
  if (!provider) throw new Error(`there is no adapter for payment method ${method}`);
  const said = provider.readCallback?.(callback.body, callback.subpath) ?? null;
  const reported = said && isProof(provider, said, known) ? said : null;
  if (known && !reported) {
    if (provider.callbacksNameInvoice && isOtherInvoice(callback, known)) await raiseOtherInvoice(app, callback, known);
    if (known.transactionId !== null && provider.asksAboutCredited === false) return 'already_credited';
  }
  const asked = reported
    ? { answer: reported }
    : await askWithinSlots(provider, () => askAbout(provider, { externalId, orderId }, known));
  if (!asked) return 'busy';
  const state = asked.answer;
  if (!state) return 'rejected';
  const payment = known ?? (state.orderId === null ? null : await findByOrderId(app.db, method, state.orderId));
  if (payment && !state.donor) return creditSeenPayment(app, payment, state, purposes);
  const result = state.donor
    ? await creditDonation(app, method, { ...state, donor: state.donor })
    : await raiseUnknown(app, method, state);
  await applyReversals(app, method, payment, state);
  return result;
}

/**
 * Whether what a callback says counts by itself. What is signed in part does, where the provider cannot be asked; so does what is about no
 * payment of ours, since it moves no money.
 */
function isProof(provider: PaymentProvider, said: PaymentReport, known: Payment | null): boolean {
  if (!known) return true;
  if (said.isUnconfirmed && provider.canFetchStatus) return false;
  return !provider.signsForAllMerchants || (said.externalId !== null && known.externalId !== null);
}

/** Money without an invoice is a case; a report that no money came is none. */
async function raiseUnknown(app: App, method: string, state: PaymentReport): Promise<'unknown_payment'> {
  const { externalId, orderId, chargeId = null, merchantId = null, amountKopeks, currency } = state;
  const money = moneyId({ chargeId, externalId });
  if (state.outcome === 'paid' && !state.isTest && money !== null) {
    const payment = { id: null, method, userId: null };
    const details = { externalId, orderId, merchantId };
    await openCase(app, { kind: 'unknown_payment', payment, reference: money, chargeId: money, amountKopeks, currency, details });
  }
  return 'unknown_payment';
}

/** A callback of an order of ours that names another invoice than the one that was created for it. */
function isOtherInvoice({ externalId, orderId }: StoredCallback, known: Payment): boolean {
  return orderId === known.orderId && externalId !== null && known.externalId !== null && externalId !== known.externalId;
}

/** Its own invoice still decides on the payment. One case a payment, since the id in the callback may not be signed. */
function raiseOtherInvoice(app: App, { externalId, orderId }: StoredCallback, payment: Payment): Promise<void> {
  return openCase(app, {
    kind: 'order_mismatch',
    payment,
    reference: `${payment.id}:callback`,
    details: { externalId, orderId },
  });
}

/** @returns null when neither we nor the provider know the payment, or it is not to be asked: the callback is forged or misdirected */
async function askAbout(
  provider: PaymentProvider,
  reported: PaymentReference,
  known: Payment | null,
): Promise<PaymentReport | null> {
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

/**
 * Callbacks of one provider that a process asks about at the same time. Fewer than the queue has workers, so that a provider that does not
 * answer leaves workers to the callbacks of the others.
 */
const ASKS_AT_ONCE = 3;

/** Questions under way in this process. A limit of its own load, on which nothing that must be right depends. */
const underWay = new WeakMap<PaymentProvider, number>();

/** Asks unless so many questions to the provider are under way. @returns null when they are: ask later */
async function askWithinSlots<T>(provider: PaymentProvider, ask: () => Promise<T>): Promise<{ answer: T } | null> {
  const before = underWay.get(provider) ?? 0;
  if (before >= ASKS_AT_ONCE) return null;
  underWay.set(provider, before + 1);
  try {
    return { answer: await ask() };
  } finally {
    underWay.set(provider, underWay.get(provider)! - 1);
  }
}

/** The only currency of balances. */
const CURRENCY = 'RUB';

/**
 * Credits money that came without an invoice to the person who gave it, whatever the sum, once per external id (03a section 2). There is
 * nothing to compare it with; an unknown person and another currency are cases for an administrator.
 */
export async function creditDonation(
  app: App,
  method: string,
  state: PaymentReport & Required<Pick<PaymentReport, 'donor'>>,
): Promise<CreditResult | 'unknown_payment'> {
  const { outcome, externalId, amountKopeks, currency, donor, isTest = false } = state;
  if (externalId === null) throw new Error(`a donation of ${method} has no id`);
  if (outcome !== 'paid' || isTest) return 'pending';
  const user = donor.messengerId === null ? null : await findUserByMessengerId(app, donor.messengerId);
  const facts = {
    reference: externalId,
    chargeId: externalId,
    amountKopeks,
    currency,
    details: { payerMessengerId: donor.messengerId },
  };
  const payment = { id: null, method, userId: user?.id ?? null };
  if (currency !== CURRENCY) {
    await openCase(app, { kind: 'amount_mismatch', payment, ...facts });
    return 'amount_mismatch';
  }
  const record = {
    ...{ method, orderId: newOrderId(app.random), chargeId: externalId, amountKopeks, update: state.raw },
    ...{ description: topupTitle(app, method, user?.language ?? null), now: app.clock.now() },
  };
  const result = user && (await committedStatement(app, () => postUninvoiced(app.db, user.id, record, methodName(app, method))));
  if (result === null || result === 'no_user') {
    await openCase(app, { kind: 'unknown_payment', payment: { ...payment, userId: null }, ...facts });
    return 'unknown_payment';
  }
  if (result === 'credited') app.jobs.wake(['payments.after-topup']);
  return result;
}
