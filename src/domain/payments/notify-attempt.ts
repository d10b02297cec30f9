import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice } from '../../core/money.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey, text } from '../messaging/texts.ts';
import { claimAttempt } from './attempt-repo.ts';
import { methodName } from './method-settings.ts';
import type { FailedAttempt } from './ports.ts';
import type { Payment } from './types.ts';

/**
 * Tells the payer in the messenger why an attempt to pay failed, once for each attempt (spec 03 section 2.5, CloudPayments). The invoice stays
 * payable. Mark and message are one transaction.
 */
export async function notifyAttempt(app: App, payment: Payment, attempt: FailedAttempt): Promise<void> {
  if (payment.userId === null) return;
  await inTransaction(app, async (t) => {
    const payer = await claimAttempt(t.db, payment.id, attempt.id);
    if (payer === null || payer.status !== 'active' || payer.messengerId === null) return;
    const html = htmlText(payer.language, 'messages.payment_attempt_failed', {
      amount: formatPrice(payment.amountKopeks, false),
      method: methodName(t, payment.method),
      reason: text(payer.language, `payments.attempt_${attempt.reason}` as TextKey),
    });
    await sendMessage(t, { messengerId: payer.messengerId, html });
  });
}
