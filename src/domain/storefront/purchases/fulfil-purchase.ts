import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { formatPrice } from '../../../core/money.ts';
import { findTariff, lockTariff } from '../../catalog/find-tariff.ts';
import type { Tariff } from '../../catalog/types.ts';
import { issueAutoLoginToken } from '../../identity/auto-login/auto-login.ts';
import { findUserById } from '../../identity/find-user.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import type { Posting } from '../../ledger/types.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, text } from '../../messaging/texts.ts';
import { lockReturnedMoney, type ReturnedMoney } from '../../payments/reversals.ts';
import { periodLabel } from '../../pricing/periods.ts';
import { deliverTariff } from '../../subscriptions/grant-subscription.ts';
import { lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import type { Subscription } from '../../subscriptions/types.ts';
import { periodPrice } from '../landings/rules.ts';
import { alertAdmins, notifyAdmins, notifyRecipient } from './notices.ts';
import type { Recipient } from './recipient.ts';
import {
  type DeliveryTarget,
  deliverGranted,
  findPurchase,
  hasDeliverable,
  lockPurchase,
  markFailed,
  markGranted,
  markPaid,
  markPendingActivation,
  readSurroundings,
} from './repo.ts';
import { isCodeOnly, needsActivation, nextAttempt } from './rules.ts';
import type { FailureReason, GuestPurchase } from './types.ts';

/**
 * Delivers a paid purchase to its recipient (queue `gifts.fulfil`, spec 03 section 8.3): starts the subscription or, where that would
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

/**
 * Delivers the granted purchases of a user or of a subscription, if the panel has given the links by now (spec 03 H7): state, links,
 * notices and mails in one transaction, once. It is called after each push of a subscription, and by the job `gifts.watch` in case
 * that call was lost.
 * @returns the number of purchases that this call delivered
 */
export async function deliverWaiting(app: App, by: DeliveryTarget): Promise<number> {
  if (!(await hasDeliverable(app.db, by))) return 0;
  return inTransaction(app, async (t) => {
    const delivered = await deliverGranted(t.db, by, t.clock.now());
    for (const purchase of delivered) {
      const tariffName = (await readSurroundings(t.db, purchase.id)).tariffName ?? '';
      await notifyRecipient(t, purchase, 'delivered', tariffName);
      await notifyAdmins(t, purchase, 'admin_delivered', tariffName);
    }
    return delivered.length;
  });
}

/** The tariff of a purchase, locked for share, if it is still sold for that period (spec 03 section 8.3); null = it cannot be given. */
export async function deliverableTariff(t: App, { order }: GuestPurchase): Promise<Tariff | null> {
  const tariff = order.tariffId === null ? null : await lockTariff(t, order.tariffId);
  return tariff && periodPrice(tariff, order.periodDays) !== null ? tariff : null;
}

/**
 * Writes the subscription of a locked purchase, once, because the mark is part of the same transaction. The panel's link follows later.
 * @param current the recipient's subscription, locked; it is replaced
 */
export async function grant(
  t: App,
  purchase: GuestPurchase,
  { userId, current, tariff }: { userId: number; current: Subscription | null; tariff: Tariff },
): Promise<void> {
  if (!(await markGranted(t.db, purchase.id, t.clock.now()))) throw new Error(`purchase ${purchase.id} was granted before`);
  await deliverTariff(t, userId, current, {
    tariff,
    order: purchase.order,
    amountKopeks: purchase.amountKopeks,
    // A row of the feed names movements of its own user only; a gift from the cabinet was paid by its buyer.
    transactionId: purchase.order.kind === 'gift' ? null : purchase.transactionId,
    paymentMethod: purchase.paymentMethod,
    isGift: purchase.isGift,
  });
}

/** Whose revenue row it is. */
interface Payer {
  userId: number;
  language: string;
}

/**
 * Whose revenue row it is: the buyer's where that is an account, so that the money counts as spent by who spent it (spec 03 H24); else the
 * recipient's. Null when there is no such account any more.
 */
export async function payerOf(
  t: App,
  { order, buyerUserId }: Pick<GuestPurchase, 'order' | 'buyerUserId'>,
  recipient: Recipient | null,
): Promise<Payer | null> {
  const buyer = order.kind === 'gift' && buyerUserId !== null ? await findUserById(t, buyerUserId) : null;
  return buyer ? { userId: buyer.id, language: buyer.language } : recipient;
}

/**
 * Posts the one revenue row of a locked purchase (spec 03 H24) and uses up the discount that lowered its price (H14); its money went to the
 * provider, not through a wallet. The payer is locked.
 * @param charge the provider's id of the money, unique by method
 * @throws OfferGoneError
 */
export async function postRevenue(
  t: App,
  purchase: GuestPurchase,
  { userId, language }: Payer,
  charge: { method: string; externalId: string },
): Promise<Extract<Posting, { transactionId: number }>> {
  await consumeOffer(t, purchase, 'provider');
  const posting = await postMovement(t, {
    userId,
    type: 'subscription_payment',
    amountKopeks: -purchase.amountKopeks,
    contra: { kind: 'sales_revenue', product: purchase.isGift ? 'gift' : 'tariff' },
    paymentMethod: charge.method,
    externalId: charge.externalId,
    description: await titleOf(t, purchase, language),
    paidThroughProvider: charge.method,
  });
  if (posting.outcome === 'posted' || posting.outcome === 'duplicate') return posting;
  throw new Error(`a revenue row was ${posting.outcome}`);
}

/** Its description in the payer's list of transactions. */
async function titleOf(t: App, { order, isGift }: GuestPurchase, language: string): Promise<string> {
  const tariff = order.tariffId === null ? null : await findTariff(t, order.tariffId);
  const values = { tariff_name: tariff?.name ?? '—', period: periodLabel(order.periodDays, language) };
  return text(language, isGift ? 'gifts.transaction_gift' : 'messages.transaction_tariff', values);
}

/**
 * Marks a purchase paid and sends the job that gives it, in the transaction that posted its revenue row. A gift that is only a code rests
 * until it is activated.
 */
export async function recordPaid(
  t: App,
  purchase: GuestPurchase,
  { recipient, transactionId }: { recipient: Recipient | null; transactionId: number },
): Promise<void> {
  const now = t.clock.now();
  const { userId = null, isNew = false, password = null } = recipient ?? {};
  const wasUnpaid = await markPaid(t.db, {
    id: purchase.id,
    userId,
    transactionId,
    accountCreated: isNew,
    cabinetPassword: password,
    // Only the buyer's own new account gets a link that signs in.
    autoLoginToken: userId !== null && password !== null && !purchase.isGift ? await issueAutoLoginToken(t, userId) : null,
    nextAttemptAt: recipient && nextAttempt(0, now),
    now,
  });
  if (!wasUnpaid) throw new Error(`purchase ${purchase.id} was paid without its invoice`);
  if (recipient) await t.jobs.send('gifts.fulfil', { purchaseId: purchase.id });
  if (purchase.paymentId !== null && t.settings.get('NALOGO_ENABLED')) {
    await t.jobs.send('receipts.queue', { paymentId: purchase.paymentId });
  }
}

/** Ends a purchase whose discount is gone and whose money is on a balance now, and tells the one who got it. In the caller's transaction. */
export async function endWithoutOffer(
  t: App,
  purchaseId: number,
  credited: { userId: number; amountKopeks: number },
): Promise<void> {
  await markFailed(t.db, purchaseId, ['pending', 'expired', 'failed'], 'offer_gone', t.clock.now());
  const user = await findUserById(t, credited.userId);
  if (user?.status !== 'active' || user.messengerId === null) return;
  const html = htmlText(user.language, 'gifts.offer_gone', { amount: formatPrice(credited.amountKopeks, false) });
  await sendMessage(t, { messengerId: user.messengerId, html });
}

/** The discount that lowered the price of an invoice was used up, or ended, before the money came (spec 10 M3). Rolls the sale back. */
export class OfferGoneError extends Error {
  constructor(purchaseId: number) {
    super(`the discount of purchase ${purchaseId} is gone`);
  }
}

/**
 * Uses up the personal discount that lowered the price of a purchase, when its money has come (spec 03 H14), under the locks of buyer and
 * purchase; nothing for a purchase without one. A discount is used once, by whoever pays first (prisma/sql/offer-reservations.sql).
 * @param way how the money came; the log of promo offers names it (spec 04 section 9.1)
 * @throws OfferGoneError when the buyer has it no more
 */
export async function consumeOffer(
  t: App,
  { id, promoOfferPercent, amountKopeks }: Pick<GuestPurchase, 'id' | 'promoOfferPercent' | 'amountKopeks'>,
  way: 'balance' | 'provider',
): Promise<void> {
  if (promoOfferPercent === null) return;
  const [action, reason] = way === 'balance' ? ['consumed', 'manual_charge'] : ['consumed_external_payment', 'external_payment'];
  const details = JSON.stringify({ reason, description: `gift ${id}`, amount_kopeks: amountKopeks });
  const [row] = await t.db.sql<{ isUsed: boolean }>('SELECT use_offer($1::int, $2, $3::jsonb, $4::timestamptz) AS is_used', [
    ...[id, action, details, t.clock.now()],
  ]);
  if (!row!.isUsed) throw new OfferGoneError(id);
}

/**
 * Locks a purchase and, before it, its payment, so that its money is not given back at the same time. After the rows of user and
 * subscription (spec 00, lock order).
 * @returns `returned`: what the payer has back; `none` also for what was paid from a balance
 */
export async function lockWithPayment(
  t: App,
  { id, paymentId }: Pick<GuestPurchase, 'id' | 'paymentId'>,
): Promise<{ purchase: GuestPurchase | null; returned: ReturnedMoney }> {
  const returned = paymentId === null ? 'none' : await lockReturnedMoney(t, paymentId);
  return { purchase: await lockPurchase(t.db, id), returned };
}

/** Whether a purchase may be given: the payer has not got the money back, and no refund is under way. A part is no obstacle. */
export const isGivable = (returned: ReturnedMoney) => returned === 'none' || returned === 'part';

/** Writes the tax receipt of the purchase that a payment paid for, or that it has none any more (null). Without a purchase nothing happens. */
export async function recordPurchaseReceipt(t: Pick<App, 'db'>, paymentId: number, uuid: string | null): Promise<void> {
  await t.db.prisma.guestPurchase.updateMany({ where: { paymentId }, data: { receiptUuid: uuid } });
}
