import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice } from '../../core/money.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, text } from '../messaging/texts.ts';
import { type TakenBack, takeBackTerm } from '../subscriptions/take-back-term.ts';
import { methodName } from './method-settings.ts';
import type { PaymentPurpose } from './purpose-payment.ts';
import { claimReversal, type FollowedReversal, type ReversedPayer } from './reversal-repo.ts';

/**
 * What follows a reversal (queue `payments.after-reversal`), once, in one transaction: money that the balance did not cover was spent, so that
 * the subscription it paid for is kept, shortened or ended (`REFUND_SUBSCRIPTION_RULE`); what was bought and not given yet is not given any
 * more; what the payment has earned a referrer is taken back; the payer is told; the tax receipt is corrected.
 * @param purposes what invoices pay besides the balance
 */
export async function runAfterReversal(
  app: App,
  { reversalId }: { reversalId: number },
  purposes: readonly PaymentPurpose[] = [],
): Promise<void> {
  await inTransaction(app, async (t) => {
    const reversal = await claimReversal(t.db, reversalId, t.clock.now());
    if (!reversal) return;
    await t.jobs.send('receipts.queue', { paymentId: reversal.paymentId });
    if (reversal.isCredited) await t.jobs.send('referrals.take-back', { paymentId: reversal.paymentId });
    const { payer } = reversal;
    const purpose = purposes.find((known) => known.purpose === reversal.purpose);
    const ownerId = purpose ? await purpose.reverse(t, reversal.paymentId, reversal.isWhole) : (payer?.userId ?? null);
    const taken = ownerId === null ? null : await takeBack(t, reversal, ownerId);
    if (taken) t.log.warn({ reversalId, userId: ownerId, ...taken }, 'a subscription was taken back with its money');
    if (payer) await notifyPayer(t, reversal, payer, payer.userId === ownerId ? taken : null);
  });
}

/** Takes back what the spent part of the money had bought, as the rule says. */
async function takeBack(t: App, reversal: FollowedReversal, ownerId: number): Promise<TakenBack | null> {
  const spentKopeks = reversal.isCredited ? reversal.amountKopeks - reversal.debitedKopeks : 0;
  const rule = t.env.refundSubscriptionRule;
  return spentKopeks > 0 && rule !== 'keep' ? takeBackTerm(t, ownerId, spentKopeks, rule) : null;
}

async function notifyPayer(
  t: App,
  { method, debitedKopeks }: FollowedReversal,
  { userStatus, messengerId, language, balanceKopeks }: ReversedPayer,
  taken: TakenBack | null,
): Promise<void> {
  if (userStatus !== 'active' || messengerId === null || (debitedKopeks === 0 && !taken)) return;
  const html = htmlText(language, 'messages.payment_reversed', {
    amount: formatPrice(debitedKopeks, false),
    balance: formatPrice(balanceKopeks, false),
    method: methodName(t, method),
  });
  const term = taken && text(language, taken.isOver ? 'messages.term_ended' : 'messages.term_shortened', { days: taken.days });
  await sendMessage(t, { messengerId, html: term ? `${html}\n${term}` : html });
}
