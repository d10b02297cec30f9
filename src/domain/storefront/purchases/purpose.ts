import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { findUserById } from '../../identity/find-user.ts';
import { moneyId } from '../../payments/classify-report.ts';
import { openCase } from '../../payments/open-case.ts';
import type { PaymentReport } from '../../payments/ports.ts';
import {
  completePayment,
  isMovementTaken,
  lockForSettling,
  movementId,
  type PaymentPurpose,
  uncreditedResult,
} from '../../payments/purpose-payment.ts';
import { creditThroughCase } from '../../payments/resolve-case.ts';
import type { CreditResult, Payment } from '../../payments/types.ts';
import { lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { endWithoutOffer, OfferGoneError, payerOf, postRevenue, recordPaid } from './fulfil-purchase.ts';
import { alertAdmins } from './notices.ts';
import { openRecipient, type PreparedRecipient, prepareRecipient } from './recipient.ts';
import { findByPayment, lockPurchase, markFailed } from './repo.ts';
import { GUEST_PURCHASE, isCodeOnly, recipientOf } from './rules.ts';
import type { GuestPurchase } from './types.ts';

/** Invoices that pay for guest purchases (spec 03 sections 2.2 and 8.2). */
export const guestPurchases: PaymentPurpose = {
  purpose: GUEST_PURCHASE,

  /**
   * Accepts the money: paid invoice, the recipient's account, the one revenue row (spec 03 H24), paid purchase, the used-up discount and the
   * job that fulfils it are one transaction; after a crash the provider repeats its callback. A purchase that expired or was marked failed
   * still counts (spec 03 H15). A gift that is only a code has no recipient yet and is not fulfilled. Where the discount of the invoice is
   * gone, the money goes to the balance of the buyer instead (spec 10 M3).
   */
  async settle(app, payment, state): Promise<CreditResult | 'changed'> {
    const seen = await findByPayment(app.db, payment.id);
    const contact = seen && recipientOf(seen);
    if (!seen || (!contact && !isCodeOnly(seen))) return raiseNoPurchase(app, payment, state);
    const prepared = contact && (await prepareRecipient(app, contact));
    try {
      return await inTransaction(app, (t) => takeMoney(t, seen, prepared, payment, state));
    } catch (error) {
      if (!(error instanceof OfferGoneError)) throw error;
      return inTransaction(app, (t) => creditInstead(t, seen, payment, state));
    }
  },

  async recordMismatch(t, payment) {
    const purchase = await findByPayment(t.db, payment.id);
    if (!purchase || !(await markFailed(t.db, purchase.id, ['pending', 'expired'], 'amount_mismatch', t.clock.now()))) return;
    await alertAdmins(t, purchase, 'amount_mismatch');
  },

  async reverse(t, paymentId, isWhole) {
    const purchase = await findByPayment(t.db, paymentId);
    if (!purchase || purchase.refundTransactionId !== null) return null;
    if (purchase.grantedAt !== null) return purchase.userId;
    if (isWhole) await markFailed(t.db, purchase.id, ['paid', 'pending_activation'], 'payment_reversed', t.clock.now());
    return null;
  },
};

/** Money for a purchase that does not exist: it stays with the invoice, and an administrator decides. */
async function raiseNoPurchase(app: App, payment: Payment, state: PaymentReport): Promise<CreditResult> {
  await openCase(app, { kind: 'no_purchase', payment, ...moneyOf(state) });
  return 'no_user';
}

/** The buyer has deleted the account, and nobody else is named: an administrator decides. */
async function raiseNoPayer(app: App, payment: Payment, state: PaymentReport): Promise<CreditResult> {
  await openCase(app, { kind: 'no_user', payment, ...moneyOf(state) });
  return 'no_user';
}

/** What a case says of the money, so that another charge is another case and reports that it went back find it. */
function moneyOf({ amountKopeks, currency, chargeId = null, externalId }: PaymentReport) {
  return { amountKopeks, currency, chargeId: moneyId({ chargeId, externalId }), details: { chargeId } };
}

async function takeMoney(
  t: App,
  seen: GuestPurchase,
  prepared: PreparedRecipient | null,
  seenPayment: Payment,
  state: PaymentReport,
): Promise<CreditResult | 'changed'> {
  const recipient = prepared && (await openRecipient(t, prepared, seen.language));
  const payer = await payerOf(t, seen, recipient);
  if (payer === null) return raiseNoPayer(t, seenPayment, state);
  const { userId } = payer;
  await lockUserSubscription(t, userId);
  const { verdict, payment } = await lockForSettling(t, seenPayment.id, state);
  if (verdict !== 'credit') return uncreditedResult(verdict);
  const purchase = await lockPurchase(t.db, seen.id);
  if (!purchase) return raiseNoPurchase(t, payment, state);
  if (purchase.amountKopeks !== payment.amountKopeks) throw new Error(`purchase ${purchase.id} and its invoice differ in amount`);

  const posting = await postRevenue(t, purchase, payer, { method: payment.method, externalId: movementId(payment, state) });
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
  await recordPaid(t, purchase, { recipient, transactionId: posting.transactionId });
  return 'credited';
}

/**
 * Credits the balance of the buyer with what was paid for an invoice whose discount is gone, once, with a case that says why. Without an
 * account the case waits for an administrator.
 */
async function creditInstead(
  t: App,
  seen: GuestPurchase,
  seenPayment: Payment,
  state: PaymentReport,
): Promise<CreditResult | 'changed'> {
  const buyer = seen.buyerUserId === null ? null : await findUserById(t, seen.buyerUserId);
  if (buyer) await lockUserSubscription(t, buyer.id);
  const { verdict, payment } = await lockForSettling(t, seenPayment.id, state);
  if (verdict !== 'credit') return uncreditedResult(verdict);
  const purchase = await lockPurchase(t.db, seen.id);
  if (!purchase || purchase.buyerUserId !== seen.buyerUserId) return 'changed';
  const { amountKopeks, currency, chargeId = null } = state;
  const details = { purchaseId: seen.id, percent: seen.promoOfferPercent, chargeId };
  const found = { kind: 'offer_gone', payment, amountKopeks, currency, details } as const;
  if (!buyer || buyer.status === 'deleted') {
    await openCase(t, found);
    await markFailed(t.db, seen.id, ['pending', 'expired'], 'offer_gone', t.clock.now());
    return 'no_user';
  }
  await creditThroughCase(t, found, state, buyer.id);
  await endWithoutOffer(t, seen.id, { userId: buyer.id, amountKopeks });
  return 'credited';
}
