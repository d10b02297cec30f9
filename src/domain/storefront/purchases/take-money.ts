import type { App } from '../../../core/app.ts';
import { formatPrice } from '../../../core/money.ts';
import { findTariff } from '../../catalog/find-tariff.ts';
import { issueAutoLoginToken } from '../../identity/auto-login/auto-login.ts';
import { findUserById } from '../../identity/find-user.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import type { Posting } from '../../ledger/types.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, text } from '../../messaging/texts.ts';
import { periodLabel } from '../../pricing/labels.ts';
import { consumeOffer } from './consume-offer.ts';
import type { Recipient } from './recipient.ts';
import { markFailed, markPaid } from './repo.ts';
import { nextAttempt } from './rules.ts';
import type { GuestPurchase } from './types.ts';

/** Whose revenue row it is. */
export interface Payer {
  userId: number;
  language: string;
}

/**
 * Whose revenue row it is: the buyer's where that is an account, so that the money counts as spent by who spent it (spec 03 H24); else the
 * recipient's. Null when there is no such account any more.
 */
export async function payerOf(
  t: App,
  { source, buyerUserId }: Pick<GuestPurchase, 'source' | 'buyerUserId'>,
  recipient: Recipient | null,
): Promise<Payer | null> {
  const buyer = source === 'cabinet' && buyerUserId !== null ? await findUserById(t, buyerUserId) : null;
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
async function titleOf(t: App, purchase: GuestPurchase, language: string): Promise<string> {
  const tariff = purchase.tariffId === null ? null : await findTariff(t, purchase.tariffId);
  const values = { tariff_name: tariff?.name ?? '—', period: periodLabel(purchase.periodDays, language) };
  return text(language, purchase.isGift ? 'gifts.transaction_gift' : 'messages.transaction_tariff', values);
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
