import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice } from '../../core/money.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, text } from '../messaging/texts.ts';
import { type TakenBack, takeBackTerm } from '../subscriptions/take-back-term.ts';
import { methodName } from './method-settings.ts';
import { claimReversal, type FollowedReversal } from './reversal-repo.ts';

/**
 * What follows a reversal (queue `payments.after-reversal`), once, in one transaction: money that the balance did not cover was spent, so that
 * the subscription it paid for is kept, shortened or ended (`REFUND_SUBSCRIPTION_RULE`); the payer is told.
 */
export async function runAfterReversal(app: App, { reversalId }: { reversalId: number }): Promise<void> {
  await inTransaction(app, async (t) => {
    const reversal = await claimReversal(t.db, reversalId, t.clock.now());
    if (!reversal) return;
    const spentKopeks = reversal.amountKopeks - reversal.debitedKopeks;
    const rule = t.env.refundSubscriptionRule;
    const taken = spentKopeks > 0 && rule !== 'keep' ? await takeBackTerm(t, reversal.userId, spentKopeks, rule) : null;
    if (taken) t.log.warn({ reversalId, userId: reversal.userId, ...taken }, 'a subscription was taken back with its money');
    await notifyPayer(t, reversal, taken);
  });
}

async function notifyPayer(t: App, reversal: FollowedReversal, taken: TakenBack | null): Promise<void> {
  const { userStatus, messengerId, language, debitedKopeks, balanceKopeks } = reversal;
  if (userStatus !== 'active' || messengerId === null || (debitedKopeks === 0 && !taken)) return;
  const html = htmlText(language, 'messages.payment_reversed', {
    amount: formatPrice(debitedKopeks, false),
    balance: formatPrice(balanceKopeks, false),
    method: methodName(t, reversal.method),
  });
  const term = taken && text(language, taken.isOver ? 'messages.term_ended' : 'messages.term_shortened', { days: taken.days });
  await sendMessage(t, { messengerId, html: term ? `${html}\n${term}` : html });
}
