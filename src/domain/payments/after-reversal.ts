import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice } from '../../core/money.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { methodName } from './method-settings.ts';
import { claimReversalMessage } from './reversal-repo.ts';

/** What follows a reversal and must not delay it (queue `payments.after-reversal`): the message to the payer, once. */
export async function runAfterReversal(app: App, { reversalId }: { reversalId: number }): Promise<void> {
  await inTransaction(app, async (t) => {
    const reversal = await claimReversalMessage(t.db, reversalId, t.clock.now());
    if (reversal?.userStatus !== 'active' || reversal.messengerId === null || reversal.debitedKopeks === 0) return;
    const html = htmlText(reversal.language, 'messages.payment_reversed', {
      amount: formatPrice(reversal.debitedKopeks, false),
      balance: formatPrice(reversal.balanceKopeks, false),
      method: methodName(t, reversal.method),
    });
    await sendMessage(t, { messengerId: reversal.messengerId, html });
  });
}
