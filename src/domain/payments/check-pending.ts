import type { App } from '../../core/app.ts';
import { addMs } from '../../core/clock.ts';
import { refreshPayment } from './check-payment.ts';
import { methodDefaults, SANDBOX_METHOD } from './method-defaults.ts';
import { type PaymentProvider, ProviderError } from './ports.ts';
import type { PaymentPurpose } from './purpose-payment.ts';
import { claimExpiring, claimForCheck, claimOpenDuring, expirePayments, forgetCheck } from './repo.ts';
import { PENDING_MS } from './rules.ts';
import type { Payment } from './types.ts';

const BATCH = 100;
/** Concurrent requests to one provider: enough to finish in time, below the providers' rate limits. */
const CONCURRENCY = 4;
const EXPIRE_BATCH = 1_000;
/** A provider that gave no answer so often in a row is away: the rest of its payments would only keep callbacks from asking it. */
const GIVE_UP_AFTER = 8;

/** Takes the next payments of a method, each once in a run. */
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
export interface Outage {
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
