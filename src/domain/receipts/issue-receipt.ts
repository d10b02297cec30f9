import type { App } from '../../core/app.ts';
import { addMs } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { recordReceipt } from '../ledger/record-receipt.ts';
import { recordPurchaseReceipt } from '../storefront/purchases/record-receipt.ts';
import { findPayment } from './find-payment.ts';
import { alertReceipt } from './notify-admins.ts';
import { type ListedReceipt, ReceiptError, type ReceiptService } from './ports.ts';
import { matchReceipt } from './queue-receipt.ts';
import { changeReceipt, lockReceipt } from './repo.ts';
import { DUPLICATE_MS, LOOK_UP_MS, matchesOf, REFUSED_MS, UNCLEAR_MS } from './rules.ts';
import type { Receipt } from './types.ts';

/**
 * Sends a receipt that the caller has claimed (`sending`). One that is late is looked for first: after a restore from a backup the service may
 * have it although nothing here says so. @throws ReceiptError after it has stored what became of the receipt
 */
export async function issueReceipt(app: App, service: ReceiptService, receipt: Receipt): Promise<void> {
  let uuid: string;
  try {
    const isLate = addMs(receipt.operationAt, UNCLEAR_MS) <= app.clock.now();
    if (isLate && (await storeFound(app, receipt, await service.listAround(receipt.operationAt)))) return;
    uuid = await service.issue(receipt);
  } catch (error) {
    if (error instanceof ReceiptError) await recordFailedSend(app, receipt, error);
    throw error;
  }
  await storeCreated(app, receipt, uuid);
}

/** Anything but a certain refusal leaves a receipt that may exist, so it is looked up before it is sent again. */
async function recordFailedSend(app: App, receipt: Receipt, { failure, message: lastError }: ReceiptError): Promise<void> {
  const now = app.clock.now();
  if (failure === 'unclear') {
    const nextAttemptAt = addMs(now, LOOK_UP_MS);
    await changeReceipt(app.db, receipt, { state: 'unclear', nextAttemptAt, sentAt: now, lastError }, now);
  } else if (failure !== 'rejected') {
    await changeReceipt(app.db, receipt, { state: 'queued', nextAttemptAt: now, sentAt: null, lastError }, now);
  } else {
    await inTransaction(app, async (t) => {
      const change = { state: 'failed', nextAttemptAt: addMs(now, REFUSED_MS), sentAt: null, lastError } as const;
      if (await changeReceipt(t.db, receipt, change, now)) await alertReceipt(t, receipt, 'rejected', lastError);
    });
  }
}

/**
 * Looks for a receipt whose answer was lost (03a section 15), and sends it again when the service has had none for 10 minutes.
 * @throws ReceiptError when it could not be looked up; it is looked up again then
 */
export async function lookUpReceipt(app: App, service: ReceiptService, receipt: Receipt): Promise<void> {
  const now = app.clock.now();
  const again = addMs(now, LOOK_UP_MS);
  let listed: readonly ListedReceipt[];
  try {
    listed = await service.listAround(receipt.operationAt);
  } catch (error) {
    const state = receipt.state === 'duplicate' ? 'duplicate' : 'unclear';
    await changeReceipt(app.db, receipt, { state, nextAttemptAt: again }, now);
    throw error;
  }
  if (await storeFound(app, receipt, listed)) return;
  const isOver = receipt.sentAt === null || addMs(receipt.sentAt, UNCLEAR_MS) <= now;
  const change = isOver
    ? ({ state: 'queued', nextAttemptAt: now, sentAt: null } as const)
    : ({ state: 'unclear', nextAttemptAt: again } as const);
  await inTransaction(app, async (t) => {
    if ((await changeReceipt(t.db, receipt, change, now)) && isOver) await matchStored(t, receipt);
  });
}

/** Stores what the service has of a receipt: its id; two are left to a person. @returns false when it has none */
async function storeFound(app: App, receipt: Receipt, listed: readonly ListedReceipt[]): Promise<boolean> {
  const { valid, cancelled } = matchesOf(receipt.mark, listed);
  const [first, last] = [valid[0], cancelled.at(-1)];
  if (valid.length > 1) await storeDuplicate(app, receipt, valid.length);
  else if (first) await storeCreated(app, receipt, first.uuid);
  else if (last) await storeCancelledThere(app, receipt, last.uuid);
  return first !== undefined || last !== undefined;
}

async function storeDuplicate(app: App, receipt: Receipt, total: number): Promise<void> {
  const now = app.clock.now();
  await inTransaction(app, async (t) => {
    const change = { state: 'duplicate', nextAttemptAt: addMs(now, DUPLICATE_MS) } as const;
    const isNew = (await changeReceipt(t.db, receipt, change, now)) && receipt.state !== 'duplicate';
    if (isNew) await alertReceipt(t, receipt, 'duplicate', `${total} × #${receipt.mark}`);
  });
}

/** Somebody cancelled it at the service: it stays so. */
async function storeCancelledThere(app: App, receipt: Receipt, uuid: string): Promise<void> {
  const now = app.clock.now();
  const lastError = 'cancelled at the service';
  app.log.warn(
    { receiptId: receipt.id, paymentId: receipt.paymentId },
    'a receipt was cancelled at the service by somebody else',
  );
  await changeReceipt(app.db, receipt, { state: 'cancelled', nextAttemptAt: null, uuid, cancelledAt: now, lastError }, now);
}

/** Stores the id with the receipt, its movement and its purchase; money that was returned meanwhile is considered at once. */
async function storeCreated(app: App, receipt: Receipt, uuid: string): Promise<void> {
  const now = app.clock.now();
  await inTransaction(app, async (t) => {
    const change = { state: 'created', nextAttemptAt: null, uuid, issuedAt: now, lastError: null } as const;
    if (!(await changeReceipt(t.db, receipt, change, now))) return raiseLate(t, receipt, uuid);
    const payment = await findPayment(t, receipt.paymentId);
    if (!payment) return;
    await recordReceipt(t, payment.transactionId, { uuid, issuedAt: now });
    await recordPurchaseReceipt(t, payment.id, uuid);
    await matchReceipt(t, payment);
  });
}

/** The answer came after another worker had taken the receipt over: if that one made a second receipt, a person has to cancel one. */
async function raiseLate(t: App, receipt: Receipt, uuid: string): Promise<void> {
  const current = await lockReceipt(t.db, receipt.id);
  if (current && current.uuid !== uuid) await alertReceipt(t, current, 'duplicate', `${current.uuid ?? '—'}, ${uuid}`);
}

async function matchStored(t: App, { paymentId }: Receipt): Promise<void> {
  const payment = await findPayment(t, paymentId);
  if (payment) await matchReceipt(t, payment);
}
