import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isAppError, rethrowUnavailable } from '../../../core/errors.ts';
import { refreshPaymentOf } from '../../payments/check-payments.ts';
import { activateRequested } from './activate-purchase.ts';
import { deliverWaiting, fail, fulfilPurchase } from './fulfil-purchase.ts';
import { alertAdmins } from './notices.ts';
import { guestPurchases } from './purpose.ts';
import { findPurchase } from './repo.ts';
import { credentialLimits, MAX_RETRIES, PENDING_MS } from './rules.ts';
import {
  claimDue,
  claimUnpaid,
  clearOldCredentials,
  type DueTry,
  listOverdue,
  markExpired,
  recordFailure,
  stopTrying,
  withdrawRequest,
} from './work-repo.ts';

/** Requests to providers, and tries, in one run (spec 03 section 8.4). */
const BATCH = 10;
/** The callback may take this long before the provider is asked. */
const CALLBACK_MS = 10 * MINUTE_MS;
/** Purchases expired in one run. */
const EXPIRE_BATCH = 100;

interface Step {
  name: string;
  run(app: App): Promise<void>;
}

const STEPS: readonly Step[] = [
  { name: 'ask', run: askProviders },
  { name: 'expire', run: expireUnpaid },
  { name: 'retry', run: retryDue },
  { name: 'credentials', run: async (app) => void (await clearOldCredentials(app.db, credentialLimits(app.clock.now()))) },
];

/**
 * Checks guest purchases (queue `gifts.watch`, spec 03 section 8.4): asks providers about unpaid ones whose callback may be lost,
 * expires old unpaid ones, retries fulfilments and activations, and deletes credentials that were not fetched. Instances claim
 * different rows; a failed step does not stop the others.
 */
export async function watchPurchases(app: App): Promise<void> {
  for (const step of STEPS) {
    try {
      await step.run(app);
    } catch (error) {
      // Any failure: of one step; the next run repeats it.
      app.log.error({ err: error, step: step.name }, 'a step of the check of guest purchases failed');
    }
  }
}

/** Credits paid invoices whose callback was lost; a provider that does not answer is asked again later. */
async function askProviders(app: App): Promise<void> {
  const now = app.clock.now();
  const paymentIds = await claimUnpaid(app.db, {
    createdAfter: addMs(now, -PENDING_MS),
    createdBefore: addMs(now, -CALLBACK_MS),
    askedBefore: addMs(now, -CALLBACK_MS),
    now,
    limit: BATCH,
  });
  for (const paymentId of paymentIds) await ask(app, paymentId);
}

/** @returns whether the provider answered */
async function ask(app: App, paymentId: number): Promise<boolean> {
  try {
    await refreshPaymentOf(app, paymentId, guestPurchases);
    return true;
  } catch (error) {
    // Any failure: the invoice is asked for again later.
    app.log.warn({ err: error, paymentId }, 'the invoice of a guest purchase could not be checked');
    return false;
  }
}

/** Expires purchases unpaid for a day (spec 03 H15), after the provider was asked; without an answer they wait a second day at most. */
async function expireUnpaid(app: App): Promise<void> {
  const now = app.clock.now();
  for (const { id, paymentId } of await listOverdue(app.db, addMs(now, -PENDING_MS), EXPIRE_BATCH)) {
    const isAnswered = paymentId === null || (await ask(app, paymentId));
    const purchase = isAnswered ? null : await findPurchase(app.db, id);
    if (purchase && purchase.createdAt > addMs(now, -2 * PENDING_MS)) continue;
    await markExpired(app.db, id, now);
  }
}

async function retryDue(app: App): Promise<void> {
  for (const due of await claimDue(app.db, app.clock.now(), BATCH)) {
    try {
      await retry(app, due);
    } catch (error) {
      rethrowUnavailable(error);
      app.log.warn({ err: error, purchaseId: due.id, retryCount: due.retryCount }, 'a try to fulfil a guest purchase failed');
      await recordFailure(app.db, due.id, error instanceof Error ? error.message : String(error));
    }
    if (due.retryCount >= MAX_RETRIES) await giveUp(app, due);
  }
}

async function retry(app: App, due: DueTry): Promise<void> {
  const purchase = await findPurchase(app.db, due.id);
  if (!purchase) return;
  if (due.isGranted) {
    if (purchase.userId !== null) await deliverWaiting(app, { userId: purchase.userId });
  } else if (due.status === 'paid') {
    await fulfilPurchase(app, { purchaseId: due.id });
  } else if (!(await activateIfAllowed(app, due.id, purchase.isActivationSigned))) {
    await withdrawRequest(app.db, due.id);
  }
}

/** @returns false when a subscription runs by now that may be replaced only with its owner's consent (spec 03 H6, H22) */
async function activateIfAllowed(app: App, id: number, isSigned: boolean): Promise<boolean> {
  try {
    await activateRequested(app, id, isSigned);
    return true;
  } catch (error) {
    if (isAppError(error) && error.status === 401) return false;
    throw error;
  }
}

/**
 * After the last try a purchase that was not granted has failed and has to be refunded by hand. A granted one stays: its
 * subscription is written and the panel's answer still delivers it, so a refund would give twice.
 */
async function giveUp(app: App, { id }: DueTry): Promise<void> {
  await inTransaction(app, async (t) => {
    const purchase = await findPurchase(t.db, id);
    if (purchase?.status !== 'paid' && purchase?.status !== 'pending_activation') return;
    if (purchase.grantedAt === null) return fail(t, id, 'retries_exhausted');
    if (await stopTrying(t.db, id, 'links_missing')) await alertAdmins(t, purchase, 'links_missing');
  });
}
