import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { findTariff } from '../../catalog/find-tariff.ts';
import { issueAutoLoginToken } from '../../identity/auto-login/auto-login.ts';
import { postMovement } from '../../ledger/post-movement.ts';
import { text } from '../../messaging/texts.ts';
import { openCase } from '../../payments/open-case.ts';
import type { ProviderPaymentState } from '../../payments/ports.ts';
import {
  completePayment,
  isMovementTaken,
  lockForSettling,
  movementId,
  type PaymentPurpose,
  uncreditedResult,
} from '../../payments/purpose-payment.ts';
import type { CreditResult, Payment } from '../../payments/types.ts';
import { periodLabel } from '../../pricing/labels.ts';
import { lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { alertAdmins } from './notify-admins.ts';
import { openRecipient, type PreparedRecipient, prepareRecipient, type Recipient } from './recipient.ts';
import { findByPayment, lockPurchase, markFailed, markPaid } from './repo.ts';
import { GUEST_PURCHASE, nextAttempt, recipientOf } from './rules.ts';
import type { GuestPurchase } from './types.ts';

/** Invoices that pay for guest purchases (spec 03 sections 2.2 and 8.2). */
export const guestPurchases: PaymentPurpose = {
  purpose: GUEST_PURCHASE,

  /**
   * Takes the money: paid invoice, the recipient's account, the one revenue row (spec 03 H24), paid purchase and the job that fulfils it are one
   * transaction; after a crash the provider repeats its callback. A purchase that expired or was marked failed still counts (spec 03
   * H15).
   */
  async settle(app, payment, state): Promise<CreditResult | 'changed'> {
    const seen = await findByPayment(app.db, payment.id);
    const contact = seen && recipientOf(seen);
    if (!seen || !contact) return raiseNoPurchase(app, payment, state);
    const prepared = await prepareRecipient(app, contact);
    return inTransaction(app, (t) => takeMoney(t, seen, prepared, payment, state));
  },

  async recordMismatch(t, payment) {
    const purchase = await findByPayment(t.db, payment.id);
    if (!purchase || !(await markFailed(t.db, purchase.id, ['pending', 'expired'], 'amount_mismatch', t.clock.now()))) return;
    await alertAdmins(t, purchase, 'amount_mismatch');
  },
};

/** Money for a purchase that does not exist: it stays with the invoice, and an administrator decides. */
async function raiseNoPurchase(
  app: App,
  payment: Payment,
  { amountKopeks, currency }: ProviderPaymentState,
): Promise<CreditResult> {
  await openCase(app, { kind: 'no_purchase', payment, amountKopeks, currency });
  return 'no_user';
}

async function takeMoney(
  t: App,
  seen: GuestPurchase,
  prepared: PreparedRecipient,
  seenPayment: Payment,
  state: ProviderPaymentState,
): Promise<CreditResult | 'changed'> {
  const recipient = await openRecipient(t, prepared, seen.language);
  await lockUserSubscription(t, recipient.userId);
  const { verdict, payment } = await lockForSettling(t, seenPayment.id, state);
  if (verdict !== 'credit') return uncreditedResult(verdict);
  const purchase = await lockPurchase(t.db, seen.id);
  if (!purchase) return raiseNoPurchase(t, payment, state);
  if (purchase.amountKopeks !== payment.amountKopeks) throw new Error(`purchase ${purchase.id} and its invoice differ in amount`);

  const { userId } = recipient;
  const posting = await postMovement(t, {
    userId,
    type: 'subscription_payment',
    amountKopeks: -purchase.amountKopeks,
    contra: { kind: 'sales_revenue', product: purchase.isGift ? 'gift' : 'tariff' },
    paymentMethod: payment.method,
    externalId: movementId(payment, state),
    description: await titleOf(t, purchase, recipient.language),
    paidThroughProvider: payment.method,
  });
  if (posting.outcome === 'no_user' || posting.outcome === 'insufficient')
    throw new Error(`a revenue row was ${posting.outcome}`);
  if (posting.outcome === 'duplicate' && (await isMovementTaken(t, posting.transactionId, userId))) {
    const { amountKopeks, currency } = state;
    await openCase(t, {
      kind: 'order_mismatch',
      payment,
      amountKopeks,
      currency,
      details: { transactionId: posting.transactionId },
    });
    return 'order_mismatch';
  }
  await completePayment(t, payment, state, posting.transactionId);
  await writePaid(t, purchase, recipient, posting.transactionId);
  return 'credited';
}

/** Its description in the recipient's list of transactions. */
async function titleOf(t: App, purchase: GuestPurchase, language: string): Promise<string> {
  const tariff = purchase.tariffId === null ? null : await findTariff(t, purchase.tariffId);
  const values = { tariff_name: tariff?.name ?? '—', period: periodLabel(purchase.periodDays, language) };
  return text(language, purchase.isGift ? 'gifts.transaction_gift' : 'messages.transaction_tariff', values);
}

async function writePaid(t: App, purchase: GuestPurchase, recipient: Recipient, transactionId: number): Promise<void> {
  const now = t.clock.now();
  const { userId, isNew, password } = recipient;
  const wasUnpaid = await markPaid(t.db, {
    id: purchase.id,
    userId,
    transactionId,
    accountCreated: isNew,
    cabinetPassword: password,
    // Only the buyer's own new account gets a link that signs in.
    autoLoginToken: password !== null && !purchase.isGift ? await issueAutoLoginToken(t, userId) : null,
    nextAttemptAt: nextAttempt(0, now),
    now,
  });
  if (!wasUnpaid) throw new Error(`purchase ${purchase.id} was paid without its invoice`);
  await t.jobs.send('gifts.fulfil', { purchaseId: purchase.id });
  if (purchase.paymentId !== null && t.settings.get('NALOGO_ENABLED'))
    await t.jobs.send('receipts.queue', { paymentId: purchase.paymentId });
}
