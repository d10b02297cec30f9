import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS } from '../../../core/clock.ts';
import type { Rows } from '../../../core/db/columns.ts';
import type { Db } from '../../../core/db/db.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isAppError, rethrowUnavailable } from '../../../core/errors.ts';
import { claimInvoices, refreshPaymentOf } from '../../payments/check-payments.ts';
import { activateRequested } from './activate-purchase.ts';
import { deliverWaiting, fail, fulfilPurchase } from './fulfil-purchase.ts';
import { alertAdmins } from './notices.ts';
import { guestPurchases } from './purpose.ts';
import { findPurchase } from './repo.ts';
import { credentialLimits, MAX_RETRIES, PENDING_MS } from './rules.ts';

/** Requests to providers, and tries, in one run. */
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

/** Queries of the jobs of guest purchases; every condition has an index of its own. */

/** Unpaid purchases created before a given time, oldest first. */
function listOverdue(db: Db, createdBefore: Date, limit: number): Promise<Pick<Rows['GuestPurchase'], 'id' | 'paymentId'>[]> {
  return db.prisma.guestPurchase.findMany({
    where: { status: 'pending', createdAt: { lt: createdBefore } },
    select: { id: true, paymentId: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
    take: limit,
  });
}

/** Expires an unpaid purchase; one that was paid meanwhile stays as it is. @returns whether it did */
async function markExpired(db: Db, id: number, now: Date): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET status = 'expired', updated_at = $2::timestamptz WHERE id = $1::int AND status = 'pending' RETURNING id`,
    [id, now],
  );
  return rows.length > 0;
}

/**
 * Claims invoices of unpaid purchases whose provider should be asked, longest unasked first; instances claim different ones.
 * @returns payment ids
 */
function claimUnpaid(
  db: Db,
  range: { createdAfter: Date; createdBefore: Date; askedBefore: Date; now: Date; limit: number },
): Promise<number[]> {
  const sql = `SELECT y.id FROM guest_purchases p JOIN payments y ON y.id = p.payment_id
    WHERE p.status = 'pending' AND p.created_at BETWEEN $2::timestamptz AND $3::timestamptz AND y.external_id IS NOT NULL
      AND (y.last_checked_at IS NULL OR y.last_checked_at < $4::timestamptz)
    ORDER BY y.last_checked_at NULLS FIRST, p.created_at, p.id LIMIT $5::int FOR UPDATE OF y SKIP LOCKED`;
  const values = [range.createdAfter, range.createdBefore, range.askedBefore, range.limit];
  return claimInvoices(db, { sql, values }, range.now);
}

/** A purchase that a job has claimed for its next try; `retryCount` includes this one. */
interface DueTry {
  id: number;
  status: 'paid' | 'pending_activation';
  isGranted: boolean;
  retryCount: number;
}

/**
 * Claims purchases whose next try is due and postpones the one after it, so that no other instance claims them too. Of those that
 * wait for an activation only the requested ones are claimed (spec 03 H6).
 */
async function claimDue(db: Db, now: Date, limit: number): Promise<DueTry[]> {
  return db.sql<DueTry>(
    `UPDATE guest_purchases SET retry_count = retry_count + 1, updated_at = $1::timestamptz,
       next_attempt_at = $1::timestamptz + least(60, 5 * power(2, least(retry_count + 1, 10))) * interval '1 minute'
     WHERE id = ANY(ARRAY(SELECT id FROM guest_purchases
       WHERE next_attempt_at <= $1::timestamptz
         AND (status = 'paid' OR (status = 'pending_activation' AND activation_requested_at IS NOT NULL))
       ORDER BY next_attempt_at, id LIMIT $2::int FOR UPDATE SKIP LOCKED))
     RETURNING id, status, granted_at IS NOT NULL AS is_granted, retry_count`,
    [now, limit],
  );
}

/** Withdraws a request that may not be carried out: the recipient has to sign in and ask again. */
async function withdrawRequest(db: Db, id: number): Promise<void> {
  await db.sql(
    `UPDATE guest_purchases SET activation_requested_at = NULL, next_attempt_at = NULL, retry_count = 0
     WHERE id = $1::int AND status = 'pending_activation' AND granted_at IS NULL AND NOT is_activation_signed RETURNING id`,
    [id],
  );
}

/** Records why a try failed. */
async function recordFailure(db: Db, id: number, reason: string): Promise<void> {
  await db.prisma.guestPurchase.updateMany({ where: { id }, data: { lastError: reason.slice(0, 500) } });
}

/** Stops the job's tries; the panel's answer still delivers. @returns false when they had been stopped before */
async function stopTrying(db: Db, id: number, reason: string): Promise<boolean> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET next_attempt_at = NULL, last_error = $2 WHERE id = $1::int AND next_attempt_at IS NOT NULL
       AND status IN ('paid', 'pending_activation') RETURNING id`,
    [id, reason.slice(0, 500)],
  );
  return rows.length > 0;
}

/** Deletes credentials that were not fetched in time. @returns the number of purchases */
async function clearOldCredentials(db: Db, limits: { deliveredBefore: Date; paidBefore: Date }): Promise<number> {
  const rows = await db.sql(
    `UPDATE guest_purchases SET cabinet_password = NULL, auto_login_token = NULL
     WHERE (cabinet_password IS NOT NULL OR auto_login_token IS NOT NULL)
       AND (delivered_at < $1::timestamptz OR (delivered_at IS NULL AND paid_at < $2::timestamptz)) RETURNING id`,
    [limits.deliveredBefore, limits.paidBefore],
  );
  return rows.length;
}
