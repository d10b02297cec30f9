import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice } from '../../core/money.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { methodName } from './method-settings.ts';
import { claimReversal } from './reversal-repo.ts';

/**
 * What follows a reversal and must not delay it (queue `payments.after-reversal`): the message to the payer, and the correction of the tax
 * receipt. Both are queued once.
 */
export async function runAfterReversal(app: App, { reversalId }: { reversalId: number }): Promise<void> {
  await inTransaction(app, async (t) => {
    const claimed = await claimReversal(t.db, reversalId, t.clock.now());
    if (!claimed) return;
    await t.jobs.send('receipts.queue', { paymentId: claimed.paymentId });
    const reversal = claimed.message;
    if (reversal?.userStatus !== 'active' || reversal.messengerId === null || reversal.debitedKopeks === 0) return;
    const html = htmlText(reversal.language, 'messages.payment_reversed', {
      amount: formatPrice(reversal.debitedKopeks, false),
      balance: formatPrice(reversal.balanceKopeks, false),
      method: methodName(t, reversal.method),
    });
    await sendMessage(t, { messengerId: reversal.messengerId, html });
  });
}
