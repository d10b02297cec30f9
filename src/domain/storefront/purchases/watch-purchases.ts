import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS } from '../../../core/clock.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isAppError } from '../../../core/errors.ts';
import { refreshPaymentOf } from '../../payments/check-payment.ts';
import { activateRequested } from './activate-purchase.ts';
import { deliverWaiting } from './deliver-purchase.ts';
import { fail, fulfilPurchase } from './fulfil-purchase.ts';
import { alertAdmins } from './notify-admins.ts';
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
  noteTrouble,
  stopTrying,
  withdrawRequest,
} from './work-repo.ts';

/** Questions to providers, and tries, of one run (spec 03 section 8.4). */
const BATCH = 10;
/** A callback has this long before the provider is asked. */
const PATIENCE_MS = 10 * MINUTE_MS;
/** Invoices ended in one run. */
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
 * Looks after guest purchases (queue `gifts.watch`, spec 03 section 8.4): asks providers about unpaid ones whose callback may be lost,
 * ends those nobody paid, tries again what could not be given, and clears credentials nobody fetched. Instances share the work; one
 * step that fails holds up no other.
 */
export async function watchPurchases(app: App): Promise<void> {
  for (const step of STEPS) {
    try {
      await step.run(app);
    } catch (error) {
      app.log.error({ err: error, step: step.name }, 'a step of the watch over guest purchases failed');
    }
  }
}

/** A paid invoice whose callback was lost counts as soon as the provider says so; a provider that is down is asked again later. */
async function askProviders(app: App): Promise<void> {
  const now = app.clock.now();
  const paymentIds = await claimUnpaid(app.db, {
    createdAfter: addMs(now, -PENDING_MS),
    createdBefore: addMs(now, -PATIENCE_MS),
    askedBefore: addMs(now, -PATIENCE_MS),
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
    app.log.warn({ err: error, paymentId }, 'the invoice of a guest purchase could not be checked');
    return false;
  }
}

/** Ends purchases nobody paid in a day (spec 03 H15); the provider has the last word before, for two days at most. */
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
      app.log.warn({ err: error, purchaseId: due.id, retryCount: due.retryCount }, 'a guest purchase could not be given');
      await noteTrouble(app.db, due.id, error instanceof Error ? error.message : String(error));
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
  } else if (!(await activateWish(app, due.id, purchase.isActivationSigned))) {
    await withdrawRequest(app.db, due.id);
  }
}

/** @returns false when a subscription runs by now that only its owner may give up (spec 03 H6, H22) */
async function activateWish(app: App, id: number, isSigned: boolean): Promise<boolean> {
  try {
    await activateRequested(app, id, isSigned);
    return true;
  } catch (error) {
    if (isAppError(error) && error.status === 401) return false;
    throw error;
  }
}

/**
 * After the last try a purchase that was never granted has failed, and a person gives the money back. One that was granted stays: its
 * subscription is written, the panel's answer still delivers it, and a refund beside that would give twice.
 */
async function giveUp(app: App, { id }: DueTry): Promise<void> {
  await inTransaction(app, async (t) => {
    const purchase = await findPurchase(t.db, id);
    if (purchase?.status !== 'paid' && purchase?.status !== 'pending_activation') return;
    if (purchase.grantedAt === null) return fail(t, id, 'retries_exhausted');
    if (await stopTrying(t.db, id, 'links_missing')) await alertAdmins(t, purchase, 'links_missing');
  });
}
