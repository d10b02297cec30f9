import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { findUserById } from '../../identity/find-user.ts';
import { lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { deliverWaiting } from './deliver-purchase.ts';
import { deliverableTariff, grant } from './grant.ts';
import { isGivable, lockWithPayment } from './lock-with-payment.ts';
import { alertAdmins, notifyAdmins } from './notify-admins.ts';
import { notifyRecipient } from './notify-recipient.ts';
import { findPurchase, markFailed, markPendingActivation } from './repo.ts';
import { isCodeOnly, needsActivation } from './rules.ts';
import type { FailureReason, GuestPurchase } from './types.ts';

/**
 * Gives a paid purchase to its recipient (queue `gifts.fulfil`, spec 03 section 8.3): starts the subscription or, where that would
 * replace a running one, waits for the recipient's consent. It is delivered when the panel has given the links (H7). Any number of
 * runs, parallel or after a crash, start one subscription, because all is decided under the locks of user, subscription and purchase.
 */
export async function fulfilPurchase(app: App, { purchaseId }: { purchaseId: number }): Promise<void> {
  const seen = await findPurchase(app.db, purchaseId);
  if (seen?.status !== 'paid' || isCodeOnly(seen)) return;
  const { userId } = seen;
  await inTransaction(app, (t) => (userId === null ? fail(t, purchaseId, 'recipient_gone') : fulfil(t, seen, userId)));
  if (userId !== null) await deliverWaiting(app, { userId });
}

async function fulfil(t: App, seen: GuestPurchase, userId: number): Promise<void> {
  const purchaseId = seen.id;
  const now = t.clock.now();
  const current = await lockUserSubscription(t, userId);
  const { purchase, returned } = await lockWithPayment(t, seen);
  if (purchase?.status !== 'paid' || purchase.grantedAt !== null) return;
  // The job that follows a reversal ends the purchase; after a refused refund the next try gives it.
  if (!isGivable(returned)) return;
  // Another account's rows are locked: the job has to run again.
  if (purchase.userId !== userId) throw new Error(`purchase ${purchaseId} belongs to another account now`);
  const user = await findUserById(t, userId);
  if (current === undefined || !user) return fail(t, purchaseId, 'recipient_gone');
  if (user.status !== 'active') return fail(t, purchaseId, 'recipient_blocked');
  const tariff = await deliverableTariff(t, purchase);
  if (!tariff) return fail(t, purchaseId, 'tariff_unavailable');
  if (!needsActivation(purchase, current, now)) return grant(t, purchase, { userId, current, tariff });
  await markPendingActivation(t.db, purchaseId, now);
  await notifyRecipient(t, purchase, 'waiting', tariff.name);
  await notifyAdmins(t, purchase, 'admin_waiting', tariff.name);
}

/** Ends a paid purchase that cannot be given, and alerts the administrators to refund it (spec 03 H21). In the caller's transaction. */
export async function fail(t: App, purchaseId: number, reason: FailureReason): Promise<void> {
  if (!(await markFailed(t.db, purchaseId, ['paid', 'pending_activation'], reason, t.clock.now()))) return;
  const purchase = await findPurchase(t.db, purchaseId);
  if (purchase) await alertAdmins(t, purchase, reason);
}
