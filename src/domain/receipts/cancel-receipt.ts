import type { App } from '../../core/app.ts';
import { addMs } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { recordReceipt } from '../ledger/record-receipt.ts';
import { recordPurchaseReceipt } from '../storefront/purchases/record-receipt.ts';
import { findPayment } from './find-payment.ts';
import { alertReceipt } from './notify-admins.ts';
import { ReceiptError, type ReceiptService } from './ports.ts';
import { matchReceipt } from './queue-receipt.ts';
import { changeReceipt } from './repo.ts';
import { LOOK_UP_MS, REFUSED_MS } from './rules.ts';
import type { Receipt } from './types.ts';

/**
 * Cancels a receipt whose money was returned, once (03a section 15). After a try without an answer the service is asked first whether the
 * receipt is cancelled. @throws ReceiptError after it has stored what became of the receipt
 */
export async function cancelReceipt(app: App, service: ReceiptService, receipt: Receipt): Promise<void> {
  const uuid = receipt.uuid!;
  if (receipt.cancelSentAt === null || !(await isCancelledThere(app, service, receipt))) {
    const sentAt = app.clock.now();
    const change = { state: 'cancel_requested', nextAttemptAt: addMs(sentAt, LOOK_UP_MS), cancelSentAt: sentAt } as const;
    if (!(await changeReceipt(app.db, receipt, change, sentAt))) return;
    try {
      await service.cancel(uuid);
    } catch (error) {
      if (!(error instanceof ReceiptError)) throw error;
      if (error.failure !== 'rejected' || !(await isCancelledThere(app, service, receipt))) {
        await recordFailedCancel(app, receipt, error);
        throw error;
      }
    }
  }
  await storeCancelled(app, receipt);
}

async function isCancelledThere(app: App, service: ReceiptService, receipt: Receipt): Promise<boolean> {
  try {
    const listed = await service.listAround(receipt.operationAt);
    return listed.some(({ uuid, isCancelled }) => uuid === receipt.uuid && isCancelled);
  } catch (error) {
    const now = app.clock.now();
    await changeReceipt(app.db, receipt, { state: 'cancel_requested', nextAttemptAt: addMs(now, LOOK_UP_MS) }, now);
    throw error;
  }
}

async function recordFailedCancel(app: App, receipt: Receipt, { failure, message: lastError }: ReceiptError): Promise<void> {
  const now = app.clock.now();
  const state = 'cancel_requested';
  if (failure === 'unclear') {
    await changeReceipt(app.db, receipt, { state, nextAttemptAt: addMs(now, LOOK_UP_MS), lastError }, now);
  } else if (failure !== 'rejected') {
    await changeReceipt(app.db, receipt, { state, nextAttemptAt: now, cancelSentAt: null, lastError }, now);
  } else {
    await inTransaction(app, async (t) => {
      const change = { state, nextAttemptAt: addMs(now, REFUSED_MS), cancelSentAt: null, lastError } as const;
      if (await changeReceipt(t.db, receipt, change, now)) await alertReceipt(t, receipt, 'rejected', lastError);
    });
  }
}

/** A cancelled receipt is none; the rest of a payment that was returned in part gets a new one in the same transaction. */
async function storeCancelled(app: App, receipt: Receipt): Promise<void> {
  const now = app.clock.now();
  await inTransaction(app, async (t) => {
    const change = { state: 'cancelled', nextAttemptAt: null, cancelledAt: now, lastError: null } as const;
    if (!(await changeReceipt(t.db, receipt, change, now))) return;
    const payment = await findPayment(t, receipt.paymentId);
    if (!payment) return;
    await recordReceipt(t, payment.transactionId, null);
    await recordPurchaseReceipt(t, payment.id, null);
    await matchReceipt(t, payment);
  });
}
