import { type Actor, actorName } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { formatPrice } from '../../../core/money.ts';
import { isRowId } from '../../../core/row-id.ts';
import { recordCommand } from '../../access/audit-log.ts';
import { findUserById } from '../../identity/find-user.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, text } from '../../messaging/texts.ts';
import { lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { purchaseNotFound } from '../purchases/errors.ts';
import { lockWithPayment } from '../purchases/fulfil-purchase.ts';
import { notifyRecipient } from '../purchases/notices.ts';
import { findPurchase, readSurroundings } from '../purchases/repo.ts';
import type { Contact, PurchaseStatus } from '../purchases/types.ts';
import { notResendable, REFUND_REFUSALS } from './errors.ts';
import { markRefunded } from './repo.ts';
import { refundObstacle } from './rules.ts';

export interface RefundedGift {
  purchaseId: number;
  userId: number;
  amountKopeks: number;
  balanceKopeks: number;
  transactionId: number;
}

/**
 * Returns the money of a paid gift that nobody has claimed to the balance of its buyer. Ledger row `refund`, state `failed` and the
 * refunded mark are one transaction under the lock of the gift: of a refund and a claim at once one succeeds, and a refunded gift can never
 * be claimed (CHECK). The row of the audit log is part of the transaction; the buyer gets a message.
 * @param reason for the audit log
 * @throws AppError 404 'Purchase not found' | 409 it is no gift, unpaid, claimed, refunded, also by the provider, or its buyer has no
 * account
 */
export async function refundGift(app: App, actor: Actor, id: number, reason: string): Promise<RefundedGift> {
  return inTransaction(app, async (t) => {
    const { before, refunded } = await refund(t, id, reason);
    const facts = { command: `gifts refund ${id}`, permission: 'gifts:refund', resourceId: String(id) };
    await recordCommand(t, actorName(actor), {
      ...facts,
      before: { status: before },
      after: { ...refunded, status: 'failed', reason },
    });
    return refunded;
  });
}

async function refund(t: App, id: number, reason: string): Promise<{ before: PurchaseStatus; refunded: RefundedGift }> {
  const seen = isRowId(id) ? await findPurchase(t.db, id) : null;
  if (!seen) throw purchaseNotFound();
  const buyer = seen.buyerUserId === null ? null : await findUserById(t, seen.buyerUserId);
  if (buyer) await lockUserSubscription(t, buyer.id);
  const { purchase: gift, returned } = await lockWithPayment(t, seen);
  if (!gift) throw purchaseNotFound();
  const obstacle = refundObstacle(gift, returned !== 'none');
  if (obstacle) throw REFUND_REFUSALS[obstacle]();
  if (!buyer || buyer.status === 'deleted' || gift.buyerUserId !== buyer.id) throw REFUND_REFUSALS.no_buyer();
  const { amountKopeks } = gift;
  const posting = await postMovement(t, {
    userId: buyer.id,
    type: 'refund',
    amountKopeks,
    contra: { kind: 'sales_revenue', product: 'gift' },
    paymentMethod: 'balance',
    // Unique: a second guard beside the mark of the gift.
    externalId: `gift-refund-${id}`,
    description: text(buyer.language, 'gifts.transaction_refund', { purchase_id: id }),
  });
  if (posting.outcome !== 'posted') throw new Error(`the refund of gift ${id} was ${posting.outcome}`);
  if (!(await markRefunded(t.db, id, posting.transactionId, reason, t.clock.now()))) {
    throw new Error(`gift ${id} changed under its lock`);
  }
  if (buyer.messengerId !== null && buyer.status === 'active') {
    const html = htmlText(buyer.language, 'gifts.refunded', { purchase_id: id, amount: formatPrice(amountKopeks, false) });
    await sendMessage(t, { messengerId: buyer.messengerId, html });
  }
  const { transactionId, balanceKopeks } = posting;
  return { before: gift.status, refunded: { purchaseId: id, userId: buyer.id, amountKopeks, balanceKopeks, transactionId } };
}

/**
 * Sends the notice of a gift to its recipient again, by mail or in the messenger, with the button or link to activate it where it waits for
 * that. A gift that is only a code has none: its buyer passes the code on.
 * @returns to whom
 * @throws AppError 404 'Purchase not found' | 409 there is no notice to send
 */
export async function resendGift(app: App, actor: Actor, id: number): Promise<Contact> {
  return inTransaction(app, async (t) => {
    const gift = isRowId(id) ? await findPurchase(t.db, id) : null;
    if (!gift?.isGift) throw purchaseNotFound();
    const isWaiting = gift.status === 'pending_activation' && gift.grantedAt === null;
    if (!gift.recipient || (!isWaiting && gift.status !== 'delivered')) throw notResendable();
    const { tariffName } = await readSurroundings(t.db, id);
    await notifyRecipient(t, gift, isWaiting ? 'waiting' : 'delivered', tariffName ?? '');
    const facts = { command: `gifts resend ${id}`, permission: 'gifts:resend', resourceId: String(id) };
    await recordCommand(t, actorName(actor), { ...facts, before: null, after: null });
    return gift.recipient;
  });
}
