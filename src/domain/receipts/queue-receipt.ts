import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { paymentText } from '../payments/payment-texts.ts';
import { findPayment } from './find-payment.ts';
import { readQueueState } from './queue-state.ts';
import { changeReceipt, insertReceipt, lockLastReceipt, sumReversed } from './repo.ts';
import { receiptMark, receiptName } from './rules.ts';
import type { Receipt, ReceiptPayment } from './types.ts';

/**
 * Queues the receipt of a credited payment, and corrects it after money was returned (queue `receipts.queue`, spec 03 section 2.8). A payment
 * without a receipt is left alone. Any number of calls at once make one receipt.
 */
export async function queueReceipt(app: App, { paymentId }: { paymentId: number }): Promise<void> {
  await inTransaction(app, async (t) => {
    const payment = await findPayment(t, paymentId);
    if (!payment || !(await matchReceipt(t, payment))) return;
    // While the service is down, each further payment would make another failing call; the rounds of the queue try it.
    if ((await readQueueState(t)).failingSince !== null) return;
    await t.jobs.send('receipts.work', {}, { singletonKey: 'receipts.work' });
  });
}

/**
 * Makes the receipt of a payment say what is left of the payment: queues the first one, lowers or cancels one that was not sent yet, has one
 * that exists cancelled, and queues one for the rest. A receipt whose fate is not known yet waits. In the caller's transaction.
 * @returns whether there is something new for the queue
 */
export async function matchReceipt(t: App, payment: ReceiptPayment): Promise<boolean> {
  const now = t.clock.now();
  const receipt = await lockLastReceipt(t.db, payment.id);
  // Read under the lock: what is returned later sends a job of its own.
  const leftKopeks = payment.amountKopeks - (await sumReversed(t.db, payment.id));
  if (!receipt) return leftKopeks > 0 && t.ports.receipts.isConfigured() && addReceipt(t, payment, 1, leftKopeks);
  if (receipt.amountKopeks <= leftKopeks) return false;
  switch (receipt.state) {
    case 'queued':
    case 'failed':
      if (leftKopeks > 0)
        await changeReceipt(t.db, receipt, { state: 'queued', nextAttemptAt: now, amountKopeks: leftKopeks }, now);
      else await changeReceipt(t.db, receipt, { state: 'cancelled', nextAttemptAt: null, cancelledAt: now }, now);
      return leftKopeks > 0;
    case 'created':
      return changeReceipt(t.db, receipt, { state: 'cancel_requested', nextAttemptAt: now, cancelSentAt: null }, now);
    case 'cancelled':
      return leftKopeks > 0 && addReceipt(t, payment, receipt.sequence + 1, leftKopeks);
    default:
      return false;
  }
}

function addReceipt(t: App, payment: ReceiptPayment, sequence: Receipt['sequence'], amountKopeks: number): Promise<boolean> {
  const mark = receiptMark(payment.orderId, sequence);
  // The receipt is for the tax office, whatever the payer's language is.
  const description = paymentText(t, 'PAYMENT_BALANCE_DESCRIPTION', 'ru');
  return insertReceipt(t.db, {
    ...{ paymentId: payment.id, sequence, mark, amountKopeks, operationAt: payment.operationAt },
    name: receiptName(description, payment.purpose === 'guest_purchase' ? null : payment.messengerId, mark),
    now: t.clock.now(),
  });
}
