import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { App } from '../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import type { Random } from '../../core/random.ts';
import { claimStateLease, initState, readState, releaseStateLease, writeState } from '../../core/service-state.ts';
import { recordReceipt } from '../ledger/post-movement.ts';
import { recordPurchaseReceipt } from '../storefront/purchases/fulfil-purchase.ts';
import { alertReceipt } from './notify-admins.ts';
import { type ListedReceipt, ReceiptError, type ReceiptService, type ReceiptSession } from './ports.ts';
import { findPayment, matchReceipt, readQueueState, recordFailure, recordSuccess } from './receipt-queue.ts';
import { type ClaimedReceipt, changeReceipt, claimDueReceipt, hasDue, lockReceipt } from './repo.ts';
import { DUPLICATE_MS, LOOK_UP_MS, matchesOf, REFUSED_MS, UNCLEAR_MS } from './rules.ts';
import type { Receipt } from './types.ts';

const LEASE_KEY = 'receipts:worker';
/** Longer than one step takes, which makes up to six calls of 30 seconds. */
const LEASE_MS = 5 * MINUTE_MS;
/** Receipts in one run; the rest gets a run of its own. */
const BATCH = 40;

export interface RunOptions {
  signal: AbortSignal;
  /** Waits between two receipts; tests pass one that only records. */
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Works through the receipts that are due, one after the other and with the pause of `NALOGO_QUEUE_RECEIPT_DELAY` (queue `receipts.work`,
 * spec 03 section 2.8). It stops at the first failure; nothing is dropped, the next round goes on. One instance works at a time; should
 * two, because one was halted, each receipt is still claimed by one.
 */
export async function workReceipts(app: App, { signal, wait = pause }: RunOptions): Promise<void> {
  if (!app.ports.receipts.isConfigured() || !(await hasDue(app.db, app.clock.now()))) return;
  const { pausedUntil, lastStepAt } = await readQueueState(app);
  if (pausedUntil !== null && pausedUntil > app.clock.now()) return;
  const instance = randomUUID();
  if (!(await claimStateLease(app.db, LEASE_KEY, { instance }, LEASE_MS))) return;
  try {
    const service = app.ports.receipts.open(await openReceiptSession(app));
    let [last, steps] = [lastStepAt, 0];
    for (; steps < BATCH && !signal.aborted; steps++) {
      await waitForTurn(app, last, signal, wait);
      await claimStateLease(app.db, LEASE_KEY, { instance }, LEASE_MS);
      const now = app.clock.now();
      const claimed = await claimDueReceipt(app.db, now, addMs(now, UNCLEAR_MS));
      if (!claimed) break;
      if (!(await runStep(app, service, claimed))) return;
      last = app.clock.now();
    }
    if (steps === 0) return;
    await recordSuccess(app);
    if (steps === BATCH) await app.jobs.send('receipts.work', {}, { singletonKey: 'receipts.work' });
  } finally {
    await releaseStateLease(app.db, LEASE_KEY, instance);
  }
}

/** @returns false when the run has to stop */
async function runStep(app: App, service: ReceiptService, receipt: ClaimedReceipt): Promise<boolean> {
  try {
    if (receipt.state === 'cancel_requested') await cancelReceipt(app, service, receipt);
    else if (receipt.stateBefore === 'queued' || receipt.stateBefore === 'failed') await issueReceipt(app, service, receipt);
    else await lookUpReceipt(app, service, receipt);
    return true;
  } catch (error) {
    if (!(error instanceof ReceiptError)) throw error;
    // A receipt that the service refuses has notified the administrators itself, and waits for a day; the queue works.
    if (error.failure !== 'rejected') await recordFailure(app, error);
    return false;
  }
}

async function waitForTurn(
  app: App,
  last: Date | null,
  signal: AbortSignal,
  wait: NonNullable<RunOptions['wait']>,
): Promise<void> {
  if (last === null) return;
  const spacing = app.settings.get('NALOGO_QUEUE_RECEIPT_DELAY') * SECOND_MS;
  const left = addMs(last, spacing).getTime() - app.clock.now().getTime();
  if (left > 0) await wait(Math.min(left, spacing), signal);
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

/**
 * Sends a receipt that the caller has claimed (`sending`). One that is late is looked for first: after a restore from a backup the service may
 * have it although nothing here says so. @throws ReceiptError after it has stored what became of the receipt
 */
async function issueReceipt(app: App, service: ReceiptService, receipt: Receipt): Promise<void> {
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
async function lookUpReceipt(app: App, service: ReceiptService, receipt: Receipt): Promise<void> {
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

/**
 * Cancels a receipt whose money was returned, once (03a section 15). After a try without an answer the service is asked first whether the
 * receipt is cancelled. @throws ReceiptError after it has stored what became of the receipt
 */
async function cancelReceipt(app: App, service: ReceiptService, receipt: Receipt): Promise<void> {
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

const DEVICE_KEY = 'receipts:device';
const SESSION_KEY = 'receipts:session';
const DEVICE_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const DEVICE_LENGTH = 21;

/** The sign-in that all instances share (03a section 15). */
async function openReceiptSession(app: App): Promise<ReceiptSession> {
  const deviceId = app.ports.receipts.configuredDeviceId() ?? (await initState(app.db, DEVICE_KEY, newDeviceId(app.random)));
  return {
    deviceId,
    load: async () => (await readState<{ tokens: string }>(app.db, SESSION_KEY))?.tokens ?? null,
    save: (tokens) => writeState(app.db, SESSION_KEY, { tokens }),
  };
}

function newDeviceId(random: Random): string {
  return Array.from({ length: DEVICE_LENGTH }, () => DEVICE_CHARACTERS[random.int(0, DEVICE_CHARACTERS.length)]).join('');
}
