import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addMs } from '../../core/clock.ts';
import type { Db } from '../../core/db/db.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { limitOrRefuse } from '../../core/rate-limit.ts';
import { writeStateIfChanged } from '../../core/service-state.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, text } from '../messaging/texts.ts';
import { creditSeenPayment } from './credit-payment.ts';
import { type Payer, requireMyPayment, viewPayment } from './list-payments.ts';
import { isMethodConfigured, METHODS, methodDefaults, methodName, SANDBOX_METHOD } from './payment-methods.ts';
import { type PaymentProvider, ProviderError } from './ports.ts';
import type { PaymentPurpose } from './purpose-payment.ts';
import { claimExpiring, claimForCheck, claimOpenDuring, expirePayments, findPayment, forgetCheck } from './repo.ts';
import { isCheckable, PENDING_MS, shownStatus } from './rules.ts';
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

const BATCH = 100;
/** Concurrent requests to one provider: enough to finish in time, below the providers' rate limits. */
const CONCURRENCY = 4;
const EXPIRE_BATCH = 1_000;
/** A provider that gave no answer so often in a row is away: the rest of its payments would only keep callbacks from asking it. */
const GIVE_UP_AFTER = 8;

/** Claims the next payments of a method, each once in a run. */
type Claim = (method: string) => Promise<Payment[]>;

/**
 * The background check (queue `payments.check-pending`, spec 03 section 4.3): asks providers about payments of the last 24 h, if
 * `PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED`; asks, whatever that setting is, for each open invoice once when it expires (spec 10 F2); then
 * expires payments older than 24 h (spec 03 H15). Any number of instances may run it: they take different payments, and each payment is credited
 * once. An error skips its payment.
 */
export async function checkPendingPayments(app: App, purposes: readonly PaymentPurpose[] = []): Promise<void> {
  const startedAt = app.clock.now();
  if (app.settings.get('PAYMENT_VERIFICATION_AUTO_CHECK_ENABLED')) {
    const claim: Claim = (method) => claimForCheck(app.db, method, addMs(startedAt, -PENDING_MS), startedAt, BATCH);
    await askProviders(app, isPolled, claim, []);
  }
  await askProviders(
    app,
    () => true,
    (method) => claimExpiring(app.db, method, startedAt, BATCH),
    purposes,
  );
  await expirePendingPayments(app);
}

/** A time in which callbacks may have been lost. */
interface Outage {
  from: Date;
  to: Date;
}

/**
 * Asks providers for the invoices that were open during an outage of ours (queue `payments.check-after-outage`, spec 10 F2), each once and
 * whatever the settings are.
 * @throws ProviderError when a provider did not answer: the next try asks for what is left
 */
export async function checkAfterOutage(app: App, { from, to }: Outage, purposes: readonly PaymentPurpose[]): Promise<void> {
  const now = app.clock.now();
  const during = { from: addMs(from, -PENDING_MS), to };
  const unanswered = await askProviders(
    app,
    () => true,
    (method) => claimOpenDuring(app.db, method, during, now, BATCH),
    purposes,
  );
  if (unanswered > 0)
    throw new ProviderError('outage', 'unavailable', `${unanswered} payments of an outage could not be asked for`);
}

/** Also while the provider is switched off: what was to be paid then may still be paid. */
function isPolled(provider: PaymentProvider): boolean {
  return (methodDefaults(provider.method) ?? SANDBOX_METHOD).isPolled;
}

const canBeAsked = (provider: PaymentProvider) => provider.canFetchStatus && provider.hasCredentials();

/** @returns how many payments a provider gave no answer about; they count as not asked */
async function askProviders(
  app: App,
  isMeant: (provider: PaymentProvider) => boolean,
  claim: Claim,
  purposes: readonly PaymentPurpose[],
): Promise<number> {
  const providers = app.ports.payments.all().filter((provider) => canBeAsked(provider) && isMeant(provider));
  const unanswered = (await Promise.all(providers.map(({ method }) => askAll(app, method, claim, purposes)))).flat();
  await forgetCheck(app.db, unanswered);
  return unanswered.length;
}

/** @returns ids of payments that the provider gave no answer about */
async function askAll(app: App, method: string, claim: Claim, purposes: readonly PaymentPurpose[]): Promise<number[]> {
  const unanswered: number[] = [];
  let inARow = 0;
  for (;;) {
    const payments = await claim(method);
    const waiting = [...payments];
    const worker = async (): Promise<void> => {
      for (let payment = waiting.shift(); payment; payment = waiting.shift()) {
        const isAsked = inARow < GIVE_UP_AFTER;
        if (isAsked && (await isAnswered(app, payment, purposes))) {
          inARow = 0;
          continue;
        }
        if (isAsked) inARow += 1;
        unanswered.push(payment.id);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    if (payments.length < BATCH || inARow >= GIVE_UP_AFTER) return unanswered;
  }
}

async function isAnswered(app: App, payment: Payment, purposes: readonly PaymentPurpose[]): Promise<boolean> {
  try {
    await refreshPayment(app, payment, purposes);
    return true;
  } catch (error) {
    // Any failure: of one payment; it counts as not asked, unless the provider does not know it.
    app.log.warn({ err: error, paymentId: payment.id, method: payment.method }, 'a pending payment could not be checked');
    return error instanceof ProviderError && error.failure !== 'unavailable';
  }
}

/**
 * Expires payments that were not paid within 24 h; a later success is still credited (spec 03 H15). One whose provider could not be asked
 * at its expiry waits a second day at most.
 */
async function expirePendingPayments(app: App): Promise<void> {
  const now = app.clock.now();
  const askable = app.ports.payments
    .all()
    .filter(canBeAsked)
    .map(({ method }) => method);
  const old = { createdBefore: addMs(now, -PENDING_MS), unaskedBefore: addMs(now, -2 * PENDING_MS), askable };
  while ((await expirePayments(app.db, old, now, EXPIRE_BATCH)) === EXPIRE_BATCH);
}

/**
 * Tells the administrators' chat, once for each provider, that no public document confirms the interface of a provider that is in use (03a
 * section 11; queue `payments.notify-unconfirmed`). Without a chat it is reported when there is one; the sandbox's fake is no provider in
 * use.
 */
export async function notifyUnconfirmed(app: App): Promise<void> {
  for (const method of METHODS) {
    const isFake = app.env.sandboxProviders.includes(method.id);
    if (!method.isUnconfirmed || isFake || !isMethodConfigured(app, method)) continue;
    await inTransaction(app, async (t) => {
      const chat = adminChat(t, 'ADMIN_NOTIFICATIONS_ERRORS_TOPIC_ID');
      if (chat === null || !(await writeStateIfChanged(t.db, `payments:unconfirmed:${method.id}`, { isNotified: true }))) return;
      const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'payments.provider_unconfirmed', {
        method: methodName(t, method.id),
      });
      await sendMessage(t, { ...chat, html });
    });
  }
}

/**
 * Marks invoices as asked, so that no other instance asks their providers now.
 * @param chosen a query of payment ids that locks them; its parameters begin at `$2`
 * @returns ids of the marked invoices
 */
export async function claimInvoices(db: Db, chosen: { sql: string; values: readonly unknown[] }, now: Date): Promise<number[]> {
  const rows = await db.sql<{ id: number }>(
    `UPDATE payments SET last_checked_at = $1::timestamptz WHERE id IN (${chosen.sql}) RETURNING id`,
    [now, ...chosen.values],
  );
  return rows.map((row) => row.id);
}
